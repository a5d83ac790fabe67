// When its condition is known, a branch is chosen at import; else it is an if of the module. Where
// branches give other things than tensors, both are computed and one is selected, element by
// element. What else an If by extents may become is in graph_outcomes.cc.
//
// A loop or scan of few turns is unrolled: its turns fuse with each other, and each may have types
// of its own. Any other is a function that calls itself (loop_function.h), unless its turns change
// types; then it is unrolled, too. Where it is known only at run time whether an unrolled turn
// runs, the turn is computed and its values are selected.
#include <algorithm>
#include <exception>
#include <functional>

#include "tenon/onnx/convert/branches.h"
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/list_loop.h"
#include "tenon/onnx/convert/loop_function.h"
#include "tenon/onnx/convert/moved_elements.h"
#include "tenon/onnx/convert/open_extents.h"
#include "tenon/onnx/convert/refusals.h"
#include "tenon/onnx/convert/run_time_loop.h"
#include "tenon/onnx/convert/sequence.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/onnx/tensor.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

using onnx::GraphProto;

void CheckOutputs(const Node& node, const GraphProto& graph, const char* name) {
  if (graph.output_size() != node.num_outputs())
    throw InvalidArgument(StrCat("the graph ", name, " has ", graph.output_size(),
                                 " outputs and the node ", node.num_outputs()));
}

// Branches written for other extents may have no valid types.
std::vector<Expr> BranchOfUnknown(const Node& node, const Expr& condition,
                                  const GraphProto& branch) {
  try {
    return node.Inlined(branch, {});
  } catch (Error& error) {
    error.AddNote(
        StrCat("both branches of an If are imported, because its condition is computed "
               "when the model runs; ",
               WayToFix(condition)));
    throw;
  }
}

std::vector<Expr> If(Node& node) {
  const GraphProto& yes = node.Graph("then_branch");
  const GraphProto& no = node.Graph("else_branch");
  CheckOutputs(node, yes, "then_branch");
  CheckOutputs(node, no, "else_branch");
  const auto known = KnownCondition(node.input(0));
  if (known) return node.Inlined(*known ? yes : no, {});
  const Expr condition = node.Typed(ops::Reshape(node.input(0), Ints{}));
  std::vector<Expr> selected, others;
  Refusals refusals;
  refusals.Try([&] { selected = BranchOfUnknown(node, node.input(0), yes); });
  refusals.Try([&] { others = BranchOfUnknown(node, node.input(0), no); });
  refusals.ThrowIfAny("the node");
  // Values that are there anyway are selected, which fuses with what reads them.
  const auto is_there = [&](const Expr& value) {
    return value.kind() == ir::ExprKind::kConstant || node.IsAround(value);
  };
  bool are_tensors = true, are_there = true;
  for (std::size_t i = 0; i < selected.size(); ++i) {
    const auto &a = selected[i].checked_type(), &b = others[i].checked_type();
    if (!ir::Equal(a, b) && node.loops() == nullptr)
      throw Unimplemented(StrCat("output ", i, " is ", ir::ToString(a), " in one branch and ",
                                 ir::ToString(b),
                                 " in the other; where both are computed and one is selected, both "
                                 "must be of one type; ",
                                 WayToFix(node.input(0))));
    are_tensors = are_tensors && HasKnownExtents(a);
    are_there = are_there && is_there(selected[i]) && is_there(others[i]);
  }
  if (GiveOneType(node, node.input(0), &selected, &others)) are_there = false;
  if (are_tensors && !are_there && node.loops() != nullptr)
    return BranchAtRunTime(node, condition, selected, others);
  for (std::size_t i = 0; i < selected.size(); ++i)
    selected[i] = SelectedOf(node, condition, selected[i], others[i]);
  return selected;
}

// An empty result of the type that `turn` has, which the body gives.
Expr NoTurns(const Node& node, const Expr& turn, std::int64_t axis) {
  std::vector<Dim> shape = DimsOf(turn);
  const int at = ops::NormalAxis(axis, shape.size() + 1);
  shape.insert(shape.begin() + at, Dim(0));
  const Expr zero = node.Typed(ops::Scalar(0, DataTypeOf(turn)));
  return MadeOf(node, node.Typed(BroadcastTo(node.extents(), zero, shape)), {turn});
}

