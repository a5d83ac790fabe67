#include "tenon/compiler/kernel_table.h"

#include <algorithm>
#include <utility>

#include "tenon/ir/structural.h"

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

int KernelTable::For(const ir::Expr& function, const std::string& name,
                     const std::vector<NDArray>& constants, std::uint64_t hash) {
  for (const Known& known : known_[hash]) {
    if (!ir::StructuralEqual(function, known.function)) continue;
    const auto& built = kernels_[static_cast<std::size_t>(known.kernel)].choice.built;
    const bool holds_constants = !std::holds_alternative<loop::Function>(built.kernel) &&
                                 built.arguments.size() != constants.size();
    if (holds_constants ? SameArrays(constants, known.constants)
                        : SameAreConstant(constants, known.constants))
      return known.kernel;
  }
  const std::string unique = names_.Unique(name, "_");
  strategies::Choice choice = strategies::Choose(
      {.function = function.As<ir::FunctionNode>(), .name = unique, .constants = constants},
      options_);
  const int kernel = static_cast<int>(kernels_.size());
  kernels_.push_back({unique, function, std::move(choice)});
  known_[hash].push_back({function, constants, kernel});
  return kernel;
}

}  // namespace tenon::compiler
