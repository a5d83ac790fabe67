// Operators on sequences of tensors and on optional values. They only choose among values, so
// nothing is computed for them when the model runs.
#include <algorithm>
#include <numeric>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/list.h"
#include "tenon/onnx/convert/part_of_value.h"
#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/onnx/convert/sequence.h"
#include "tenon/onnx/convert/values_of_run.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/registry.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// A sequence that the import may make: each element is an expression of its own.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 16;

std::vector<Expr> SequenceConstruct(Node& node) { return {SequenceOf(node, node.all_inputs())}; }

std::vector<Expr> SequenceEmpty(Node& node) {
  node.Ignore("dtype");  // elements bring their own
  return {SequenceOf(node, {})};
}

// The place at input `i`, counted from the end when negative, in [0, end).
std::size_t PlaceAt(const Node& node, std::size_t i, std::int64_t size, std::int64_t end) {
  const std::int64_t given = node.ConstantInt(i);
  const std::int64_t place = given < 0 ? given + size : given;
  if (place < 0 || place >= end)
    throw InvalidArgument(
        StrCat("input ", i, " is the place ", given, " in a sequence of ", size, " elements"));
  return static_cast<std::size_t>(place);
}

std::vector<Expr> SequenceAt(Node& node) {
  if (const auto list = ListIn(node.input(0)))
    return {DependsOnInputs(node.input(1)) ? ElementOf(node, *list, node.input(1))
                                           : ElementAt(node, *list, node.ConstantInt(1))};
  const std::vector<Expr>& elements = ElementsOf(node, 0);
  if (!elements.empty() && DependsOnInputs(node.input(1)))
    return {ElementOf(node, ListOf(node, elements), node.input(1))};
  const auto size = static_cast<std::int64_t>(elements.size());
  return {elements[PlaceAt(node, 1, size, size)]};
}

// The same where only a run knows it, as an int64. A run with another place is refused.
Expr PlaceOfRun(const Node& node, std::size_t i, std::int64_t size, std::int64_t end) {
  const auto& known = ops::Known();
  const auto call = TypedCalls(node);
  const Expr given = node.Typed(ops::Cast(node.Typed(ops::Reshape(node.input(i), Ints{})), Int64));
  const Expr is_wrong = call(known.logical_or, call(known.less, given, Integer(-size)),
                             call(known.greater_equal, given, Integer(end)));
  const Expr zero = ZeroUnlessWrong(
      node, is_wrong, StrCat("whose position must be at least ", -size, " and below ", end));
  const Expr from_front = node.Typed(ops::Where(call(known.less, given, Integer(0)),
                                                call(known.add, given, Integer(size)), given));
  return call(known.add, from_front, zero);
}

// Elements that a run may give each other's places.
void RequireOneType(const std::vector<Expr>& elements) {
  for (const Expr& element : elements) {
    if (ir::Equal(element.checked_type(), elements[0].checked_type())) continue;
    throw Unimplemented(
        StrCat("elements are ", KindOf(elements[0]), " and ", KindOf(element),
               "; of elements of several types, the position must be known when the "
               "model is imported"));
  }
}

std::vector<Expr> InsertedAt(const Node& node, const std::vector<Expr>& elements, const Expr& x,
                             const Expr& place) {
  std::vector<Expr> moved;
  const std::size_t size = elements.size();
  for (std::size_t k = 0; k <= size; ++k) {
    const Expr at = Integer(static_cast<std::int64_t>(k));
    const Expr is_before = node.Typed(ir::Call::Make(ops::Known().less, {place, at})),
               is_here = node.Typed(ir::Call::Make(ops::Known().equal, {place, at}));
    const Expr other = k == size ? elements[k - 1]
                       : k == 0  ? elements[0]
                                 : SelectedOf(node, is_before, elements[k - 1], elements[k]);
    moved.push_back(SelectedOf(node, is_here, x, other));
  }
  return moved;
}

std::vector<Expr> SequenceInsert(Node& node) {
  std::vector<Expr> elements = ElementsOf(node, 0);
  const auto size = static_cast<std::int64_t>(elements.size());
  if (size >= kMaxElements)
    throw Unimplemented(StrCat("a sequence has more than ", kMaxElements, " elements"));
  if (size > 0 && node.has_input(2) && DependsOnInputs(node.input(2))) {
    std::vector<Expr> all = elements;
    all.push_back(node.input(1));
    RequireOneType(all);
    const Expr place = PlaceOfRun(node, 2, size, size + 1);
    return {SequenceOf(node, InsertedAt(node, elements, node.input(1), place))};
  }
  const std::size_t place = node.has_input(2) ? PlaceAt(node, 2, size, size + 1) : elements.size();
  elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(place), node.input(1));
  return {SequenceOf(node, std::move(elements))};
}