// The results of all turns along a new axis. If there are no turns, none of the type that the body
// declares, or gives.
Expr Stacked(const Node& node, const std::vector<Expr>& turns, const onnx::ValueInfoProto& output,
             std::int64_t axis, const std::function<Expr()>& body_gives) {
  if (!turns.empty()) {
    for (const Expr& turn : turns) {
      if (!ir::Equal(turn.checked_type(), turns[0].checked_type()))
        throw Unimplemented(
            StrCat("the output ", output.name(), " changes its type from turn to turn"));
    }
    const auto rank = static_cast<std::size_t>(RankOf(turns[0])) + 1;
    return MadeOf(node, node.Typed(ops::Stack(turns, ops::NormalAxis(axis, rank))), turns);
  }
  const auto& type = output.type().tensor_type();
  Shape shape;
  bool is_static = output.type().has_tensor_type() && type.has_shape();
  for (const auto& dim : type.shape().dim()) {
    is_static = is_static && dim.has_dim_value() && dim.dim_value() >= 0;
    shape.push_back(dim.dim_value());
  }
  if (!is_static) return NoTurns(node, body_gives(), axis);
  shape.insert(shape.begin() + ops::NormalAxis(axis, shape.size() + 1), 0);
  if (const NarrowType* narrow = FindNarrowType(type.elem_type()))
    return node.OfNarrowType(ZerosOf(shape, narrow->carrier), *narrow);
  return ZerosOf(shape, ToDataType(type.elem_type(), StrCat("the output ", output.name())));
}

// Which turns of a loop run, where only a run of the model knows.
class Turns {
 public:
  explicit Turns(const Node& node) : node_(node) {}

  // The turn after `before` others runs if the last one did and the condition holds.
  void Begin(const Expr& condition, std::int64_t before) {
    const Expr now = node_.Typed(ops::Reshape(condition, Ints{}));
    if (!runs_) count_ = node_.Typed(ops::Scalar(static_cast<double>(before), Int64));
    runs_ = runs_ ? node_.Typed(ir::Call::Make(ops::Known().logical_and, {runs_, now})) : now;
  }
  void End() {
    if (runs_) count_ = node_.Typed(ops::Add(count_, ops::Cast(runs_, Int64)));
  }
  // `made` if the turn runs, else `before`.
  Expr Select(const Expr& made, const Expr& before) const {
    if (!runs_) return made;
    if (!before)
      throw InvalidArgument(
          "an input that the loop carries is missing; with a condition that is computed when the "
          "model runs, every one must be given");
    if (!ir::Equal(made.checked_type(), before.checked_type()))
      throw Unimplemented(StrCat("a value is ", ir::ToString(before.checked_type()),
                                 " before a turn and ", ir::ToString(made.checked_type()),
                                 " after it; with a condition that is computed when the model "
                                 "runs, both must be of one type; ",
                                 kFixingACondition));
    return SelectedOf(node_, runs_, made, before);
  }
  // The results of the turns that run, taken from those of all turns.
  Expr First(const Expr& all) const {
    if (!runs_) return all;
    const Expr count = node_.Typed(ops::ReshapeToExtents(count_, {1}));
    return FirstAlong(node_, all, count, 0);
  }

 private:
  const Node& node_;
  Expr runs_, count_;  // undefined while turns certainly run
};

