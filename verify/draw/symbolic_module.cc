#include "tenon/verify/draw/symbolic_module.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>

#include "tenon/ir/visit.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::verify {
namespace {

using ir::Expr;

// So that the other variables of a seed stay what they were.
constexpr std::uint64_t kApart = 0xA9A27;

// The module with other types of its inputs.
ir::Module WithTypes(const ir::Module& module, const std::vector<ir::Type>& types) {
  const ir::FunctionNode& main = module.Main();
  std::vector<Expr> params;
  ir::ExprMap renamed;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Expr& param = main.params[i];
    params.push_back(ir::Var::Make(ir::Var(param).name(), types[i], param.span()));
    renamed.emplace(param, params.back());
  }
  return passes::InferType(
      module.With("main", ir::Function::Make(std::move(params), ir::Substitute(main.body, renamed),
                                             ir::Type(), main.attrs)));
}

// The extents of an input; none for what is not a tensor.
std::vector<Dim> ExtentsOf(const Expr& param) {
  const auto* tensor = param.checked_type().As<ir::TensorTypeNode>();
  return tensor == nullptr ? std::vector<Dim>() : tensor->shape;
}

class Symbols {
 public:
  explicit Symbols(std::uint64_t seed) : random_(seed), apart_(seed ^ kApart) {}

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
    // Extents that are equal in one run may differ in another.
    if (apart_.Chance(5)) {
      any_ = true;
      return Dim::Symbol(StrCat("m", ++count_apart_));
    }
    const auto [known, is_new] = chosen_.try_emplace(dim.value(), dim);
    if (is_new && random_.Chance(50)) {
      known->second = Dim::Symbol(StrCat("n", dim.value()));
      any_ = true;
    }
    return known->second;
  }

  Random random_, apart_;
  std::map<std::int64_t, Dim> chosen_;
  int count_apart_ = 0;
  bool any_ = false;
};

}  // namespace

std::optional<ir::Module> WithSymbols(const ir::Module& module, std::uint64_t seed) {
  Symbols symbols(seed);
  std::vector<ir::Type> types;
  for (const Expr& param : module.Main().params) {
    const std::optional<ir::Type> type = symbols.Of(param.checked_type());
    if (!type) return std::nullopt;
    types.push_back(*type);
  }
  if (!symbols.any()) return std::nullopt;
  try {
    return WithTypes(module, types);
  } catch (const Error& error) {
    if (error.code() == absl::StatusCode::kInternal) throw;
    return std::nullopt;
  }
}

ir::Module WithValues(const ir::Module& module, const Dim::Values& values) {
  const std::vector<Shape> shapes = ShapesAt(module, values);
  std::vector<ir::Type> types;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const ir::Type& type = module.Main().params[i].checked_type();
    const auto* tensor = type.As<ir::TensorTypeNode>();
    types.push_back(tensor == nullptr
                        ? type
                        : ir::TensorType({shapes[i].begin(), shapes[i].end()}, tensor->dtype));
  }
  return WithTypes(module, types);
}

std::set<std::string> VariablesOf(const ir::Module& module) {
  std::set<std::string> names;
  for (const Expr& param : module.Main().params) {
    for (const Dim& dim : ExtentsOf(param)) dim.AddSymbols(&names);
  }
  return names;
}

Dim::Values OwnValues(const ir::Module& module, const std::vector<Shape>& shapes) {
  Dim::Values values;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::vector<Dim> extents = ExtentsOf(module.Main().params[i]);
    for (std::size_t d = 0; d < std::min(extents.size(), shapes[i].size()); ++d) {
      if (const auto name = extents[d].symbol()) values.emplace(*name, shapes[i][d]);
    }
  }
  return values;
}

std::vector<Shape> ShapesAt(const ir::Module& module, const Dim::Values& values) {
  std::vector<Shape> shapes;
  for (const Expr& param : module.Main().params) {
    Shape& shape = shapes.emplace_back();
    for (const Dim& dim : ExtentsOf(param))
      shape.push_back(std::max<std::int64_t>(dim.Evaluate(values).value_or(0), 0));
  }
  return shapes;
}

std::string ToString(const Dim::Values& values) {
  return StrJoin(values, ", ", [](std::string* text, const auto& value) {
    StrAppend(text, value.first, " = ", value.second);
  });
}

NDArray Resized(const NDArray& array, const Shape& shape, Random& random) {
  if (shape == array.shape()) return array;
  NDArray resized = NDArray::Zeros(shape, array.dtype());
  if (array.size() == 0) return resized;
  const std::size_t bytes = array.dtype().bytes();
  for (std::int64_t i = 0; i < resized.size(); ++i) {
    const auto from = static_cast<std::size_t>(random.Below(array.size()));
    std::memcpy(static_cast<char*>(resized.raw()) + static_cast<std::size_t>(i) * bytes,
                static_cast<const char*>(array.raw()) + from * bytes, bytes);
  }
  return resized;
}

std::vector<Dim::Values> DrawValues(const Dim::Values& own, Random& random) {
  struct Kind {
    std::vector<std::int64_t> extents;
    int percent;  // of the variables, besides one
  };
  static const std::vector<Kind>& kinds = *new std::vector<Kind>{
      {{1}, 50},
      {{2, 3, 5, 7, 11, 13}, 60},
      {{4, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33}, 50},
      {{47, 63, 64, 65, 100, 127, 129}, 10},
  };
  std::vector<Dim::Values> sets = {own};
  if (own.empty()) return sets;
  const auto changed = [&](const Kind& kind) {
    Dim::Values values = own;
    std::int64_t until = random.Below(static_cast<std::int64_t>(own.size()));
    for (auto& [name, value] : values) {
      const bool is_chosen = until-- == 0;
      if (random.Chance(kind.percent) || is_chosen) value = random.Of(kind.extents);
    }
    return values;
  };
  for (const Kind& kind : kinds) sets.push_back(changed(kind));
  const bool may_be_empty =
      std::ranges::any_of(own, [](const auto& value) { return value.first.starts_with("#"); });
  if (random.Chance(may_be_empty ? 70 : 4)) sets.push_back(changed({{0}, 30}));
  return sets;
}

std::optional<std::string> BrokenCondition(const ir::Module& module, const Dim::Values& values,
                                           const CompileOptions& options,
                                           std::vector<ExtentCondition> more) {
  for (const auto& [name, value] : values) {
    if (value < Dim::Symbol(name).LowerBound()) return StrCat(name, " must be at least 1");
  }
  const auto broken = [&](const ExtentCondition& condition) {
    return condition.a.Evaluate(values) && condition.b.Evaluate(values) && !condition.Holds(values);
  };
  std::vector<ExtentCondition> conditions = std::move(more);
  std::ranges::copy(passes::ConditionsOf(module), std::back_inserter(conditions));
  if (const absl::StatusOr<Lowered> kernels = LowerKernels(module, options); kernels.ok())
    conditions.insert(conditions.end(), kernels->plan.conditions.begin(),
                      kernels->plan.conditions.end());
  const auto found = std::ranges::find_if(conditions, broken);
  if (found == conditions.end()) return std::nullopt;
  return found->ToString();
}

}  // namespace tenon::verify