std::vector<Expr> SequenceErase(Node& node) {
  std::vector<Expr> elements = ElementsOf(node, 0);
  const auto size = static_cast<std::int64_t>(elements.size());
  if (size == 0) throw InvalidArgument("input 0 is a sequence without elements");
  if (node.has_input(1) && DependsOnInputs(node.input(1))) {
    RequireOneType(elements);
    const Expr place = PlaceOfRun(node, 1, size, size);
    std::vector<Expr> kept;
    for (std::size_t k = 0; k + 1 < elements.size(); ++k) {
      const Expr at = Integer(static_cast<std::int64_t>(k));
      const Expr is_gone = node.Typed(ir::Call::Make(ops::Known().less_equal, {place, at}));
      kept.push_back(SelectedOf(node, is_gone, elements[k + 1], elements[k]));
    }
    return {SequenceOf(node, std::move(kept))};
  }
  const std::size_t place = node.has_input(1) ? PlaceAt(node, 1, size, size) : elements.size() - 1;
  elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(place));
  return {SequenceOf(node, std::move(elements))};
}

std::vector<Expr> SequenceLength(Node& node) {
  if (const auto list = ListIn(node.input(0))) return {LengthOf(node, *list)};
  return {Integer(static_cast<std::int64_t>(ElementsOf(node, 0).size()))};
}

// How many elements each part of an axis has, where all of that is known.
Ints LengthsOf(const Node& node, const Dim& whole) {
  if (!whole.is_static())
    throw Unimplemented(StrCat("an axis of ", whole.ToString(),
                               " elements is split into a number of parts that only a run knows; "
                               "a list of lengths (input 1) says how many there are"));
  const std::int64_t extent = whole.value();
  const std::int64_t each = node.has_input(1) ? node.ConstantInt(1) : 1;
  if (each < 1) throw InvalidArgument(StrCat("input 1 is ", each, "; it must be at least 1"));
  if (extent / each >= kMaxElements)
    throw Unimplemented(StrCat("a sequence of more than ", kMaxElements, " elements"));
  Ints lengths;
  for (std::int64_t at = 0; at < extent; at += each) lengths.push_back(std::min(each, extent - at));
  return lengths;
}

// The lengths that input 1 lists. An extent that is not known must be their sum.
Ints ListedLengths(const Node& node, const Dim& whole) {
  const Ints lengths = node.ConstantInts(1);
  std::int64_t sum = 0;
  bool fits = true;
  for (const std::int64_t length : lengths)
    fits = fits && length >= 0 && !__builtin_add_overflow(sum, length, &sum);
  if (!fits || (whole.is_static() && sum != whole.value()))
    throw InvalidArgument(StrCat("input 1 has the lengths [", StrJoin(lengths, ", "),
                                 "], which do not make up the ", whole.ToString(), " elements"));
  return lengths;
}

// `x` with the extent that the lengths make up. A run with another one is refused.
Expr WithExtent(const Node& node, const Expr& x, std::int64_t axis, const Ints& lengths) {
  std::vector<Dim> shape = DimsOf(x);
  Dim& extent = shape[static_cast<std::size_t>(axis)];
  extent = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  return node.Typed(ReshapeTo(node.extents(), x, shape));
}

std::vector<Expr> PartsOfLengths(const Node& node, const Expr& x, std::int64_t axis,
                                 const Ints& lengths) {
  if (lengths.empty()) return {};
  if (lengths.size() == 1) return {x};
  Ints places;
  std::int64_t at = 0;
  for (std::size_t i = 0; i + 1 < lengths.size(); ++i) places.push_back(at += lengths[i]);
  return PartsAlong(node, x, places, axis);
}

// Whether each part is one element: input 1 is 1, or as many ones as the axis has elements.
bool AreElements(const Node& node, const Dim& extent) {
  if (!node.has_input(1)) return true;
  const Expr& lengths = node.input(1);
  const auto is_one = [](const Expr& e) {
    return e.kind() == ir::ExprKind::kConstant && DimsOfValue(e) == std::vector<Dim>{1};
  };
  if (RankOf(lengths) == 0) return is_one(lengths);
  const auto* call = lengths.As<ir::CallNode>();
  return call != nullptr && call->callee == ops::OpRegistry::Global().Get("broadcast_to_extents") &&
         is_one(call->args[0]) && DimsOf(lengths)[0] == extent;
}

