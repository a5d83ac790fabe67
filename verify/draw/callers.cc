#include "tenon/verify/draw/callers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/support/error.h"

namespace tenon::verify {

using Arrays = std::vector<NDArray>;

namespace {

constexpr unsigned kMinCallers = 3;

std::size_t MoreThanCores() {
  return std::max(kMinCallers, std::thread::hardware_concurrency() + 1);
}

}  // namespace

Callers::Callers(const Executable& executable, const runtime::Inputs& inputs, int threads)
    : executable_(executable), inputs_(inputs), threads_(threads), results_(MoreThanCores()) {}

std::vector<Arrays> Callers::OnThreads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < callers(); ++i) threads.emplace_back([this, i] { Run(i); });
  for (std::thread& thread : threads) thread.join();
  return Take();
}

std::vector<Arrays> Callers::InATeamOfOne() {
  const jit::ScopedTeamsOfOne teams;
  Run(0);
  return {ValueOrThrow(results_[0])};
}

std::vector<Arrays> Callers::InARegion() {
  const auto body = [](void* callers, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      static_cast<Callers*>(callers)->Run(static_cast<int>(i));
  };
  const jit::ScopedThreads two(2);
  jit::ParallelFor(body, this, callers());
  return Take();
}

void Callers::Run(int caller) {
  runtime::Session session(executable_, {.threads = threads_});
  results_[static_cast<std::size_t>(caller)] = session.Run(inputs_);
}

std::vector<Arrays> Callers::Take() const {
  std::vector<Arrays> taken;
  for (const absl::StatusOr<Arrays>& results : results_) taken.push_back(ValueOrThrow(results));
  return taken;
}

}  // namespace tenon::verify
