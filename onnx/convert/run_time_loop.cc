// A loop is a function that calls itself (loop_function.h). Outputs with an element for each turn
// are written into a buffer for the most turns that there can be, or into one that grows.
#include "tenon/onnx/convert/run_time_loop.h"

#include <algorithm>
#include <set>

#include "tenon/ir/visit.h"
#include "tenon/onnx/convert/loop_function.h"
#include "tenon/onnx/convert/moved_elements.h"
#include "tenon/onnx/convert/open_extents.h"
#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/onnx/convert/sequence.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// What a turn of a loop makes of the values that it carries.
LoopState ValuesOf(const std::vector<Expr>& made, const LoopForm& form) {
  const auto first = made.begin() + 1;
  return {first, first + static_cast<std::ptrdiff_t>(form.carried)};
}

}  // namespace

LoopForm::LoopForm(Node& node)
    : body(node.Graph("body")), has_condition(node.has_input(1)), counts(node.has_input(0)) {
  if (node.num_inputs() < 2) throw InvalidArgument("a loop takes a count and a condition");
  carried = node.num_inputs() - 2;
  const auto results = static_cast<std::size_t>(body.output_size());
  if (results < carried + 1 || static_cast<std::size_t>(node.num_outputs()) != results - 1)
    throw InvalidArgument(StrCat("the body has ", results, " outputs; a loop of ", carried,
                                 " values and ", node.num_outputs(),
                                 " outputs takes one more than these"));
  // Before anything reads the inputs of the body by their place.
  if (static_cast<std::size_t>(body.input_size()) != node.num_inputs())
    throw InvalidArgument(StrCat("the graph inside takes ", body.input_size(),
                                 " inputs; it is given ", node.num_inputs()));
  outputs = results - 1 - carried;
  if (!counts) return;
  if (node.input(0).As<ir::ConstantNode>() != nullptr) {
    count = node.ConstantInt(0);
    most = std::max<std::int64_t>(*count, 0);
  } else if (const auto dims = DimsOfValue(node.input(0)); dims && dims->size() == 1) {
    most = Max((*dims)[0], 0);
  }
}

Expr FirstCondition(const Node& node, const LoopForm& form) {
  return form.has_condition ? node.input(1) : Expr(ir::Constant::Make(NDArray::Scalar(true)));
}

namespace {

// A turn over variables, whose types its values keep.
struct Turn {
  Expr number, holds;  // variables
  LoopState values = {};
  std::vector<Expr> made = {};         // the condition, the values and the outputs
  std::vector<std::string> open = {};  // extents that turns change
  // Whether the condition that a turn makes decides if there is another one.
  bool decides = true;
};

// Nothing where the condition ends the loop at once. `carried` are the values before the first
// turn.
std::optional<Turn> TurnOf(Node& node, const LoopForm& form, const Expr& condition,
                           const LoopState& carried) {
  Turn turn{.number = LoopVariable(node, ir::TensorType({}, Int64)),
            .holds = LoopVariable(node, condition.checked_type())};
  OpenExtents extents(node, carried);
  const auto made_if = [&](const Expr& held) {
    std::vector<Expr> given = {turn.number, held};
    given.insert(given.end(), turn.values.begin(), turn.values.end());
    return node.Inlined(form.body, given);
  };
  do {
    turn.values = extents.Variables();
    // If a turn that holds makes a condition that holds, then all turns do.
    std::optional<bool> goes_on;
    if (KnownCondition(condition).value_or(false)) {
      turn.made = made_if(condition);
      goes_on = form.has_condition ? KnownCondition(turn.made[0]) : std::optional(true);
      if (goes_on == false) return std::nullopt;
    }
    turn.decides = goes_on != true;
    if (!turn.decides && !form.counts) throw Unimplemented("the loop never ends");
    if (turn.decides) turn.made = made_if(turn.holds);
    for (std::size_t i = 0; i < form.carried; ++i) {
      Expr& value = turn.made[i + 1];
      value = extents.AsDeclared(i, value, form.body.output(static_cast<int>(i + 1)));
    }
  } while (!extents.Fit(ValuesOf(turn.made, form)));
  turn.open = extents.names();
  return turn;
}

LoopState CarriedValues(const Node& node, const LoopForm& form) {
  LoopState carried;
  for (std::size_t i = 0; i < form.carried; ++i) {
    const Expr& value = node.input(i + 2);
    if (value && value.kind() == ir::ExprKind::kTuple)
      throw Unimplemented(StrCat("the loop carries ", KindOf(value), " (input ", i + 2,
                                 "), so how many turns it runs must be known at import; ",
                                 kFixingACondition));
    carried.push_back(value);
  }
  return carried;
}

}  // namespace

