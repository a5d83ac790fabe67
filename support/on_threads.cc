#include "tenon/support/on_threads.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

namespace tenon {

void OnThreads(std::size_t most, const std::function<void()>& work) {
  const std::size_t count =
      std::min<std::size_t>(most, std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> others;
  others.reserve(count);
  try {
    for (std::size_t i = 1; i < count; ++i) others.emplace_back(work);
  } catch (const std::system_error&) {
    // The system gives no more threads. Those there are share the work.
  }
  if (count > 0) work();
  for (std::thread& other : others) other.join();
}

}  // namespace tenon
