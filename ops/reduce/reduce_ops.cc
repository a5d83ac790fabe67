// Reductions over axes.
#include "tenon/ops/builtin.h"
#include "tenon/ops/layout/layout_rules.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/ops/reduce/reduce_attrs.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

template <typename AttrsType>
void ReduceTo(TypeCall& call, const AttrsType& attrs, DataType dtype) {
  const auto* x = call.tensor(0);
  const std::vector<bool> reduced = ReducedAxes(attrs.axis, attrs.exclude, x->shape.size());
  std::vector<ir::Dim> shape;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) shape.push_back(x->shape[i]);
    if (reduced[i] && attrs.keepdims) shape.emplace_back(1);
  }
  call.LearnResult(ir::TensorType(std::move(shape), dtype));
}

void Reduce(TypeCall& call) {
  if (const auto* x = call.tensor(0)) ReduceTo(call, call.attrs<ReduceAttrs>(), x->dtype);
}

void ReduceBool(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  if (!x->dtype.is_bool()) call.Refuse("the input must be bool");
  Reduce(call);
}

void ArgReduce(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  if (x->shape.empty()) call.Refuse("the input must have an axis to search along");
  ReduceTo(call, call.attrs<ArgReduceAttrs>(), Int32);
}

void Variance(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* mean = call.tensor(1);
  if (x == nullptr || mean == nullptr) return;
  if (mean->shape.size() != x->shape.size())
    call.Refuse("the mean must have the rank of the data (keepdims=True)");
  const std::vector<ir::Dim> both = BroadcastShapes(call, x->shape, mean->shape);
  for (std::size_t i = 0; i < both.size(); ++i) {
    if (call.Differ(both[i], x->shape[i]))
      call.Refuse(StrCat("dimension ", i, " of the mean is ", mean->shape[i].ToString(),
                         " and that of the data ", x->shape[i].ToString(),
                         "; the mean is broadcast to the data"));
  }
  ReduceTo(call, call.attrs<VarianceAttrs>(), x->dtype);
}

// Refuses a shape that does not broadcast to that of the input.
void RequireCollapse(TypeCall& call, const ir::TensorTypeNode& x, const std::vector<ir::Dim>& to,
                     const char* what) {
  const std::vector<ir::Dim> both = BroadcastShapes(call, x.shape, to);
  bool grows = both.size() > x.shape.size();
  for (std::size_t i = 0; !grows && i < both.size(); ++i) grows = call.Differ(both[i], x.shape[i]);
  if (grows) call.Refuse(StrCat("the input cannot be summed to ", what));
}

void CollapseSumLike(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* like = call.tensor(1);
  if (like == nullptr) return;
  if (x != nullptr) {
    if (x->dtype != like->dtype) call.Refuse("both inputs must have one element type");
    RequireCollapse(call, *x, like->shape, "the shape of the second");
  }
  call.LearnResult(call.input(1));
}

void CollapseSumTo(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<InitOpAttrs>();
  if (!attrs.shape) call.Refuse("shape must be given");
  if (!attrs.dtype.is_void() && attrs.dtype != x->dtype)
    call.Refuse("dtype must be that of the input where it is given");
  const std::vector<ir::Dim> to(attrs.shape->begin(), attrs.shape->end());
  RequireCollapse(call, *x, to, "the shape");
  call.LearnResult(ir::TensorType(to, x->dtype));
}

}  // namespace

void RegisterReduceOps(OpRegistry& registry) {
  struct Row {
    const char* name;
    const char* help;
    void (*relation)(TypeCall&);
    bool rounds = false;
  };
  for (const Row& row :
       {Row{"sum", "sum over axes", Reduce, true}, Row{"prod", "product over axes", Reduce, true},
        Row{"max", "maximum over axes", Reduce}, Row{"min", "minimum over axes", Reduce},
        Row{"mean", "arithmetic mean over axes; integers divide toward zero", Reduce, true},
        Row{"all", "whether all are true", ReduceBool},
        Row{"any", "whether one is true", ReduceBool}}) {
    OpBuilder op = registry.Register(row.name);
    op.Describe(row.help)
        .Argument("data", "Tensor", "input")
        .Attrs<ReduceAttrs>()
        .Level(4)
        .Pattern(OpPattern::kCommReduce)
        .TypeRelation(row.relation, "Reduce")
        .Column(LayoutInference{LayoutsOfReduction});
    if (row.rounds) op.Column(PrecisionRule::kNever).Column(HalfSums::kPlain);
  }
  for (const char* name : {"argmax", "argmin"})
    registry.Register(name)
        .Describe("int32 index of the extreme value over axes")
        .Argument("data", "Tensor", "input")
        .Attrs<ArgReduceAttrs>()
        .Level(4)
        .Pattern(OpPattern::kCommReduce)
        .TypeRelation(ArgReduce, "ArgReduce")
        .Column(LayoutInference{LayoutsOfArgReduction});
  registry.Register("variance")
      .Describe("mean of the squared deviations from the given mean")
      .Argument("data", "Tensor", "input")
      .Argument("mean", "Tensor", "of the data's rank, broadcast against it")
      .Attrs<VarianceAttrs>()
      .Level(4)
      .Pattern(OpPattern::kCommReduce)
      .TypeRelation(Variance, "Variance")
      .Column(PrecisionRule::kNever)
      .Column(HalfSums::kPlain);
  registry.Register("collapse_sum_like")
      .Describe("sum down to the shape of the second input: the inverse of broadcasting")
      .Argument("data", "Tensor", "input")
      .Argument("collapse_type", "Tensor", "gives the shape")
      .Level(10)
      .Pattern(OpPattern::kCommReduce)
      .TypeRelation(CollapseSumLike, "CollapseSumLike")
      .Column(HalfSums::kPlain);
  registry.Register("collapse_sum_to")
      .Describe("sum down to a shape that broadcasts to the input's: the inverse of broadcasting")
      .Argument("data", "Tensor", "input")
      .Attrs<InitOpAttrs>()
      .Level(4)
      .Pattern(OpPattern::kCommReduce)
      .TypeRelation(CollapseSumTo, "CollapseSumTo")
      .Column(HalfSums::kPlain);
}

}  // namespace tenon::ops
