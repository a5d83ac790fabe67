// What is appended becomes an output with an element for each turn. Where turns give it another
// extent along an axis, it is joined to what the loop has carried so far.
#include "tenon/onnx/convert/list_loop.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "tenon/onnx/convert/list.h"
#include "tenon/onnx/convert/loop_function.h"
#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/onnx/convert/sequence.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/onnx/opset.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// How often a name is read in a graph and those inside it.
int Readers(const onnx::GraphProto& graph, const std::string& name) {
  int count = 0;
  for (const onnx::NodeProto& node : graph.node()) {
    count += static_cast<int>(std::ranges::count(node.input(), name));
    for (const onnx::AttributeProto& attribute : node.attribute())
      if (attribute.has_g()) count += Readers(attribute.g(), name);
  }
  for (const onnx::ValueInfoProto& output : graph.output()) count += output.name() == name ? 1 : 0;
  return count;
}

// A sequence that a loop carries.
struct Appended {
  std::size_t input = 0;  // of the values that the loop carries
  int node = 0;           // of the body, which appends
  std::string element;    // what it appends
  std::optional<std::int64_t> joined_along = std::nullopt;
};

bool IsAmong(const std::vector<Appended>& lists, std::size_t input) {
  return std::ranges::find(lists, input, &Appended::input) != lists.end();
}

std::optional<Appended> FindAppended(const onnx::GraphProto& body, std::size_t input) {
  const std::string& before = body.input(static_cast<int>(input) + 2).name();
  const std::string& after = body.output(static_cast<int>(input) + 1).name();
  for (int i = 0; i < body.node_size(); ++i) {
    const onnx::NodeProto& node = body.node(i);
    if (node.output_size() != 1 || node.output(0) != after) continue;
    const bool appends = node.op_type() == "SequenceInsert" && IsDefaultDomain(node.domain()) &&
                         node.input_size() >= 2 && node.input(0) == before &&
                         (node.input_size() == 2 || node.input(2).empty());
    // Both names are read once: by this node and as the output.
    if (!appends || Readers(body, before) != 1 || Readers(body, after) != 1) return std::nullopt;
    return Appended{.input = input, .node = i, .element = node.input(1)};
  }
  return std::nullopt;
}

// The axis along which turns give a value other extents.
std::optional<std::int64_t> AxisOfTurns(const Expr& element, const std::set<std::string>& known) {
  std::optional<std::int64_t> found;
  const std::vector<Dim> dims = DimsOf(element);
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    std::set<std::string> symbols;
    dims[axis].AddSymbols(&symbols);
    if (std::ranges::includes(known, symbols)) continue;
    if (found)
      throw Unimplemented(StrCat("each turn appends ", ir::ToString(element.checked_type()),
                                 " to a sequence, and turns decide extents of two axes"));
    found = static_cast<std::int64_t>(axis);
  }
  return found;
}

// What the first turn appends to each sequence.
std::vector<Expr> FirstElements(const Node& node, const onnx::GraphProto& body,
                                const std::vector<Appended>& lists) {
  std::vector<Expr> given = {LoopVariable(node, ir::TensorType({}, Int64)),
                             node.has_input(1) ? LoopVariable(node, node.input(1))
                                               : LoopVariable(node, ir::TensorType({}, Bool))};
  for (std::size_t i = 2; i < node.num_inputs(); ++i) {
    given.push_back(IsAmong(lists, i - 2) ? SequenceOf(node, {})
                                          : LoopVariable(node, node.input(i)));
  }
  const std::vector<Expr> made = node.Inlined(body, given);
  std::vector<Expr> elements;
  for (const Appended& list : lists)
    elements.push_back(made[list.input + 1].As<ir::TupleNode>()->fields.at(0));
  return elements;
}

// No elements of the type along the axis.
Expr Empty(const Node& node, const Expr& element, std::int64_t axis) {
  std::vector<Dim> shape = DimsOf(element);
  shape[static_cast<std::size_t>(axis)] = 0;
  return node.Typed(
      BroadcastTo(node.extents(), node.Typed(ops::Scalar(0, DataTypeOf(element))), shape));
}

// The elements that a sequence has before the loop; nothing for none.
std::optional<List> ElementsBefore(const Node& node, const Expr& value) {
  if (auto list = ListIn(value)) return list;
  const auto* tuple = value.As<ir::TupleNode>();
  if (tuple == nullptr || tuple->fields.empty()) return std::nullopt;
  return ListOf(node, tuple->fields);
}

// The loop without its sequences: arrays that grow are carried after its other values, and what is
// appended to others comes after its other outputs.
struct Rewritten {
  onnx::NodeProto node;
  std::vector<Expr> inputs;
};

