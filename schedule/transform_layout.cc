// B[i] = f(i), stored at B'[map(i)]: B'[x] = f(inverse(x)), and readers of B[e] read B'[map(e)]. If
// inverse(x) is not an index of B, B'[x] is padding. A reduction has no terms there, and its
// elements start as the padding.
#include <algorithm>

#include "tenon/loop/print.h"
#include "tenon/schedule/index_map.h"
#include "tenon/schedule/rewrite.h"
#include "tenon/schedule/schedule.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {

using loop::Expr;

namespace {

// Makes those elements padding for which `inside` is false.
void Pad(te::OperationNode& op, const Expr& inside, double pad) {
  const Expr value = loop::Constant(op.outputs[0]->dtype, pad);
  if (!op.is_reduction()) {
    op.body[0] = loop::IfThenElse(inside, op.body[0], value);
    return;
  }
  const Expr start = op.initial.empty() ? op.combiner->identity[0] : op.initial[0];
  op.initial = {loop::IfThenElse(inside, start, value)};
  // What a condition reads for an element is not there for padding.
  op.condition =
      op.condition.defined() ? loop::IfThenElse(inside, op.condition, loop::False()) : inside;
}

// The layout, and its inverse for an array of these extents. `where` begins the errors.
struct CheckedLayout {
  IndexMap map;
  InverseMap inverse;
};
CheckedLayout Checked(const std::string& where, const LayoutFunction& layout,
                      const te::OperationNode& op, const std::vector<std::int64_t>& extents,
                      std::optional<double> pad) {
  const auto refuse = [&](const char* reason) {
    throw InvalidArgument(StrCat(where, ": ", reason));
  };
  if (layout == nullptr) refuse("the layout is null");
  IndexMap map;
  for (const IterVar& axis : op.axes) map.from.emplace_back(axis.var.name());
  map.to = layout(map.from);
  if (map.to.empty()) refuse("the layout gives no index");
  for (const Expr& index : map.to) {
    if (!index.defined()) refuse("the layout gives an index that is null");
  }
  InverseMap inverse = Invert(where, map, extents, pad.has_value());
  if (pad) loop::Constant(op.outputs[0]->dtype, *pad);  // throws where the type has no such
  return {std::move(map), std::move(inverse)};
}

// What `former` computes, over the axes of its memory.
NewOperation StoredAs(const InverseMap& inverse, const te::OperationNode& former,
                      const std::vector<IterVar>& axes, const ByVar& values,
                      const std::vector<std::int64_t>& extents, std::optional<double> pad) {
  const NewOperation stored = NewLike(former, former.name, axes);
  CopyReduction(former, former.reduce_axes, values, stored.node);
  Expr inside = loop::True();
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (inverse.has_padding[d]) inside = inside && inverse.to[d] < extents[d];
  }
  if (!loop::IsConstInt(inside, 1)) Pad(*stored.node, inside, *pad);
  return stored;
}

}  // namespace

std::vector<IterVar> Schedule::TransformLayout(const Tensor& tensor, const LayoutFunction& layout,
                                               std::optional<double> pad) {
  Stage& stage = (*this)[tensor];
  const te::Operation former = stage.op();
  const auto refuse = [&](const IterVar* axis, const std::string& reason) {
    stage.Refuse("transform_layout", axis, reason);
  };
  stage.RequireOwnMemory("transform_layout");
  if (former->outputs.size() != 1)
    refuse(nullptr, "the operation has several outputs; only one is allowed");
  if (!former->target.empty())
    refuse(nullptr,
           "its terms go to computed indices; cache_write makes a copy that can be stored "
           "in another order");
  std::vector<std::int64_t> extents;
  for (const IterVar& axis : former->axes) {
    const auto* extent = axis.extent.As<loop::IntImmNode>();
    if (extent == nullptr)
      refuse(&axis, StrCat("the extent is ", loop::Print(axis.extent), "; it must be constant"));
    extents.push_back(extent->value);
    if (!stage.IsLeaf(axis)) stage.Position("transform_layout", axis);  // says why
  }
  const std::size_t first =
      former->axes.empty() ? 0 : stage.Position("transform_layout", former->axes[0]);
  for (std::size_t d = 0; d < former->axes.size(); ++d) {
    if (stage.Position("transform_layout", former->axes[d]) != first + d)
      refuse(&former->axes[d],
             "the axis has already been reordered; the data axes must stand in their first order");
  }
  for (const auto& reader : stages_) {
    if (!reader->op()->is_compute() && Reads(*reader->op(), former->outputs[0]))
      refuse(nullptr, StrCat("its reader ", reader->name(),
                             " is an external operation or a scan, which reads row-major memory"));
  }
  RequireRewritable("transform_layout", stage);
  const CheckedLayout checked =
      Checked(StrCat("transform_layout: stage ", stage.name()), layout, *former, extents, pad);
  const IndexMap& map = checked.map;
  const InverseMap& inverse = checked.inverse;

  std::vector<IterVar> axes;
  for (std::size_t r = 0; r < map.to.size(); ++r)
    axes.push_back({inverse.from[r], 0, Expr(inverse.extents[r]), false});
  ByVar values;
  for (std::size_t d = 0; d < former->axes.size(); ++d) values[former->axes[d].var] = inverse.to[d];
  const NewOperation stored = StoredAs(inverse, *former, axes, values, extents, pad);
  if (stage.guard_.defined()) stage.guard_ = loop::Substitute(stage.guard_, values);
  if (stage.time_.defined()) stage.time_ = loop::Substitute(stage.time_, values);

  const loop::Buffer buffer = former->outputs[0];
  for (const auto& reader : stages_) {
    if (!Reads(*reader->op(), buffer)) continue;
    Rewrite(*reader, WithReads(*reader->op(), buffer, [&](const std::vector<Expr>& indices) {
      return ReadOutput(stored.handle, 0, map(indices));
    }));
  }
  Rewrite(stage, stored.handle);
  const auto begin = stage.leaves_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto at =
      stage.leaves_.erase(begin, begin + static_cast<std::ptrdiff_t>(former->axes.size()));
  stage.leaves_.insert(at, axes.begin(), axes.end());
  stage.all_axes_.insert(stage.all_axes_.end(), axes.begin(), axes.end());
  stage.marks_.alignments.clear();
  const auto is_gone = [&](const auto& mark) { return !stage.IsLeaf(mark.axis); };
  std::erase_if(stage.marks_.unrolls, is_gone);
  std::erase_if(stage.marks_.prefetches, is_gone);
  record_->emplace_back(TransformLayoutStep{RefTo(tensor), map, pad});
  return axes;
}

}  // namespace tenon::schedule
