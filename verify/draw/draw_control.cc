// Control flow. Its bodies have a few elementwise nodes that read values around them.
#include "tenon/verify/draw/onnx_drawers.h"

namespace tenon::verify {
namespace {

// A graph inside a node, under construction.
class Body {
 public:
  explicit Body(Draft& draft) : draft_(draft), has_names_of_others_(draft.Chance(30)) {
    graph_.set_name("body");
  }

  std::string Input() {
    graph_.add_input()->set_name(NewName());
    return graph_.input(graph_.input_size() - 1).name();
  }
  void Output(const std::string& name) { graph_.add_output()->set_name(name); }
  std::string Node(const std::string& type, const Names& inputs) {
    onnx::NodeProto* node = graph_.add_node();
    node->set_op_type(type);
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(NewName());
    return node->output(0);
  }
  // A value of the same type made from `x` and `y`, which have one type.
  std::string Mixed(const std::string& x, const std::string& y) {
    std::string made = x;
    for (std::int64_t more = 1 + draft_.random().Below(2); more > 0; --more)
      made = draft_.Chance(50) ? Node(draft_.Of(Names{"Tanh", "Neg", "Abs", "Relu"}), {made})
                               : Node(draft_.Of(Names{"Add", "Mul", "Sub", "Max"}), {made, y});
    return made;
  }
  onnx::GraphProto Take() { return std::move(graph_); }

 private:
  // Bodies that do not see each other may have the same names.
  std::string NewName() {
    return has_names_of_others_ ? "own" + std::to_string(++names_) : draft_.NewName("b");
  }

  Draft& draft_;
  const bool has_names_of_others_;
  int names_ = 0;
  onnx::GraphProto graph_;
};

std::string Condition(Draft& d) {
  return d.Chance(50) ? d.Tensor(Bool, d.Of(std::vector<Shape>{{}, {1}})).name
                      : d.Known(NDArray::Scalar<bool>(d.Chance(50)));
}

NodeDraft If(Draft& d) {
  const Value x = d.Any({Float32, Float32, Float64}, 0, 3);
  const Value y = d.Tensor(x.type, x.shape);
  const int results = static_cast<int>(1 + d.random().Below(2));
  NodeDraft node({Condition(d)}, results);
  for (const char* name : {"then_branch", "else_branch"}) {
    Body body(d);
    for (int i = 0; i < results; ++i) body.Output(body.Mixed(x.name, y.name));
    node.Graph(name, body.Take());
  }
  return node;
}

NodeDraft Loop(Draft& d) {
  const Value x = d.Any({Float32, Float32, Float64}, 0, 3);
  const Value y = d.Tensor(x.type, x.shape);
  const bool has_condition = d.Chance(40), scans = d.Chance(60);
  // Above 16 turns it is no longer unrolled.
  const std::int64_t turns = d.Chance(30) ? 17 + d.random().Below(5) : d.random().Below(5);
  const std::string start = d.Chance(3) ? "" : x.name;  // a value that is left out is refused
  NodeDraft node({d.KnownInt(turns), has_condition ? Condition(d) : "", start}, scans ? 2 : 1);
  Body body(d);
  body.Input();
  const std::string condition = body.Input(), carried = body.Input();
  body.Output(body.Node("Identity", {condition}));
  const std::string made = body.Mixed(carried, y.name);
  body.Output(made);
  if (scans) body.Output(body.Mixed(made, y.name));
  return node.Graph("body", body.Take());
}

NodeDraft Scan(Draft& d) {
  const DataType type = d.Of(Types{Float32, Float32, Float64});
  const Shape element = d.AnyShape(0, 2);
  const std::int64_t steps = d.Of(Ints{1, 2, 3, 5, 19});
  Shape scanned = element;
  scanned.insert(scanned.begin(), steps);
  Shape state = element;
  const bool is_old = d.opset() < 9;
  if (is_old) {
    const std::int64_t batch = d.Of(Ints{1, 2});
    scanned.insert(scanned.begin(), batch);
    state.insert(state.begin(), batch);
  }
  Names inputs = {d.Tensor(type, state).name, d.Tensor(type, scanned).name};
  if (is_old) inputs.insert(inputs.begin(), "");
  NodeDraft node(inputs, 2);
  Body body(d);
  const std::string carried = body.Input(), given = body.Input();
  const std::string made = body.Mixed(carried, given);
  body.Output(made);
  body.Output(body.Mixed(given, made));
  node.Graph("body", body.Take()).Int("num_scan_inputs", 1);
  if (!is_old && d.Chance(30)) node.IntList("scan_input_directions", {d.random().Below(2)});
  if (!is_old && d.Chance(30)) node.IntList("scan_output_directions", {d.random().Below(2)});
  if (!is_old && d.Chance(20)) node.IntList("scan_output_axes", {d.random().Below(2)});
  return node;
}

}  // namespace

void AddControlDrawers(DrawerTable* table) {
  DrawerTable& t = *table;
  t["If"] = If;
  t["Loop"] = Loop;
  t["Scan"] = Scan;
}

}  // namespace tenon::verify