Rewritten WithoutSequences(const Node& node, const std::vector<Appended>& lists,
                           const std::vector<Expr>& elements) {
  Rewritten made{node.proto(), {}};
  made.node.set_name(NameOf(node.proto()));
  made.node.clear_input();
  made.node.clear_output();
  const auto& attributes = *made.node.mutable_attribute();
  const auto found = std::ranges::find(attributes, "body", &onnx::AttributeProto::name);
  onnx::GraphProto& body =
      *made.node.mutable_attribute(static_cast<int>(found - attributes.begin()))->mutable_g();
  const onnx::GraphProto original = body;
  body.clear_input();
  body.clear_output();
  const auto is_list = [&](int carried) {
    return carried >= 0 && IsAmong(lists, static_cast<std::size_t>(carried));
  };
  const auto carry = [&](const onnx::ValueInfoProto& before, const Expr& value) {
    *body.add_input() = before;
    made.node.add_input(before.name());
    made.inputs.push_back(value);
  };
  const auto give = [&](const onnx::ValueInfoProto& after) {
    *body.add_output() = after;
    if (body.output_size() > 1) made.node.add_output(after.name());
  };
  const int carried = original.input_size() - 2;
  for (int i = 0; i < original.input_size(); ++i)
    if (!is_list(i - 2)) carry(original.input(i), node.inputs()[static_cast<std::size_t>(i)]);
  for (int i = 0; i <= carried; ++i)
    if (!is_list(i - 1)) give(original.output(i));
  for (std::size_t i = 0; i < lists.size(); ++i) {
    onnx::NodeProto& append = *body.mutable_node(lists[i].node);
    onnx::ValueInfoProto before, after;
    before.set_name(append.input(0));
    after.set_name(append.output(0));
    append.clear_input();
    append.add_input(lists[i].element);
    append.set_op_type("Identity");
    if (!lists[i].joined_along) continue;
    const std::int64_t axis = *lists[i].joined_along;
    append.set_op_type("Concat");
    append.clear_input();
    append.add_input(before.name());
    append.add_input(lists[i].element);
    onnx::AttributeProto& attribute = *append.add_attribute();
    attribute.set_name("axis");
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(axis);
    const auto already = ElementsBefore(node, node.input(lists[i].input + 2));
    carry(before, already ? Joined(node, *already, axis, false) : Empty(node, elements[i], axis));
    give(after);
  }
  for (int i = carried + 1; i < original.output_size(); ++i) give(original.output(i));
  for (const Appended& list : lists) {
    onnx::ValueInfoProto element;
    element.set_name(original.output(static_cast<int>(list.input) + 1).name());
    if (!list.joined_along) give(element);
  }
  return made;
}

}  // namespace

std::optional<std::vector<Expr>> LoopOfLists(
    Node& node, const std::function<std::vector<Expr>(Node& loop)>& convert) {
  const onnx::GraphProto& body = node.Graph("body");
  std::vector<Appended> lists;
  for (std::size_t i = 2; i < node.num_inputs(); ++i) {
    const Expr value = node.optional_input(i);
    if (!value || !(IsSequence(value) || ListIn(value))) continue;
    auto list = FindAppended(body, i - 2);
    if (!list) return std::nullopt;
    lists.push_back(*std::move(list));
  }
  if (lists.empty()) return std::nullopt;
  const std::set<std::string> known = node.extents().Symbols();
  const std::vector<Expr> elements = FirstElements(node, body, lists);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    lists[i].joined_along = AxisOfTurns(elements[i], known);
    const std::optional<List> before = ListIn(node.input(lists[i].input + 2));
    if (before && before->joined_along && !lists[i].joined_along)
      lists[i].joined_along = before->joined_along;
  }
  Rewritten made = WithoutSequences(node, lists, elements);
  // What is known of graphs is kept by their place in memory.
  Node loop = node.Over(node.loops()->Keep(std::move(made.node)), std::move(made.inputs));
  const std::vector<Expr> results = convert(loop);
  node.AddHandled(loop);
  const std::size_t carried = node.num_inputs() - 2, plain = carried - lists.size();
  const auto grown = static_cast<std::size_t>(
      std::ranges::count_if(lists, [](const Appended& list) { return !!list.joined_along; }));
  const std::size_t outputs = static_cast<std::size_t>(node.num_outputs()) - carried;
  std::size_t next_plain = 0, next_grown = plain, next_stacked = plain + grown + outputs;
  std::vector<Expr> all;
  for (std::size_t i = 0; i < carried; ++i) {
    const auto list = std::ranges::find(lists, i, &Appended::input);
    if (list == lists.end()) {
      all.push_back(results.at(next_plain++));
      continue;
    }
    if (list->joined_along) {
      all.push_back(ValueOf(node, {results.at(next_grown++), list->joined_along}));
      continue;
    }
    List appended{results.at(next_stacked++)};
    if (const auto before = ElementsBefore(node, node.input(i + 2)))
      appended.array = node.Typed(ops::Concatenate({before->array, appended.array}, 0));
    all.push_back(ValueOf(node, appended));
  }
  for (std::size_t i = 0; i < outputs; ++i) all.push_back(results.at(plain + grown + i));
  return all;
}

}  // namespace tenon::onnx_import