// The state is the turn's number, the condition if a run decides it, the carried values and a
// buffer for each output.
std::optional<std::vector<Expr>> LoopAtRunTime(Node& node, const LoopForm& form) {
  const Expr limit =
      form.counts ? node.Typed(ops::Cast(node.Typed(ops::Reshape(node.input(0), Ints{})), Int64))
                  : Expr();
  const Expr condition = FirstCondition(node, form);
  const LoopState carried = CarriedValues(node, form);
  const std::set<std::string> known = node.extents().Symbols();
  const std::optional<Turn> turn = TurnOf(node, form, condition, carried);
  if (!turn) return std::nullopt;
  const auto& [number, holds, values, made, open, decides] = *turn;
  LoopParts parts;
  parts.open = open;
  parts.Carry(number, Integer(0), node.Typed(ops::Add(number, Integer(1))));
  if (decides)
    parts.Carry(holds, condition,
                node.Typed(ops::ReshapeToExtents(made[0], Ints(ShapeOf(condition)))));
  const std::size_t first_value = parts.variables.size();
  for (std::size_t i = 0; i < form.carried; ++i) parts.Carry(values[i], carried[i], made[i + 1]);
  // PyTorch gives a loop that a condition ends the greatest count that there is.
  const bool has_no_limit = decides && form.count && *form.count > kMaxTurns;
  std::optional<Dim> most = has_no_limit ? std::nullopt : form.most;
  if (!most && !decides && form.outputs > 0) most = ExtentOf(node, limit, true);
  for (std::size_t i = 0; i < form.outputs; ++i) {
    const std::size_t at = form.carried + 1 + i;
    const Expr element =
        WithKnownExtents(node, made[at], form.body.output(static_cast<int>(at)), known);
    if (most) {
      parts.CarryBuffer(node, *most, number, element);
    } else {
      parts.CarryList(node, number, element);
    }
  }
  const auto call = TypedCalls(node);
  if (limit) parts.goes_on = call(ops::Known().less, number, limit);
  if (decides) {
    const Expr also = node.Typed(ops::Reshape(holds, Ints{}));
    parts.goes_on = limit ? call(ops::Known().logical_and, parts.goes_on, also) : also;
  }
  const MadeLoop loop = MakeLoop(node, parts);
  const bool may_unroll = form.count ? *form.count <= kMaxTurns : !form.counts;
  if (loop.is_constant && may_unroll) return std::nullopt;
  std::vector<Expr> results(loop.final_state.begin() + static_cast<std::ptrdiff_t>(first_value),
                            loop.final_state.end());
  if (!decides) return results;
  const Expr count = node.Typed(ops::ReshapeToExtents(loop.final_state[0], {1}));
  for (std::size_t i = 0; i < form.outputs; ++i)
    results[form.carried + i] = FirstAlong(node, results[form.carried + i], count, 0);
  return results;
}