// Turn by turn. Nothing where a turn is met of which only a run knows whether it runs, unless
// `selects`: then such turns are computed and their values selected. Throws where it is not known
// at import how many turns there are at most.
std::optional<std::vector<Expr>> Unrolled(const Node& node, const LoopForm& form, bool selects) {
  const std::int64_t count = form.counts ? node.ConstantInt(0) : kMaxTurns + 1;
  std::vector<Expr> values(node.inputs().begin() + 2, node.inputs().end());
  Expr condition = FirstCondition(node, form);
  std::vector<std::vector<Expr>> turns(form.outputs);
  Turns run(node);
  for (std::int64_t turn = 0; turn < count; ++turn) {
    const auto goes_on = KnownCondition(condition);
    if (goes_on && !*goes_on) break;
    if (!goes_on && !selects) return std::nullopt;
    if (!goes_on && count > kMaxTurns)
      throw Unimplemented(StrCat("whether turn ", turn,
                                 " of the loop is run depends on an input of the model; then the "
                                 "loop must have a count, of ",
                                 kMaxTurns, " turns at most; ", kFixingACondition));
    if (turn >= kMaxTurns)
      throw Unimplemented(StrCat("the loop runs more than ", kMaxTurns, " turns"));
    if (!goes_on) run.Begin(condition, turn);
    std::vector<Expr> inputs = {ops::Scalar(static_cast<double>(turn), Int64), condition};
    inputs.insert(inputs.end(), values.begin(), values.end());
    std::vector<Expr> made = node.Inlined(form.body, inputs);
    // If the loop has no initial condition, that of the body is ignored.
    if (form.has_condition) condition = made[0];
    for (std::size_t i = 0; i < form.carried; ++i) values[i] = run.Select(made[i + 1], values[i]);
    for (std::size_t i = 0; i < turns.size(); ++i) turns[i].push_back(made[form.carried + 1 + i]);
    run.End();
  }
  std::vector<Expr> results = values;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const std::size_t at = form.carried + 1 + i;
    results.push_back(
        run.First(Stacked(node, turns[i], form.body.output(static_cast<int>(at)), 0, [&] {
          std::vector<Expr> inputs = {ops::Scalar(0, Int64), condition};
          inputs.insert(inputs.end(), values.begin(), values.end());
          return node.Inlined(form.body, inputs)[at];
        })));
  }
  return results;
}

std::vector<Expr> Loop(Node& node) {
  const LoopForm form(node);
  if (node.loops() == nullptr) return *Unrolled(node, form, true);
  if (form.count && *form.count <= kUnrolledTurns) {
    if (auto results = Unrolled(node, form, false)) return *std::move(results);
  }
  std::optional<Error> why_no_function;
  std::exception_ptr thrown;
  try {
    if (auto results = LoopOfLists(node, Loop)) return *std::move(results);
    if (auto results = LoopAtRunTime(node, form)) return *std::move(results);
  } catch (const Error& error) {
    const bool may_unroll = form.count || !form.counts;
    if (error.code() == absl::StatusCode::kInternal || !may_unroll) throw;
    why_no_function = error;
    thrown = std::current_exception();
  }
  try {
    return *Unrolled(node, form, true);
  } catch (Error& error) {
    // A mistake of the body is one of each turn.
    if (why_no_function && why_no_function->code() == absl::StatusCode::kInvalidArgument)
      std::rethrow_exception(thrown);
    if (why_no_function)
      error.AddNote(StrCat("the loop is unrolled, for a run cannot count its turns: ",
                           why_no_function->message()));
    throw;
  }
}

Expr PartAlong(const Node& node, const Expr& x, std::int64_t index, std::int64_t axis) {
  return MadeOf(node, node.Typed(ElementAlong(x, index, axis)), {x});
}

