// Sequences of tensors and optional values. A node that makes one reads tensors; before a node that
// reads one, the draft gets a node that makes it.
#include "tenon/verify/draw/onnx_drawers.h"

namespace tenon::verify {
namespace {

// Some tensors that can be joined along an axis.
Names Elements(Draft& d, std::int64_t least = 1) {
  const Value first = d.Any(kFloats, 1, 3);
  Names names = {first.name};
  const std::int64_t count = least + d.random().Below(3);
  while (static_cast<std::int64_t>(names.size()) < count)
    names.push_back(d.Tensor(first.type, first.shape).name);
  return names;
}

std::string Sequence(Draft& d) {
  return d.Append("", "SequenceConstruct", NodeDraft(Elements(d)))->output(0);
}

std::string Place(Draft& d) {
  return d.Known(NDArray::Scalar<std::int64_t>(d.Of(Ints{0, 0, -1, 1})));
}

NodeDraft SequenceConstruct(Draft& d) { return NodeDraft(Elements(d)); }

// An empty one is of no use to other nodes; it gets an element.
NodeDraft SequenceInsert(Draft& d) {
  const bool is_empty = d.Chance(30);
  const std::string to =
      is_empty ? d.Append("", "SequenceEmpty", NodeDraft(Names{}))->output(0) : Sequence(d);
  NodeDraft node({to, d.Any(kFloats, 1, 3).name});
  if (!is_empty && d.Chance(50)) node.proto.add_input(Place(d));
  return node;
}

NodeDraft SequenceErase(Draft& d) {
  NodeDraft node({d.Append("", "SequenceConstruct", NodeDraft(Elements(d, 2)))->output(0)});
  if (d.Chance(60)) node.proto.add_input(Place(d));
  return node;
}

NodeDraft SequenceAt(Draft& d) { return NodeDraft({Sequence(d), Place(d)}); }

NodeDraft SequenceLength(Draft& d) {
  const bool is_empty = d.Chance(30);
  return NodeDraft(
      {is_empty ? d.Append("", "SequenceEmpty", NodeDraft(Names{}))->output(0) : Sequence(d)});
}

NodeDraft SplitToSequence(Draft& d) {
  const Value x = d.Any(kNumbers, 1, 4);
  NodeDraft node({x.name});
  if (d.Chance(50))
    node.proto.add_input(d.Known(NDArray::Scalar<std::int64_t>(d.Of(Ints{1, 2, 3}))));
  if (d.Chance(40)) node.Int("keepdims", d.random().Below(2));
  return node.Int("axis", d.Axis(x));
}

NodeDraft ConcatFromSequence(Draft& d) {
  NodeDraft node({Sequence(d)});
  if (d.Chance(50)) node.Int("new_axis", 1);
  return node.Int("axis", d.Of(Ints{0, -1}));
}

NodeDraft SequenceMap(Draft& d) {
  onnx::GraphProto body;
  body.set_name("body");
  body.add_input()->set_name("element");
  onnx::NodeProto* inner = body.add_node();
  inner->set_op_type(d.Of(Names{"Neg", "Relu", "Identity"}));
  inner->add_input("element");
  inner->add_output("made");
  body.add_output()->set_name("made");
  return NodeDraft({Sequence(d)}).Graph("body", std::move(body));
}

NodeDraft Optional(Draft& d) { return NodeDraft({d.Any(kNumbers, 0, 3).name}); }

NodeDraft OptionalGetElement(Draft& d) {
  return NodeDraft({d.Append("", "Optional", Optional(d))->output(0)});
}

NodeDraft OptionalHasElement(Draft& d) {
  NodeDraft optional = d.Chance(50) ? Optional(d) : NodeDraft(Names{});
  return NodeDraft({d.Append("", "Optional", std::move(optional))->output(0)});
}

}  // namespace

void AddListDrawers(DrawerTable* table) {
  DrawerTable& t = *table;
  t["ConcatFromSequence"] = ConcatFromSequence;
  t["Optional"] = Optional;
  t["OptionalGetElement"] = OptionalGetElement;
  t["OptionalHasElement"] = OptionalHasElement;
  t["SequenceAt"] = SequenceAt;
  t["SequenceConstruct"] = SequenceConstruct;
  t["SequenceEmpty"] = [](Draft&) { return NodeDraft(Names{}); };
  t["SequenceErase"] = SequenceErase;
  t["SequenceInsert"] = SequenceInsert;
  t["SequenceLength"] = SequenceLength;
  t["SequenceMap"] = SequenceMap;
  t["SplitToSequence"] = SplitToSequence;
}

const std::map<std::string, std::string>& ReadersOfLists() {
  static const auto& readers = *new std::map<std::string, std::string>{
      {"Optional", "OptionalGetElement"},  {"SequenceConstruct", "SequenceAt"},
      {"SequenceEmpty", "SequenceLength"}, {"SequenceErase", "SequenceAt"},
      {"SequenceInsert", "SequenceAt"},    {"SequenceMap", "SequenceAt"},
      {"SplitToSequence", "SequenceAt"}};
  return readers;
}

}  // namespace tenon::verify
