// A kernel around reductions runs over the rows that its members share. It saves one trip through
// memory for every value that stays inside. It costs more only when
//   - there are too few rows to share among threads (small arrays run on one thread anyway),
//   - what a row keeps does not fit the second-level cache,
//   - elements are not where the row's loops want them (transpositions, slices),
//   - a heavy operator would compute a value again each time that it reads it, or
//   - rows are short and their values have other readers: alone, the operator that computes them
//     runs over all elements in whole vectors.
// The schedule (strategies/auto_schedule.cc) stores per row what is costly and read twice, so no
// exponential is computed again across a broadcast.
#include "tenon/passes/fusion/fusion_cost.h"

#include <algorithm>

#include "tenon/ops/op.h"
#include "tenon/passes/fusion/fusion_axes.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ops::OpPattern;

// So many rows that any sensible number of threads shares them evenly enough.
constexpr std::int64_t kMinRows = 8;
// So few elements that one thread finishes before several could start.
constexpr std::int64_t kSmall = 1 << 14;
// The minimum length of a row where every value is stored anyway. In shorter rows, incomplete
// vectors and the work for the one sum cost more than keeping the row in cache saves.
constexpr std::int64_t kMinRow = 512;
// A kernel with more calls is code that nobody wants to read or to wait for.
constexpr int kMaxCalls = 64;
// The maximum number of results that a kernel writes.
constexpr int kMaxResults = 4;

void CountElements(const ir::Type& type, GroupCost* cost) {
  if (const auto* tuple = type.As<ir::TupleTypeNode>()) {
    for (const ir::Type& field : tuple->fields) CountElements(field, cost);
    return;
  }
  if (!ir::IsStaticTensor(type)) {
    cost->opaque = true;
    return;
  }
  cost->rows = ir::StaticShape(type, "a member of a group");
  cost->result_shape = cost->rows;
  const std::int64_t elements = NumElements(cost->rows);
  cost->elements = std::max(cost->elements, elements);
  cost->bytes =
      std::max(cost->bytes,
               elements * static_cast<std::int64_t>(type.As<ir::TensorTypeNode>()->dtype.bytes()));
}

// Whether a reshape does more than add or drop axes of one element.
bool ChangesExtents(const ir::CallNode& call) {
  const auto extents = [](const ir::Type& type) {
    Shape shape;
    for (const ir::Dim& dim : type.As<ir::TensorTypeNode>()->shape) {
      if (!(dim == ir::Dim(1))) shape.push_back(dim.value());
    }
    return shape;
  };
  const ir::Type& operand = call.args[0].checked_type();
  return !ir::IsStaticTensor(operand) || extents(operand) != extents(call.checked_type);
}

}  // namespace

GroupCost GroupCost::OfNode(const FusionNode& node) {
  GroupCost cost;
  const auto* call = node.expr.As<ir::CallNode>();
  if (call == nullptr || call->op() == nullptr) {
    const bool is_inside =
        node.expr.kind() == ir::ExprKind::kTuple || node.expr.kind() == ir::ExprKind::kTupleGetItem;
    cost.opaque = !is_inside && node.pattern == OpPattern::kOpaque;
    if (is_inside) CountElements(node.expr.checked_type(), &cost);
    return cost;
  }
  cost.calls = 1;
  cost.opaque = node.pattern == OpPattern::kOpaque;
  cost.views = ops::OpOf(*call)->reshape_only;
  CountElements(call->checked_type, &cost);
  if (cost.opaque) return cost;
  const bool normalizes = NormalizesRows(*call);
  cost.reduces = normalizes || node.pattern == OpPattern::kCommReduce;
  cost.heavy = node.pattern == OpPattern::kOutEWiseFusable && !normalizes;
  cost.gathers = cost.views ? ChangesExtents(*call) : node.pattern == OpPattern::kInjective;
  if (cost.reduces && !call->args.empty()) {
    GroupCost operand;
    CountElements(call->args[0].checked_type(), &operand);
    cost.opaque = cost.opaque || operand.opaque;
    cost.elements = std::max(cost.elements, operand.elements);
    // Several passes over the rows need the rows in the cache, whichever kernel made them.
    cost.bytes = std::max(cost.bytes, operand.bytes);
    cost.rows.resize(std::min(cost.rows.size(), SharedAxes(*call, 0)));
  }
  return cost;
}

void GroupCost::Add(const GroupCost& other, std::size_t axes) {
  calls += other.calls;
  reduces = reduces || other.reduces;
  heavy = heavy || other.heavy;
  opaque = opaque || other.opaque;
  gathers = gathers || other.gathers;
  views = views && other.views;
  elements = std::max(elements, other.elements);
  bytes = std::max(bytes, other.bytes);
  rows.resize(std::min({rows.size(), other.rows.size(), axes}));
}

