// Attention of the standard and of decoders, what stands around it, and normalisations of the
// latest opsets.
#include "tenon/verify/draw/onnx_drawers.h"

namespace tenon::verify {
namespace {

// Extents that all inputs of an attention share.
struct Heads {
  std::int64_t batch, heads, groups, queries, keys, size, value_size;
};

Heads AnyHeads(Draft& d) {
  const std::int64_t groups = d.Of(Ints{1, 1, 2}), size = d.Of(Ints{2, 4, 6, 8});
  return {.batch = d.Of(Ints{1, 1, 2}),
          .heads = groups * d.Of(Ints{1, 2, 3}),
          .groups = groups,
          .queries = d.Of(Ints{1, 3, 5}),
          .keys = d.Of(Ints{1, 4, 7}),
          .size = size,
          .value_size = d.Chance(70) ? size : d.Of(Ints{1, 3, 5})};
}

NodeDraft Attention(Draft& d) {
  const Heads of = AnyHeads(d);
  const DataType type = d.Of(Types{Float32, Float32, Float64, Float16});
  const bool by_heads = d.Chance(60);
  const auto tensor = [&](std::int64_t heads, std::int64_t length, std::int64_t size) {
    return d.Tensor(type, by_heads ? Shape{of.batch, heads, length, size}
                                   : Shape{of.batch, length, heads * size});
  };
  NodeDraft node({tensor(of.heads, of.queries, of.size).name,
                  tensor(of.groups, of.keys, of.size).name,
                  tensor(of.groups, of.keys, of.value_size).name});
  const std::int64_t past = d.Chance(40) ? 3 : 0, all = of.keys + past;
  if (d.Chance(50)) {
    Shape mask = {of.queries, all};
    if (d.Chance(40)) mask.insert(mask.begin(), d.Of(Ints{1, of.heads}));
    if (mask.size() == 3 && d.Chance(60)) mask.insert(mask.begin(), d.Of(Ints{1, of.batch}));
    node.proto.add_input(d.Tensor(d.Chance(70) ? type : Bool, mask).name);
  } else {
    node.proto.add_input("");
  }
  for (const std::int64_t size : {of.size, of.value_size})
    node.proto.add_input(past > 0 ? d.Tensor(type, {of.batch, of.groups, past, size}).name
                                  : std::string());
  if (past == 0 && d.Chance(25))
    node.proto.add_input(d.Constant(NDArray::FromVector<std::int64_t>(
                                        {of.batch}, std::vector<std::int64_t>(
                                                        static_cast<std::size_t>(of.batch), all)))
                             .name);
  if (!by_heads || d.Chance(20)) node.Int("q_num_heads", of.heads).Int("kv_num_heads", of.groups);
  if (d.Chance(30)) node.Float("scale", 0.5);
  if (d.Chance(30)) node.Float("softcap", 2);
  if (d.Chance(40)) node.Int("is_causal", 1);
  node.outputs = d.Chance(30) ? 4 : d.Chance(40) ? 3 : 1;
  if (node.outputs == 4) node.Int("qk_matmul_output_mode", d.random().Below(4));
  return node;
}

NodeDraft GroupQueryAttention(Draft& d) {
  const Heads of = AnyHeads(d);
  const std::int64_t past = d.Of(Ints{0, 4, 6});
  const std::int64_t total = past == 0 || d.Chance(60) ? past + of.queries : past;
  const bool rotates = d.Chance(40);
  const auto cache = [&] {
    return past == 0 ? std::string() : d.Tensor(Float32, {of.batch, of.groups, past, of.size}).name;
  };
  const auto made = [&](std::int64_t heads) {
    return d.Tensor(Float32, {of.batch, of.queries, heads * of.size}).name;
  };
  NodeDraft node({made(of.heads), made(of.groups), made(of.groups), cache(), cache()}, 3);
  const std::vector<std::int32_t> last(static_cast<std::size_t>(of.batch),
                                       static_cast<std::int32_t>(total - 1));
  node.proto.add_input(d.Constant(NDArray::FromVector<std::int32_t>({of.batch}, last)).name);
  node.proto.add_input(d.Known(NDArray::Scalar<std::int32_t>(static_cast<std::int32_t>(total))));
  if (rotates) {
    for (int i = 0; i < 2; ++i) node.proto.add_input(d.Tensor(Float32, {16, of.size / 2}).name);
    node.Int("do_rotary", 1).Int("rotary_interleaved", d.random().Below(2));
  }
  node.Int("num_heads", of.heads).Int("kv_num_heads", of.groups);
  if (d.Chance(30)) node.Int("local_window_size", 2);
  if (d.Chance(30)) node.Float("softcap", 2);
  if (d.Chance(20)) node.Int("smooth_softmax", 1);
  return node;
}

NodeDraft RotaryEmbedding(Draft& d) {
  const std::int64_t batch = d.Of(Ints{1, 2}), length = d.Of(Ints{1, 5}), heads = d.Of(Ints{1, 3});
  const std::int64_t size = d.Of(Ints{4, 6, 8}), turned = d.Chance(70) ? size : 2;
  const DataType type = d.Of(kFloats);
  const bool by_heads = d.Chance(50), by_place = d.Chance(50);
  const Value x = d.Tensor(
      type, by_heads ? Shape{batch, heads, length, size} : Shape{batch, length, heads * size});
  const Shape table = by_place ? Shape{9, turned / 2} : Shape{batch, length, turned / 2};
  NodeDraft node({x.name, d.Tensor(type, table).name, d.Tensor(type, table).name});
  if (by_place) node.proto.add_input(d.Places({batch, length}, 9, Int64).name);
  if (!by_heads) node.Int("num_heads", heads);
  if (turned != size) node.Int("rotary_embedding_dim", turned);
  if (d.Chance(40)) node.Int("interleaved", 1);
  return node;
}

NodeDraft TensorScatter(Draft& d) {
  Value cache = d.Any(kFloats, 2, 4);
  const std::int64_t axis = 1 + d.random().Below(cache.rank() - 1);
  const std::int64_t extent = cache.shape[static_cast<std::size_t>(axis)];
  Shape shape = cache.shape;
  std::int64_t& length = shape[static_cast<std::size_t>(axis)];
  length = extent == 0 ? 0 : 1 + d.random().Below(extent);
  NodeDraft node({cache.name, d.Tensor(cache.type, shape).name});
  const bool is_circular = d.Chance(40);
  if (d.Chance(80))
    node.proto.add_input(
        d.Places({cache.shape[0]},
                 is_circular ? std::max<std::int64_t>(extent, 1) : extent - length + 1, Int64)
            .name);
  node.Int("axis", d.Chance(50) ? axis : axis - cache.rank());
  if (is_circular) node.String("mode", "circular");
  return node;
}

NodeDraft RmsNormalization(Draft& d) {
  const Value x = d.Any({Float32, Float32, Float64, Float16}, 1, 4);
  const std::int64_t axis = d.Chance(60) ? -1 : d.Axis(x);
  const Shape normalised(x.shape.begin() + (axis < 0 ? axis + x.rank() : axis), x.shape.end());
  NodeDraft node({x.name, d.Tensor(x.type, normalised).name});
  return node.Float("epsilon", 0.01).Int("axis", axis);
}

NodeDraft GroupNormalization(Draft& d) {
  const std::int64_t groups = d.Of(Ints{1, 2, 3}), channels = groups * d.Of(Ints{1, 2, 4});
  Shape shape = {d.Of(Ints{1, 2}), channels, d.Of(Ints{1, 5})};
  if (d.Chance(50)) shape.push_back(d.Of(Ints{1, 3}));
  const Shape scale = {d.opset() < 21 ? groups : channels};
  NodeDraft node({d.Tensor(Float32, shape).name, d.Tensor(Float32, scale).name,
                  d.Tensor(Float32, scale).name});
  return node.Int("num_groups", groups).Float("epsilon", 0.01);
}

NodeDraft LpNormalization(Draft& d) {
  const Value x = d.Any({Float32, Float64}, 1, 4);
  NodeDraft node({x.name});
  return node.Int("p", 1 + d.random().Below(2)).Int("axis", d.Axis(x));
}

NodeDraft LinearAttention(Draft& d) {
  const Heads of = AnyHeads(d);
  const std::string rule = d.Of(Names{"linear", "gated", "delta", "gated_delta"});
  const bool decays = rule.starts_with("gated"), corrects = rule.ends_with("delta");
  const auto tensor = [&](std::int64_t size) {
    return d.Tensor(Float32, {of.batch, of.queries, size}).name;
  };
  NodeDraft node(
      {tensor(of.heads * of.size), tensor(of.groups * of.size), tensor(of.groups * of.value_size)},
      2);
  node.proto.add_input(d.Chance(50)
                           ? d.Tensor(Float32, {of.batch, of.groups, of.size, of.value_size}).name
                           : std::string());
  node.proto.add_input(decays ? tensor(of.groups * d.Of(Ints{1, of.size})) : std::string());
  if (corrects) node.proto.add_input(tensor(d.Of(Ints{1, of.groups})));
  node.Int("q_num_heads", of.heads).Int("kv_num_heads", of.groups);
  return node.String("update_rule", rule);
}

NodeDraft CausalConvWithState(Draft& d) {
  const std::int64_t batch = d.Of(Ints{1, 2}), channels = d.Of(Ints{1, 3, 8}),
                     size = d.Of(Ints{1, 2, 4});
  NodeDraft node({d.Tensor(Float32, {batch, channels, d.Of(Ints{1, 5})}).name,
                  d.Weights(Float32, {channels, 1, size}).name},
                 2);
  node.proto.add_input(d.Chance(50) ? d.Tensor(Float32, {channels}).name : std::string());
  if (d.Chance(60)) node.proto.add_input(d.Tensor(Float32, {batch, channels, size - 1}).name);
  return node.String("activation", d.Of(Names{"none", "silu", "swish"}));
}

NodeDraft Swish(Draft& d) {
  NodeDraft node({d.Any(kFloats, 0, 4).name});
  if (d.Chance(50)) node.Float("alpha", 0.5);
  return node;
}

NodeDraft SwiGlu(Draft& d) {
  const Value gate = d.Any(kFloats, 0, 4);
  NodeDraft node({gate.name, d.Tensor(gate.type, gate.shape).name});
  if (d.Chance(50)) node.Float("alpha", 0.5);
  return node;
}

}  // namespace

void AddAttentionDrawers(DrawerTable* table) {
  DrawerTable& t = *table;
  t["Attention"] = Attention;
  t["CausalConvWithState"] = CausalConvWithState;
  t["GroupNormalization"] = GroupNormalization;
  t["LinearAttention"] = LinearAttention;
  t["LpNormalization"] = LpNormalization;
  t["RMSNormalization"] = t["SimplifiedLayerNormalization"] = RmsNormalization;
  t["RotaryEmbedding"] = RotaryEmbedding;
  t["SwiGLU"] = SwiGlu;
  t["Swish"] = Swish;
  t["TensorScatter"] = TensorScatter;
  t["com.microsoft.GroupQueryAttention"] = GroupQueryAttention;
}

}  // namespace tenon::verify
