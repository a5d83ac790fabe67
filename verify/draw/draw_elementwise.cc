// Elementwise functions, casts, and reductions and normalisations along axes.
#include <algorithm>

#include "tenon/onnx/tensor.h"
#include "tenon/verify/draw/onnx_drawers.h"

namespace tenon::verify {
namespace {

Drawer Unary(const Types& types) {
  return [types](Draft& d) { return NodeDraft({d.Any(types, 0, 5).name}); };
}

// A unary operator with float attributes, each given half of the time.
Drawer UnaryWith(const Names& attributes) {
  return [attributes](Draft& d) {
    NodeDraft node({d.Any(kFloats, 0, 5).name});
    for (const std::string& name : attributes) {
      if (d.Chance(50)) node.Float(name, d.Of(std::vector<double>{0, 0.25, 0.5, 1, 2, -1, 3}));
    }
    return node;
  };
}

Value Partner(Draft& d, const Value& x) { return d.Tensor(x.type, d.Broadcasting(x.shape)); }

Names EitherOrder(Draft& d, const Value& a, const Value& b) {
  return d.Chance(70) ? Names{a.name, b.name} : Names{b.name, a.name};
}

Drawer Binary(const Types& types) {
  return [types](Draft& d) {
    const Value a = d.Any(types, 0, 5);
    return NodeDraft(EitherOrder(d, a, Partner(d, a)));
  };
}

Drawer Variadic(const Types& types) {
  return [types](Draft& d) {
    const Value a = d.Any(types, 0, 4);
    Names inputs = {a.name};
    for (std::int64_t more = d.random().Below(4); more > 0; --more)
      inputs.push_back(Partner(d, a).name);
    return NodeDraft(inputs);
  };
}

NodeDraft BitShift(Draft& d) {
  const Value a = d.Any({UInt8, UInt16, UInt32, UInt64}, 0, 4);
  return NodeDraft({a.name, Partner(d, a).name}).String("direction", d.Of(Names{"LEFT", "RIGHT"}));
}

NodeDraft Mod(Draft& d) {
  const Value a = d.Any(kNumbers, 0, 4);
  NodeDraft node({a.name, Partner(d, a).name});
  if (a.type.is_float() || d.Chance(40)) node.Int("fmod", 1);
  return node;
}

NodeDraft Pow(Draft& d) {
  const Value a = d.Any(kSigned, 0, 4);
  return NodeDraft({a.name, d.Tensor(d.Of(kSigned), d.Broadcasting(a.shape)).name});
}

NodeDraft PRelu(Draft& d) {
  const Value x = d.Any(kSigned, 0, 4);
  return NodeDraft({x.name, Partner(d, x).name});
}

NodeDraft Where(Draft& d) {
  const Value x = d.Any(kAll, 0, 4);
  const Value condition = d.Tensor(Bool, d.Broadcasting(x.shape));
  const Names two = EitherOrder(d, x, Partner(d, x));
  return NodeDraft({condition.name, two[0], two[1]});
}

NodeDraft Cast(Draft& d) {
  NodeDraft node({d.Any(kAll, 0, 4).name});
  node.Int("to", onnx_import::ToOnnxType(d.Of(kAll)));
  if (d.opset() >= 19 && d.Chance(30)) node.Int("saturate", d.random().Below(2));
  return node;
}

NodeDraft CastLike(Draft& d) { return NodeDraft({d.Any(kAll, 0, 4).name, d.Any(kAll, 0, 2).name}); }

NodeDraft Clip(Draft& d) {
  const Value x = d.Any(kNumbers, 0, 4);
  if (d.opset() < 11) {
    NodeDraft node({x.name});
    if (d.Chance(70)) node.Float("min", d.Of(std::vector<double>{-1, 0, 0.25}));
    if (d.Chance(70)) node.Float("max", d.Of(std::vector<double>{6, 1, -2}));
    return node;
  }
  const auto bound = [&] { return d.Chance(75) ? d.Tensor(x.type, {}).name : std::string(); };
  Names inputs = {x.name, bound(), bound()};
  while (inputs.back().empty()) inputs.pop_back();
  return NodeDraft(inputs);
}

NodeDraft IsInf(Draft& d) {
  NodeDraft node({d.Any(kFloats, 0, 4).name});
  for (const char* name : {"detect_negative", "detect_positive"}) {
    if (d.Chance(50)) node.Int(name, d.random().Below(2));
  }
  return node;
}

NodeDraft Gelu(Draft& d) {
  NodeDraft node({d.Any(kFloats, 0, 4).name});
  if (d.Chance(60)) node.String("approximate", d.Of(Names{"none", "tanh"}));
  return node;
}

Drawer AlongAxis(const Types& types) {
  return [types](Draft& d) {
    const Value x = d.Any(types, 1, 4);
    NodeDraft node({x.name});
    if (d.Chance(80)) node.Int("axis", d.Axis(x));
    return node;
  };
}

// Axes that a run decides, each once. Some are not there.
std::string AxesOfARun(Draft& d, const Value& x) {
  const std::int64_t count = 1 + d.random().Below(std::max<std::int64_t>(1, x.rank()));
  if (d.Chance(60)) return d.Input(Int64, {count}).name;
  // Made of an input, so that their range is known.
  const std::string input = d.Input(Int64, {count}).name;
  const auto number = [&](std::int64_t n) {
    return d.Constant(NDArray::FromVector<std::int64_t>({1}, {n})).name;
  };
  const std::string rest =
      d.Append("", "Mod", NodeDraft({input, number(std::max<std::int64_t>(1, x.rank()))}))
          ->output(0);
  if (d.Chance(60)) return rest;
  return d.Append("", "Sub", NodeDraft({rest, number(x.rank())}))->output(0);
}

// Axes are an input from opset `input_since` on.
Drawer Reduce(int input_since, const Types& types) {
  return [input_since, types](Draft& d) {
    const Value x = d.Any(types, 0, 5);
    NodeDraft node({x.name});
    if (d.opset() >= input_since && d.Chance(15)) {
      node.proto.add_input(AxesOfARun(d, x));
      if (d.Chance(85)) return node.Int("keepdims", 1);
    } else if (d.Chance(80)) {
      const Ints axes = d.Axes(x);
      if (d.opset() >= input_since) {
        node.proto.add_input(d.KnownInts(axes));
      } else {
        node.IntList("axes", axes);
      }
    }
    if (d.Chance(60)) node.Int("keepdims", d.random().Below(2));
    if (d.opset() >= input_since && d.Chance(20))
      node.Int("noop_with_empty_axes", d.random().Below(2));
    return node;
  };
}

NodeDraft ArgReduce(Draft& d) {
  const Value x = d.Any(kNumbers, 1, 4);
  NodeDraft node({x.name});
  if (d.Chance(80)) node.Int("axis", d.Axis(x));
  if (d.Chance(50)) node.Int("keepdims", d.random().Below(2));
  if (d.opset() >= 12 && d.Chance(40)) node.Int("select_last_index", d.random().Below(2));
  return node;
}

}  // namespace

void AddElementwiseDrawers(DrawerTable* table) {
  DrawerTable& t = *table;
  for (const char* name :
       {"Acos",     "Acosh",    "Asin",       "Asinh", "Atan",    "Atanh",     "Ceil",
        "Cos",      "Cosh",     "Erf",        "Exp",   "Floor",   "HardSwish", "IsNaN",
        "Log",      "Mish",     "Reciprocal", "Round", "Sigmoid", "Sin",       "Sinh",
        "Softplus", "Softsign", "Sqrt",       "Tan",   "Tanh"})
    t[name] = Unary(kFloats);
  for (const char* name : {"Abs", "Relu", "Sign", "Neg"}) t[name] = Unary(kSigned);
  t["Identity"] = Unary(kAll);
  t["Not"] = Unary(kBools);
  t["BitwiseNot"] = Unary(kIntegers);
  t["Celu"] = t["Elu"] = t["LeakyRelu"] = t["ThresholdedRelu"] = UnaryWith({"alpha"});
  t["HardSigmoid"] = UnaryWith({"alpha", "beta"});
  t["Selu"] = UnaryWith({"alpha", "gamma"});
  t["Shrink"] = UnaryWith({"lambd", "bias"});
  for (const char* name : {"Add", "Sub", "Mul", "Div"}) t[name] = Binary(kNumbers);
  for (const char* name : {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"})
    t[name] = Binary(kNumbers);
  for (const char* name : {"And", "Or", "Xor"}) t[name] = Binary(kBools);
  for (const char* name : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) t[name] = Binary(kIntegers);
  t["Max"] = t["Min"] = Variadic(kNumbers);
  t["Sum"] = t["Mean"] = Variadic(kFloats);
  t["BitShift"] = BitShift;
  t["Mod"] = Mod;
  t["Pow"] = Pow;
  t["PRelu"] = PRelu;
  t["Where"] = Where;
  t["Cast"] = Cast;
  t["CastLike"] = CastLike;
  t["Clip"] = Clip;
  t["IsInf"] = IsInf;
  t["Gelu"] = Gelu;
  for (const char* name : {"Softmax", "LogSoftmax", "Hardmax"}) t[name] = AlongAxis(kFloats);
  for (const char* name : {"ReduceMax", "ReduceMin"}) t[name] = Reduce(18, kNumbers);
  for (const char* name : {"ReduceL1", "ReduceMean", "ReduceProd", "ReduceSumSquare"})
    t[name] = Reduce(18, kSigned);
  for (const char* name : {"ReduceL2", "ReduceLogSum", "ReduceLogSumExp"})
    t[name] = Reduce(18, kFloats);
  t["ReduceSum"] = Reduce(13, kSigned);
  t["ArgMax"] = t["ArgMin"] = ArgReduce;
}

}  // namespace tenon::verify