std::vector<Expr> SplitToSequence(Node& node) {
  Expr x = node.input(0);
  const std::int64_t axis = AxisOf(node, 0);
  const bool keeps_axis = node.Int("keepdims", 1) != 0 || node.has_input(1);
  const Dim extent = DimsOf(x)[static_cast<std::size_t>(axis)];
  const bool is_list = node.has_input(1) && RankOf(node.input(1)) == 1;
  if (!extent.is_static() && AreElements(node, extent))
    return {ValueOf(node, ListOfParts(node, x, axis, keeps_axis))};
  std::vector<Expr> parts;
  if (is_list && DependsOnInputs(node.input(1)) && PartOfValue(node.input(1))) {
    parts = SplitByValues(node, axis);
  } else {
    const Ints lengths = is_list ? ListedLengths(node, extent) : LengthsOf(node, extent);
    if (!extent.is_static()) x = WithExtent(node, x, axis, lengths);
    parts = PartsOfLengths(node, x, axis, lengths);
  }
  if (!keeps_axis) {
    for (Expr& part : parts) part = node.Typed(ops::Squeeze(part, Ints{axis}));
  }
  return {SequenceOf(node, std::move(parts))};
}

std::vector<Expr> ConcatFromSequence(Node& node) {
  if (!node.Has("axis")) throw InvalidArgument("the attribute axis is missing");
  const std::int64_t axis = node.Int("axis", 0);
  const bool is_new = node.Int("new_axis", 0) != 0;
  if (const auto list = ListIn(node.input(0))) return {Joined(node, *list, axis, is_new)};
  const std::vector<Expr>& elements = ElementsOf(node, 0);
  if (elements.empty())
    throw InvalidArgument("input 0 is a sequence without elements; one is needed at least");
  const auto rank = static_cast<std::size_t>(RankOf(elements[0]) + (is_new ? 1 : 0));
  const std::int64_t normal = ops::NormalAxis(axis, rank);
  return {node.Typed(is_new ? ops::Stack(elements, normal) : ops::Concatenate(elements, normal))};
}

// Opset 17: a graph for each element of the first sequence; further sequences have as many, and
// tensors are the same for all.
std::vector<Expr> SequenceMap(Node& node) {
  const onnx::GraphProto& body = node.Graph("body");
  const std::size_t count = ElementsOf(node, 0).size();
  std::vector<std::vector<Expr>> made(static_cast<std::size_t>(node.num_outputs()));
  for (std::size_t turn = 0; turn < count; ++turn) {
    std::vector<Expr> inputs;
    for (std::size_t i = 0; i < node.num_inputs(); ++i) {
      if (!IsSequence(node.input(i))) {
        inputs.push_back(node.input(i));
        continue;
      }
      const std::vector<Expr>& elements = ElementsOf(node, i);
      if (elements.size() != count)
        throw InvalidArgument(StrCat("input ", i, " is a sequence of ", elements.size(),
                                     ", and input 0 one of ", count));
      inputs.push_back(elements[turn]);
    }
    const std::vector<Expr> results = node.Inlined(body, inputs);
    if (results.size() != made.size())
      throw InvalidArgument(
          StrCat("the body has ", results.size(), " outputs, and the node ", made.size()));
    for (std::size_t i = 0; i < made.size(); ++i) made[i].push_back(results[i]);
  }
  std::vector<Expr> outputs;
  for (std::vector<Expr>& elements : made) outputs.push_back(SequenceOf(node, std::move(elements)));
  return outputs;
}

std::vector<Expr> Optional(Node& node) {
  node.Ignore("type");  // of an element that is not there
  return {node.has_input(0) ? node.input(0) : Nothing()};
}

std::vector<Expr> OptionalGetElement(Node& node) {
  if (node.input(0) == Nothing()) throw InvalidArgument("input 0 has no element");
  return {node.input(0)};
}

std::vector<Expr> OptionalHasElement(Node& node) {
  const bool has = node.has_input(0) && !(node.input(0) == Nothing());
  return {ir::Constant::Make(NDArray::Scalar(has))};
}

}  // namespace

void AddSequenceConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["ConcatFromSequence"] = ConcatFromSequence;
  t["Optional"] = Optional;
  t["OptionalGetElement"] = OptionalGetElement;
  t["OptionalHasElement"] = OptionalHasElement;
  t["SequenceAt"] =
      Converter(SequenceAt).With({.other = "elements of one type where a run says the position"});
  t["SequenceConstruct"] = SequenceConstruct;
  t["SequenceEmpty"] = SequenceEmpty;
  t["SequenceErase"] = Converter(SequenceErase).With({.other = "as SequenceAt"});
  t["SequenceInsert"] = Converter(SequenceInsert).With({.other = "as SequenceAt"});
  t["SequenceLength"] = SequenceLength;
  t["SequenceMap"] = SequenceMap;
  t["SplitToSequence"] =
      Converter(SplitToSequence)
          .With({.known = {{1, "split", "unless it is a list of a known number of lengths"}},
                 .other = "up to 65536 parts"});
}

}  // namespace tenon::onnx_import