// The states after the last step, then the results of all steps.
std::vector<Expr> ScanOnce(Node& node, const GraphProto& body, const ScanForm& form,
                           const std::vector<Expr>& inputs) {
  const std::size_t carried = inputs.size() - form.scanned;
  const auto results = static_cast<std::size_t>(body.output_size());
  std::vector<Expr> values(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(carried));
  std::vector<std::vector<Expr>> steps(results - carried);
  Dim all;
  Ints axes;
  for (std::size_t i = 0; i < form.scanned; ++i) {
    const std::vector<Dim> dims = DimsOf(inputs[carried + i]);
    axes.push_back(ops::NormalAxis(form.input_axes[i], dims.size(), "scan_input_axes"));
    const Dim& extent = dims[static_cast<std::size_t>(axes.back())];
    if (extent.is_any()) throw Unimplemented("how many steps are scanned is not known at import");
    if (i > 0 && !(all == extent))
      throw InvalidArgument(
          StrCat("inputs of ", all.ToString(), " and ", extent.ToString(), " steps are scanned"));
    all = extent;
  }
  const bool is_counted = all.is_static();
  const std::int64_t count = is_counted ? all.value() : 0;
  if (node.loops() != nullptr && (!is_counted || count > kUnrolledTurns)) {
    try {
      auto results = ScanAtRunTime(
          node, {.body = body, .form = form, .inputs = inputs, .axes = axes, .count = all});
      if (results) return *std::move(results);
    } catch (const Error& error) {
      if (error.code() == absl::StatusCode::kInternal || !is_counted || count > kMaxTurns) throw;
    }
  }
  if (!is_counted)
    throw Unimplemented(StrCat("a scan of ", all.ToString(),
                               " steps is a loop, which this import may not make; give numbers"));
  if (count > kMaxTurns)
    throw Unimplemented(StrCat("the scan runs more than ", kMaxTurns, " steps"));
  for (std::int64_t step = 0; step < count; ++step) {
    std::vector<Expr> given = values;
    for (std::size_t i = 0; i < form.scanned; ++i) {
      const std::int64_t at = form.input_directions[i] != 0 ? count - 1 - step : step;
      given.push_back(PartAlong(node, inputs[carried + i], at, axes[i]));
    }
    const std::vector<Expr> made = node.Inlined(body, given);
    for (std::size_t i = 0; i < carried; ++i) values[i] = made[i];
    for (std::size_t i = 0; i < steps.size(); ++i) steps[i].push_back(made[carried + i]);
  }
  std::vector<Expr> all_results = values;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (form.output_directions[i] != 0) std::reverse(steps[i].begin(), steps[i].end());
    all_results.push_back(Stacked(
        node, steps[i], body.output(static_cast<int>(carried + i)), form.output_axes[i], [&] {
          std::vector<Expr> given = values;
          for (std::size_t scanned = 0; scanned < form.scanned; ++scanned) {
            const Expr& input = inputs[carried + scanned];
            std::vector<Dim> part = DimsOf(input);
            part.erase(part.begin() + axes[scanned]);
            given.push_back(LoopVariable(node, ir::TensorType(part, DataTypeOf(input))));
          }
          return node.Inlined(body, given)[carried + i];
        }));
  }
  return all_results;
}

std::vector<Expr> Scan(Node& node) {
  const GraphProto& body = node.Graph("body");
  const bool is_old = node.opset() < 9;
  std::vector<Expr> inputs = node.inputs();
  // Opset 8 has the lengths of sequences first, and a batch axis.
  if (is_old) {
    if (node.has_input(0)) throw Unimplemented("the lengths of sequences are not supported");
    if (!inputs.empty()) inputs.erase(inputs.begin());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i]) throw InvalidArgument(StrCat("input ", i + (is_old ? 1 : 0), " is missing"));
  CheckOutputs(node, body, "body");
  const auto scanned =
      static_cast<std::size_t>(std::max<std::int64_t>(node.Int("num_scan_inputs", 0), 0));
  const auto results = static_cast<std::size_t>(body.output_size());
  if (scanned > inputs.size() || inputs.size() - scanned > results)
    throw InvalidArgument(StrCat("a scan of ", inputs.size(), " inputs, ", scanned,
                                 " of them scanned, cannot have ", results, " outputs"));
  const ScanForm form(node, scanned, results - (inputs.size() - scanned));
  if (!is_old) return ScanOnce(node, body, form, inputs);
  const Shape first = ShapeOf(inputs.back());
  if (first.empty() || first[0] > kMaxTurns || first[0] < 1)
    throw Unimplemented(StrCat("a batch of 1 to ", kMaxTurns, " is supported"));
  std::vector<std::vector<Expr>> batches(results);
  for (std::int64_t b = 0; b < first[0]; ++b) {
    std::vector<Expr> of_batch;
    for (const Expr& input : inputs) of_batch.push_back(PartAlong(node, input, b, 0));
    const std::vector<Expr> made = ScanOnce(node, body, form, of_batch);
    for (std::size_t i = 0; i < results; ++i) batches[i].push_back(made[i]);
  }
  std::vector<Expr> outputs;
  for (std::size_t i = 0; i < results; ++i)
    outputs.push_back(MadeOf(node, node.Typed(ops::Stack(batches[i], 0)), batches[i]));
  return outputs;
}

}  // namespace

void AddControlConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["If"] = Converter(If).With(
      {.other = "with a condition computed at run time, the results of both branches must have one "
                "type, except for extents; one branch runs"});
  t["Loop"] =
      Converter(Loop).With({.other = "a loop whose values change their element type or number of "
                                     "axes has up to 4096 turns, which are known at import"});
  t["Scan"] =
      Converter(Scan).With({.other = "in opset 8 without lengths of sequences; states that change "
                                     "their element type or number of axes for up to 4096 steps"});
}

}  // namespace tenon::onnx_import
