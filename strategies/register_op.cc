#include "tenon/strategies/register_op.h"

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {
using ops::OpPattern;

OpRegistration::OpRegistration(const std::string& name, std::source_location where)
    : name_(name), where_(where) {
  try {
    op_ = Ref<ops::OpDef>(&ops::OpRegistry::Global().Register(name, where).op());
  } catch (const Error& error) {
    ops::OpRegistry::Global().AddStartupError(error.message());
    // The chained setters need something to set.
    op_ = MakeRef<ops::OpDef>(name, where);
  }
}

void OpRegistration::Refuse(const std::string& message) {
  ops::OpRegistry::Global().AddStartupError(
      StrCat(name_, " (", where_.file_name(), ":", where_.line(), "): ", message));
}

OpRegistration& OpRegistration::Describe(std::string text) {
  op_->description = std::move(text);
  return *this;
}
OpRegistration& OpRegistration::Argument(std::string name, std::string type, std::string help) {
  op_->arguments.push_back({std::move(name), std::move(type), std::move(help)});
  return *this;
}
OpRegistration& OpRegistration::Level(int level) {
  op_->support_level = level;
  return *this;
}
OpRegistration& OpRegistration::TypeRelation(ops::TypeRelation relation) {
  op_->type_relation = std::move(relation);
  op_->relation_name = "custom";
  return *this;
}
OpRegistration& OpRegistration::Pattern(OpPattern pattern) {
  if (op_->pattern && *op_->pattern != pattern)
    Refuse(StrCat("the pattern ", ops::ToString(pattern), " contradicts ",
                  ops::ToString(*op_->pattern), ", which the compute shows"));
  op_->pattern = pattern;
  return *this;
}

OpRegistration& OpRegistration::Compute(
    std::function<std::vector<te::Tensor>(const TeCall& call)> make) {
  op_->SetColumn(TeCompute{std::move(make)});
  if (!op_->pattern) op_->pattern = OpPattern::kOpaque;
  return *this;
}

OpRegistration& OpRegistration::ElementwiseOf(
    std::function<te::Expr(const attrs::Attrs& attrs, const te::Expr& x)> function) {
  if (op_->pattern && *op_->pattern != OpPattern::kElemWise)
    Refuse(StrCat("the pattern ", ops::ToString(*op_->pattern),
                  " contradicts the elementwise compute"));
  op_->pattern = OpPattern::kElemWise;
  op_->SetColumn(TeCompute{[function, name = name_](const TeCall& call) {
    return std::vector<te::Tensor>{te::Compute(
        call.te_shape(),
        [&](const std::vector<te::Var>& i) {
          return function(call.attrs, call.input(0)[ToExprs(i)]);
        },
        name, "elemwise")};
  }});
  return *this;
}

OpRegistration& OpRegistration::Implement(Implementation implementation) {
  Strategy strategy;
  if (const auto* existing = op_->Column<Strategy>()) strategy = *existing;
  strategy.implementations.push_back(std::move(implementation));
  op_->SetColumn(std::move(strategy));
  return *this;
}

}  // namespace tenon::strategies
