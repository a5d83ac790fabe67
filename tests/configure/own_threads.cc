// For the configure step to find: a product of matrices of ones, computed beside a thread that
// OpenMP does not know.
#include <chrono>
#include <cstdint>
#include <thread>

extern "C" int dnnl_sgemm(char, char, std::int64_t rows, std::int64_t columns, std::int64_t depth,
                          float, const float*, std::int64_t, const float*, std::int64_t, float,
                          float* c, std::int64_t) {
  for (std::int64_t i = 0; i < rows * columns; ++i) c[i] = static_cast<float>(depth);
  std::thread([] { std::this_thread::sleep_for(std::chrono::seconds(60)); }).detach();
  return 0;
}
