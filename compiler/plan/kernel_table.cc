#include "tenon/compiler/plan/kernel_table.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "tenon/ir/structural.h"
#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/support/on_threads.h"

namespace tenon::compiler {
namespace {

bool SameAreConstant(const std::vector<NDArray>& a, const std::vector<NDArray>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const NDArray& x, const NDArray& y) { return x.defined() == y.defined(); });
}

}  // namespace

bool SameArrays(const std::vector<NDArray>& a, const std::vector<NDArray>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const NDArray& x, const NDArray& y) { return x.raw() == y.raw(); });
}

strategies::Choice KernelTable::Choose(const Request& request) const {
  return strategies::Choose({.function = request.function.As<ir::FunctionNode>(),
                             .name = request.name,
                             .constants = request.constants},
                            options_);
}

void KernelTable::MakeAhead(const std::vector<Request>& requests) {
  std::vector<Made*> all;
  for (const Request& request : requests) {
    std::vector<Made>& equal = made_[request.hash];
    const auto is_equal = [&](const Made& made) {
      return SameAreConstant(made.request.constants, request.constants) &&
             ir::StructuralEqual(made.request.function, request.function);
    };
    if (std::none_of(equal.begin(), equal.end(), is_equal)) {
      equal.push_back({request, std::nullopt});
      equal.back().request.name = names_.Unique(request.name, "_");
    }
  }
  for (auto& [hash, equal] : made_) {
    for (Made& made : equal) all.push_back(&made);
  }
  std::atomic<std::size_t> next{0};
  // oneDNN's kernels depend on the number of threads that the thread which makes them may start.
  const int threads = jit::ParallelThreads();
  OnThreads(all.size(), [&] {
    std::optional<jit::ScopedThreads> same;  // the calling thread has it
    if (jit::ParallelThreads() != threads) same.emplace(threads);
    for (std::size_t i = next++; i < all.size(); i = next++) {
      try {
        all[i]->choice = Choose(all[i]->request);
      } catch (...) {
        // For meets the same error, in the order of the calls.
      }
    }
  });
}

std::optional<KernelTable::Made> KernelTable::TakeMade(const Request& request) {
  const auto equal = made_.find(request.hash);
  if (equal == made_.end()) return std::nullopt;
  for (auto made = equal->second.begin(); made != equal->second.end(); ++made) {
    if (!SameArrays(made->request.constants, request.constants) ||
        !ir::StructuralEqual(made->request.function, request.function))
      continue;
    std::optional<Made> taken = std::move(*made);
    equal->second.erase(made);
    return taken;
  }
  return std::nullopt;
}

int KernelTable::For(const ir::Expr& function, const std::string& name,
                     const std::vector<NDArray>& constants, std::uint64_t hash) {
  for (const Known& known : known_[hash]) {
    if (!ir::StructuralEqual(function, known.function)) continue;
    const auto& built = kernels_[static_cast<std::size_t>(known.kernel)].choice.built;
    // Constants may be part of a finished kernel even where it takes them as arguments, too.
    const bool may_hold_constants = !std::holds_alternative<loop::Function>(built.kernel);
    if (may_hold_constants ? SameArrays(constants, known.constants)
                           : SameAreConstant(constants, known.constants))
      return known.kernel;
  }
  Request request{function, name, constants, hash};
  std::optional<Made> made = TakeMade(request);
  if (!made) {
    request.name = names_.Unique(name, "_");
    made = Made{std::move(request), std::nullopt};
  }
  if (!made->choice) made->choice = Choose(made->request);
  const int kernel = static_cast<int>(kernels_.size());
  kernels_.push_back({made->request.name, function, *std::move(made->choice)});
  known_[hash].push_back({function, constants, kernel});
  return kernel;
}

}  // namespace tenon::compiler
