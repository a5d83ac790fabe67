// What a process pays before it computes: start_benchmark WHAT [FOLDER], one process for each
// number. Prints one line of JSON; the time of a whole process is measured by its parent
// (start.mjs).
//   first FOLDER   compiles and runs the least program, with kernels kept in FOLDER
//   run FOLDER N   times the first run of a kernel of N threads in this process, and later ones
//   empty          compiles a module of no operator
//   resnet50       compiles ResNet-50
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "tenon/models/registry.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tenon.h"

namespace tenon::benchmarks {
namespace {

// A line of /proc/self/status, in bytes: "VmRSS", "VmHWM" (the peak).
std::int64_t MemoryOf(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(what + ":", 0) == 0) return std::stoll(line.substr(what.size() + 1)) << 10;
  }
  throw FailedPrecondition("/proc/self/status has no " + what);
}

ir::Module One(const char* text) {
  return ValueOrThrow(ir::ParseModule(text, ops::OpRegistry::Global().Resolver()));
}

void First(const std::string& folder) {
  const ir::Module module = One("def @main(%x: Tensor[(3), float32]) { exp(multiply(%x, 0f)) }");
  const Executable exe = ValueOrThrow(Compile(module, {.cache_dir = folder}));
  const Tensor x = Tensor::FromVector<float>({3}, {1, 2, 3});
  const float y = ValueOrThrow(exe.Run({{"x", x}}))[0].data<float>()[0];
  std::printf("{\"result\": %g}\n", y);
}

// A first run of several threads waits for them to start.
void FirstRun(const std::string& folder, int threads) {
  using Clock = std::chrono::steady_clock;
  const ir::Module module =
      One("def @main(%x: Tensor[(1024, 1024), float32]) { sqrt(multiply(%x, 2f)) }");
  const Executable exe = ValueOrThrow(Compile(module, {.threads = threads, .cache_dir = folder}));
  const Tensor x = Tensor::Zeros({1024, 1024}, Float32);
  std::vector<double> milliseconds;
  for (int run = 0; run < 22; ++run) {
    const auto start = Clock::now();
    (void)ValueOrThrow(exe.Run({{"x", x}}));
    milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  const double first = milliseconds.front();
  const auto middle = milliseconds.begin() + 11;  // of the later ones
  std::nth_element(milliseconds.begin() + 1, middle, milliseconds.end());
  std::printf("{\"first\": %g, \"later\": %g}\n", first, *middle);
}

void Empty() {
  const std::int64_t before = MemoryOf("VmRSS");
  const Executable exe = ValueOrThrow(Compile(One("def @main(%x: Tensor[(3), float32]) { %x }")));
  std::printf("{\"before\": %lld, \"after\": %lld}\n", static_cast<long long>(before),
              static_cast<long long>(MemoryOf("VmRSS")));
}

void ResNet50() {
  ir::Module module = models::Build("resnet50");
  std::int64_t weights = 0;
  ir::VisitPostOrder(module.Get("main"), [&](const ir::Expr& e) {
    if (const auto* constant = e.As<ir::ConstantNode>())
      weights += static_cast<std::int64_t>(constant->data.bytes());
  });
  const Executable exe = ValueOrThrow(Compile(std::move(module)));
  std::printf("{\"weights\": %lld, \"peak\": %lld}\n", static_cast<long long>(weights),
              static_cast<long long>(MemoryOf("VmHWM")));
}

void Run(const std::string& what, const std::string& folder, const std::string& threads) {
  if (what == "first") return First(folder);
  if (what == "run") {
    const auto number = ParseNumber<int>(threads);
    if (!number || *number < 1) throw InvalidArgument("start_benchmark run FOLDER N: no number N");
    return FirstRun(folder, *number);
  }
  if (what == "empty") return Empty();
  if (what == "resnet50") return ResNet50();
  throw InvalidArgument(
      StrCat("start_benchmark: first FOLDER, run FOLDER N, empty or resnet50, not ", what));
}

}  // namespace
}  // namespace tenon::benchmarks

int main(int argc, char** argv) {
  const absl::Status status = tenon::CatchErrors([&] {
    const auto argument = [&](int i) { return argc > i ? argv[i] : ""; };
    tenon::benchmarks::Run(argument(1), argument(2), argument(3));
  });
  if (!status.ok()) std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
