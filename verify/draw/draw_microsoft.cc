// Fused operators of ONNX Runtime's domain com.microsoft. Its quantised operators are in
// draw_quantize.cc.
#include "tenon/verify/draw/onnx_drawers.h"

namespace tenon::verify {
namespace {

const Types& Halves() {
  static const Types& types = *new Types{Float32, Float32, Float32, Float16};
  return types;
}

const Names& Activations() {
  static const Names& names =
      *new Names{"Relu", "Sigmoid", "Tanh", "LeakyRelu", "Clip", "HardSigmoid"};
  return names;
}

Drawer WithBias(bool must) {
  return [must](Draft& d) {
    const Value x = d.Any(Halves(), 1, 4);
    NodeDraft node({x.name});
    if (must || d.Chance(50)) node.proto.add_input(d.Tensor(x.type, {x.shape.back()}).name);
    return node;
  };
}

NodeDraft QuickGelu(Draft& d) {
  NodeDraft node({d.Any(Halves(), 0, 4).name});
  return d.Chance(60) ? node.Float("alpha", 1.5) : node;
}

NodeDraft FusedConv(Draft& d) {
  NodeDraft node = Drawers().at("Conv")(d);
  node.String("activation", d.Of(Activations()));
  if (d.Chance(50)) node.FloatList("activation_params", {0.25, 0.5});
  return node;
}

NodeDraft FusedGemm(Draft& d) {
  NodeDraft node = Drawers().at("Gemm")(d);
  node.String("activation", d.Of(Activations()));
  for (const char* name : {"activation_alpha", "activation_beta"}) {
    if (!d.Chance(60)) break;
    node.Float(name, 0.25);
  }
  return node;
}

NodeDraft FusedMatMul(Draft& d) {
  const std::int64_t m = d.Extent(), n = d.Extent(), k = d.Extent();
  const DataType type = d.Of(Halves());
  const bool ta = d.Chance(40), tb = d.Chance(40);
  Shape a = ta ? Shape{k, m} : Shape{m, k}, b = tb ? Shape{n, k} : Shape{k, n};
  if (d.Chance(40)) {
    const std::int64_t batch = d.Of(Ints{1, 2, 3});
    a.insert(a.begin(), batch);
    if (d.Chance(70)) b.insert(b.begin(), batch);
  }
  NodeDraft node({d.Tensor(type, a).name, d.Tensor(type, b).name});
  node.Int("transA", ta ? 1 : 0).Int("transB", tb ? 1 : 0);
  if (d.Chance(50)) node.Float("alpha", 0.5);
  return node;
}

NodeDraft MatMulNBits(Draft& d) {
  const std::int64_t bits = d.Of(Ints{2, 4, 4, 8}), block = d.Of(Ints{16, 32});
  const std::int64_t k = d.Of(Ints{16, 32, 33, 48, 5}), n = d.Of(Ints{1, 3, 8, 17});
  const std::int64_t count = (k + block - 1) / block;
  const NDArray packed = TypicalArray({n, count, block * bits / 8}, UInt8, d.random());
  NodeDraft node({d.Tensor(d.Of(Halves()), {d.Of(Ints{1, 3, 8}), k}).name, d.Known(packed),
                  d.Known(RandomArray({n * count}, Float32, d.random()))});
  if (d.Chance(40))
    node.proto.add_input(d.Known(TypicalArray({n * ((count * bits + 7) / 8)}, UInt8, d.random())));
  return node.Int("K", k).Int("N", n).Int("bits", bits).Int("block_size", block);
}

NodeDraft Attention(Draft& d) {
  const std::int64_t heads = d.Of(Ints{1, 2, 3}), head = d.Of(Ints{1, 4, 5}), size = heads * head;
  const std::int64_t batch = d.Of(Ints{1, 2}), length = d.Of(Ints{1, 3, 8}),
                     from = d.Of(Ints{3, 8});
  const DataType type = d.Of(Halves());
  const std::int64_t before = d.Chance(25) ? d.Of(Ints{1, 2, 5}) : 0;
  const std::int64_t keys = length + before;
  std::string mask;
  if (d.Chance(50)) {
    mask =
        d.Places(
             d.Of(std::vector<Shape>{{batch}, {2 * batch}, {batch, keys}, {batch, length, keys}}),
             keys + 1, Int32)
            .name;
  }
  NodeDraft node({d.Tensor(type, {batch, length, from}).name, d.Tensor(type, {from, 3 * size}).name,
                  d.Tensor(type, {3 * size}).name, mask,
                  before > 0 ? d.Tensor(type, {2, batch, heads, before, head}).name : ""},
                 before > 0 ? 2 : 1);
  if (d.Chance(25)) node.proto.add_input(d.Tensor(type, {batch, heads, length, keys}).name);
  node.Int("num_heads", heads);
  if (d.Chance(40)) node.Int("unidirectional", d.random().Below(2));
  if (d.Chance(20)) node.Float("scale", 0.5);
  return node;
}

NodeDraft MultiHeadAttention(Draft& d) {
  const std::int64_t heads = d.Of(Ints{1, 2, 3}), size = heads * d.Of(Ints{1, 4, 5});
  const std::int64_t batch = d.Of(Ints{1, 2}), length = d.Of(Ints{1, 3, 8}),
                     keys = d.Of(Ints{1, 4, 7});
  const DataType type = d.Of(Halves());
  NodeDraft node({d.Tensor(type, {batch, length, size}).name,
                  d.Tensor(type, {batch, keys, size}).name,
                  d.Tensor(type, {batch, keys, size}).name,
                  d.Chance(40) ? d.Tensor(type, {3 * size}).name : ""});
  if (d.Chance(40))
    node.proto.add_input(
        d.Places(d.Of(std::vector<Shape>{{batch}, {batch, keys}}), keys + 1, Int32).name);
  node.Int("num_heads", heads);
  if (d.Chance(30)) node.Int("unidirectional", d.random().Below(2));
  return node;
}

NodeDraft EmbedLayerNormalization(Draft& d) {
  const std::int64_t batch = d.Of(Ints{1, 2}), length = d.Of(Ints{1, 3, 8}),
                     size = d.Of(Ints{1, 4, 16});
  const std::int64_t words = d.Of(Ints{2, 7, 30});
  const bool has_segments = d.Chance(60);
  NodeDraft node({d.Places({batch, length}, words, Int32).name,
                  has_segments ? d.Places({batch, length}, 2, Int32).name : "",
                  d.Tensor(Float32, {words, size}).name,
                  d.Tensor(Float32, {length + d.random().Below(3), size}).name,
                  has_segments ? d.Tensor(Float32, {2, size}).name : "",
                  d.Tensor(Float32, {size}).name, d.Tensor(Float32, {size}).name},
                 static_cast<int>(1 + d.random().Below(2)));
  if (d.Chance(40)) node.proto.add_input(d.Places({batch, length}, 2, Int32).name);
  if (d.Chance(60)) node.Float("epsilon", 0.01);
  return node;
}

NodeDraft RotaryEmbedding(Draft& d) {
  const std::int64_t heads = d.Of(Ints{1, 2, 3}), half = d.Of(Ints{1, 2, 4});
  const std::int64_t batch = d.Of(Ints{1, 2}), length = d.Of(Ints{1, 3, 8}),
                     max_length = length + 2;
  const DataType type = d.Of(Halves());
  const bool by_heads = d.Chance(40);
  const Shape shape =
      by_heads ? Shape{batch, heads, length, 2 * half} : Shape{batch, length, heads * 2 * half};
  NodeDraft node({d.Tensor(type, shape).name,
                  d.Chance(50) ? d.Places({1}, 2, Int64).name
                               : d.Places({batch, length}, max_length, Int64).name,
                  d.Tensor(type, {max_length, half}).name,
                  d.Tensor(type, {max_length, half}).name});
  if (d.Chance(50)) node.Int("interleaved", d.random().Below(2));
  if (d.Chance(50)) node.Int("num_heads", heads);
  return node;
}

Drawer SkipNormalization(bool has_beta) {
  return [has_beta](Draft& d) {
    const Value x = d.Any({Float32, Float32, Float16}, 2, 3);
    const Shape each = {x.shape.back()};
    NodeDraft node({x.name, d.Tensor(x.type, x.shape).name, d.Tensor(x.type, each).name});
    if (has_beta) node.proto.add_input(d.Chance(70) ? d.Tensor(x.type, each).name : "");
    if (d.Chance(40)) node.proto.add_input(d.Tensor(x.type, each).name);
    return node.Float("epsilon", 0.01);
  };
}

}  // namespace

void AddMicrosoftDrawers(DrawerTable* table) {
  const auto add = [&](const std::string& name, const Drawer& drawer) {
    (*table)["com.microsoft." + name] = drawer;
  };
  add("Attention", Attention);
  add("BiasGelu", WithBias(true));
  add("EmbedLayerNormalization", EmbedLayerNormalization);
  add("FastGelu", WithBias(false));
  add("FusedConv", FusedConv);
  add("FusedGemm", FusedGemm);
  add("FusedMatMul", FusedMatMul);
  add("Gelu", [](Draft& d) { return NodeDraft({d.Any(Halves(), 0, 4).name}); });
  add("MatMulNBits", MatMulNBits);
  add("MultiHeadAttention", MultiHeadAttention);
  add("QuickGelu", QuickGelu);
  add("RotaryEmbedding", RotaryEmbedding);
  add("SkipLayerNormalization", SkipNormalization(true));
  add("SkipSimplifiedLayerNormalization", SkipNormalization(false));
}

}  // namespace tenon::verify