ScanForm::ScanForm(Node& node, std::size_t inputs, std::size_t outputs) : scanned(inputs) {
  const bool is_old = node.opset() < 9;
  const auto list = [&](const char* name, std::size_t length) {
    Ints values = node.IntsOr(name, Ints(length, 0));
    if (values.size() != length)
      throw InvalidArgument(StrCat(name, " has ", values.size(), " values; it takes ", length));
    return values;
  };
  if (scanned == 0) throw InvalidArgument("num_scan_inputs must be at least 1");
  input_directions = list(is_old ? "directions" : "scan_input_directions", scanned);
  input_axes = is_old ? Ints(scanned, 0) : list("scan_input_axes", scanned);
  output_directions = is_old ? Ints(outputs, 0) : list("scan_output_directions", outputs);
  output_axes = is_old ? Ints(outputs, 0) : list("scan_output_axes", outputs);
}

// The state is the step's number, the states and a buffer for each output.
std::optional<std::vector<Expr>> ScanAtRunTime(Node& node, const ScanSteps& steps) {
  const ScanForm& form = steps.form;
  const std::vector<Expr>& inputs = steps.inputs;
  const std::size_t carried = steps.inputs.size() - form.scanned;
  const auto outputs = static_cast<std::size_t>(steps.body.output_size()) - carried;
  const StepNumbers numbers(node, steps.count, inputs[carried], steps.axes[0]);
  const auto place = [&](const Expr& step, std::int64_t direction) {
    return direction == 0 ? step : node.Typed(ops::Subtract(numbers.last, step));
  };
  const std::set<std::string> known = node.extents().Symbols();
  const Expr step = LoopVariable(node, ir::TensorType({}, Int64));
  const LoopState initial(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(carried));
  LoopState scanned;
  for (std::size_t i = 0; i < form.scanned; ++i) {
    const Expr& all = inputs[carried + i];
    const Expr at = place(step, form.input_directions[i]);
    scanned.push_back(MadeOf(node, node.Typed(ops::Take(all, at, {.axis = steps.axes[i]})), {all}));
  }
  OpenExtents extents(node, initial);
  LoopState states;
  std::vector<Expr> made;
  do {
    states = extents.Variables();
    std::vector<Expr> given = states;
    given.insert(given.end(), scanned.begin(), scanned.end());
    made = node.Inlined(steps.body, given);
    for (std::size_t i = 0; i < carried; ++i)
      made[i] = extents.AsDeclared(i, made[i], steps.body.output(static_cast<int>(i)));
  } while (!extents.Fit({made.begin(), made.begin() + static_cast<std::ptrdiff_t>(carried)}));
  LoopParts parts;
  parts.open = extents.names();
  parts.Carry(step, Integer(0), node.Typed(ops::Add(step, Integer(1))));
  for (std::size_t i = 0; i < carried; ++i) parts.Carry(states[i], initial[i], made[i]);
  for (std::size_t i = 0; i < outputs; ++i) {
    const Expr element = WithKnownExtents(node, made[carried + i],
                                          steps.body.output(static_cast<int>(carried + i)), known);
    parts.CarryBuffer(node, steps.count, place(step, form.output_directions[i]), element);
  }
  parts.goes_on = node.Typed(ir::Call::Make(ops::Known().less, {step, numbers.count}));
  parts.around = inputs;
  const MadeLoop loop = MakeLoop(node, parts);
  if (loop.is_constant && steps.count.is_static() && steps.count.value() <= kMaxTurns)
    return std::nullopt;
  std::vector<Expr> results(loop.final_state.begin() + 1, loop.final_state.end());
  for (std::size_t i = 0; i < outputs; ++i) {
    Expr& all = results[carried + i];
    const auto rank = static_cast<std::size_t>(RankOf(all));
    const std::int64_t axis = ops::NormalAxis(form.output_axes[i], rank);
    Ints order;
    for (std::size_t d = 1; d < rank; ++d) order.push_back(static_cast<std::int64_t>(d));
    order.insert(order.begin() + axis, 0);
    if (axis != 0) all = MadeOf(node, node.Typed(ops::Transpose(all, order)), {all});
  }
  return results;
}

}  // namespace tenon::onnx_import
