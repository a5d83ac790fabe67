#include "tenon/verify/symbolic_module.h"

#include <map>
#include <utility>
#include <vector>

#include "tenon/ir/visit.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {
namespace {

using ir::Expr;

class Symbols {
 public:
  explicit Symbols(std::uint64_t seed) : random_(seed) {}

  std::optional<ir::Type> Of(const ir::Type& type) {
    const auto* tensor = type.As<ir::TensorTypeNode>();
    if (tensor == nullptr) return std::nullopt;
    std::vector<Dim> shape;
    for (const Dim& dim : tensor->shape) shape.push_back(Of(dim));
    return ir::TensorType(std::move(shape), tensor->dtype);
  }
  bool any() const { return any_; }

 private:
  Dim Of(const Dim& dim) {
    if (!dim.is_static() || dim.value() < 2) return dim;
    const auto [known, is_new] = chosen_.try_emplace(dim.value(), dim);
    if (is_new && random_.Chance(50)) {
      known->second = Dim::Symbol(StrCat("n", dim.value()));
      any_ = true;
    }
    return known->second;
  }

  Random random_;
  std::map<std::int64_t, Dim> chosen_;
  bool any_ = false;
};

}  // namespace

std::optional<ir::Module> WithSymbols(const ir::Module& module, std::uint64_t seed) {
  const ir::FunctionNode& main = module.Main();
  Symbols symbols(seed);
  std::vector<Expr> params;
  ir::ExprMap renamed;
  for (const Expr& param : main.params) {
    const std::optional<ir::Type> type = symbols.Of(param.checked_type());
    if (!type) return std::nullopt;
    params.push_back(ir::Var::Make(ir::Var(param).name(), *type, param.span()));
    renamed.emplace(param, params.back());
  }
  if (!symbols.any()) return std::nullopt;
  try {
    return passes::InferType(module.With(
        "main", ir::Function::Make(std::move(params), ir::Substitute(main.body, renamed),
                                   ir::Type(), main.attrs)));
  } catch (const Error& error) {
    if (error.code() == absl::StatusCode::kInternal) throw;
    return std::nullopt;
  }
}

}  // namespace tenon::verify