std::size_t AxesInto(const FusionNode& node, const std::vector<FusionNode>& nodes,
                     const std::function<bool(int consumer)>& is_reader) {
  std::size_t axes = kAllAxes;
  for (const FusionNode::Edge& edge : node.outputs) {
    const ir::Expr& consumer = nodes[static_cast<std::size_t>(edge.consumer)].expr;
    if (is_reader(edge.consumer)) axes = std::min(axes, AxesOfEdge(node.expr, consumer));
  }
  return axes;
}

std::vector<GroupCost> CostsOf(const std::vector<FusionNode>& nodes, const std::vector<int>& root) {
  std::vector<GroupCost> costs(nodes.size());
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const auto group = static_cast<std::size_t>(root[i]);
    if (group == i) {
      costs[i] = GroupCost::OfNode(nodes[i]);
    } else if (nodes[i].expr.kind() != ir::ExprKind::kConstant) {
      const auto same = [&](int reader) {
        return static_cast<std::size_t>(root[static_cast<std::size_t>(reader)]) == group;
      };
      costs[group].Add(GroupCost::OfNode(nodes[i]), AxesInto(nodes[i], nodes, same));
    }
  }
  return costs;
}

std::optional<Refusal> RefuseAroundReduction(const GroupCost& producer, const GroupCost& consumer,
                                             std::size_t axes, std::int64_t row_bytes) {
  if (consumer.calls == 0)
    return Refusal{"a tuple of results is not a kernel", "no change: results are stored anyway"};
  if (producer.opaque || consumer.opaque)
    return Refusal{"an opaque operator shares its kernel with nothing",
                   "an operator with a pattern, and static shapes"};
  if (consumer.heavy)
    return Refusal{
        "the heavy operator reads each element many times and would compute it each time",
        "work that follows the heavy operator instead"};
  if (producer.heavy)
    return Refusal{"the heavy operator would lose its own kernel to the reduction",
                   "elementwise work instead of the reduction"};
  if (consumer.views || (producer.views && (producer.gathers || axes == 0)))
    return Refusal{"a reshape alone is a view of memory and needs no kernel",
                   "no change is needed"};
  if (producer.gathers || consumer.gathers)
    return Refusal{"elements are moved, so that rows of one are not rows of the other",
                   "moving the transposition, slice or concatenation out from between them"};
  GroupCost both = producer;
  both.Add(consumer, axes);
  const std::int64_t rows = NumElements(both.rows);
  if (rows < kMinRows && both.elements > kSmall)
    return Refusal{
        StrCat("they share ", rows, rows == 1 ? " row" : " rows", ", too few to run in parallel"),
        StrCat("at least ", kMinRows, " rows: reductions over the last axes")};
  if (rows > 0 && both.bytes / rows > row_bytes)
    return Refusal{
        StrCat("a row would keep ", both.bytes / rows, " bytes, more than stay in cache"),
        StrCat("rows of at most ", row_bytes, " bytes")};
  if (both.calls > kMaxCalls)
    return Refusal{StrCat("the kernel would hold ", both.calls, " calls"),
                   StrCat("at most ", kMaxCalls, " calls")};
  return std::nullopt;
}

std::optional<Refusal> RefuseSecondResult(const GroupCost& producer, const GroupCost& consumer,
                                          std::size_t axes, std::int64_t row_bytes) {
  if (producer.results + consumer.results > kMaxResults)
    return Refusal{StrCat("the kernel would have more than ", kMaxResults, " results"),
                   "fewer values that others read"};
  if (producer.reduces || consumer.reduces) {
    if (auto refusal = RefuseAroundReduction(producer, consumer, axes, row_bytes)) return refusal;
    if (producer.result_shape == consumer.result_shape) return std::nullopt;
    GroupCost both = producer;
    both.Add(consumer, axes);
    const std::int64_t row = both.elements / std::max<std::int64_t>(1, NumElements(both.rows));
    if (row >= kMinRow) return std::nullopt;
    return Refusal{StrCat("others read the value, too, which has another shape than the reader's ",
                          "result, and rows of ", row, row == 1 ? " element" : " elements",
                          " are too short to gain from one kernel"),
                   StrCat("a single reader, results of one shape, or rows of at least ", kMinRow,
                          " elements")};
  }
  if (producer.heavy || consumer.heavy)
    return Refusal{"others read the value, too, and a kernel with a heavy operator has one result",
                   "a single reader"};
  if (producer.result_shape != consumer.result_shape)
    return Refusal{"others read the value, too, and it has another shape than the reader's result",
                   "a single reader, results of one shape, or a reduction of long rows"};
  const bool is_plain = producer.calls > 0 && consumer.calls > 0 && !producer.opaque &&
                        !consumer.opaque && !producer.gathers && !consumer.gathers &&
                        !producer.views && !consumer.views;
  if (!is_plain || axes < producer.result_shape.size())
    return Refusal{"others read the value, too, and the reader is not elementwise on it",
                   "a single reader, or only elementwise work"};
  if (producer.calls + consumer.calls > kMaxCalls)
    return Refusal{StrCat("the kernel would hold ", producer.calls + consumer.calls, " calls"),
                   StrCat("at most ", kMaxCalls, " calls")};
  return std::nullopt;
}

}  // namespace tenon::passes
