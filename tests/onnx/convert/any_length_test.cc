// Decoders whose batch, new positions and cache have any lengths, imported and compiled once.
#include <array>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using testing_graphs::Random;

constexpr auto kInt32 = TensorProto::INT32;
constexpr auto kInt64 = TensorProto::INT64;
constexpr std::int64_t kHeads = 4, kGroups = 2, kSize = 6;

NDArray Integers(const std::vector<std::int32_t>& values) {
  return NDArray::FromVector<std::int32_t>({static_cast<std::int64_t>(values.size())}, values);
}

// All positions are those of a mask, as exporters give them.
struct Decoder {
  bool rotates = false, is_packed = false;
  std::int64_t window = -1;
};

Model ModelOf(const Decoder& decoder) {
  const auto elements = [](std::int64_t heads) { return StrCat(heads * kSize); };
  Model model(17);
  Names names = {"q", "k", "v", "past_k", "past_v", "last", "total", "", ""};
  if (decoder.is_packed) {
    NamedInput(model, "q", {"b", "s", elements(kHeads + 2 * kGroups)});
    names[1] = names[2] = "";
  } else {
    NamedInput(model, "q", {"b", "s", elements(kHeads)});
    for (const char* name : {"k", "v"}) NamedInput(model, name, {"b", "s", elements(kGroups)});
  }
  for (const char* name : {"past_k", "past_v"})
    NamedInput(model, name, {"b", StrCat(kGroups), "p", StrCat(kSize)});
  NamedInput(model, "last", {"b"}, kInt32);
  NamedInput(model, "mask", {"b", "t"}, kInt64);
  model.Integers("one", {1}).Initializer("cosine", Random({40, kSize / 2}, 6));
  model.Initializer("sine", Random({40, kSize / 2}, 7));
  model.Node("Shape", {"mask"}, {"shape"});
  SetInt(model.Node("Gather", {"shape", "one"}, {"wide"}), "axis", 0);
  SetInt(model.Node("Cast", {"wide"}, {"total"}), "to", kInt32);
  if (decoder.rotates) names[7] = "cosine", names[8] = "sine";
  NodeProto& node = model.Node("GroupQueryAttention", names, {"y", "present_k", "present_v"},
                               "decoder", "com.microsoft");
  model.Output("y").Output("present_k").Output("present_v");
  SetInt(node, "num_heads", kHeads);
  SetInt(node, "kv_num_heads", kGroups);
  SetInt(node, "do_rotary", decoder.rotates ? 1 : 0);
  SetInt(node, "local_window_size", decoder.window);
  return model;
}

struct Step {
  std::int64_t past, length, total;
  std::vector<std::int32_t> last;  // of each sequence: its number of keys, less one
};

runtime::Inputs InputsOf(const Decoder& decoder, const Step& step) {
  const auto batch = static_cast<std::int64_t>(step.last.size());
  const auto of = [&](std::int64_t heads, int seed) {
    return Random({batch, step.length, heads * kSize}, seed);
  };
  runtime::Inputs inputs = {
      {"past_k", Random({batch, kGroups, step.past, kSize}, 4)},
      {"past_v", Random({batch, kGroups, step.past, kSize}, 5)},
      {"last", Integers(step.last)},
      {"mask", NDArray::FromVector<std::int64_t>(
                   {batch, step.total}, std::vector<std::int64_t>(batch * step.total, 1))}};
  inputs["q"] = of(decoder.is_packed ? kHeads + 2 * kGroups : kHeads, 1);
  if (!decoder.is_packed) {
    inputs["k"] = of(kGroups, 2);
    inputs["v"] = of(kGroups, 3);
  }
  return inputs;
}

// Prompts and later tokens, into caches that grow and into longer ones.
TEST(AnyLengthTest, GroupedQueriesReadCachesOfAnyLength) {
  const std::vector<Step> steps = {{6, 1, 7, {6}},    {9, 1, 5, {4}},           {1, 1, 2, {1, 1}},
                                   {4, 3, 7, {6, 5}}, {9, 2, 7, {6, 3}},        {3, 5, 5, {4, 2}},
                                   {16, 1, 17, {16}}, {30, 4, 34, {33, 20, 33}}};
  for (const Decoder& decoder : std::vector<Decoder>{
           {}, {.rotates = true}, {.is_packed = true}, {.rotates = true, .window = 3}}) {
    std::vector<runtime::Inputs> runs;
    for (const Step& step : steps) runs.push_back(InputsOf(decoder, step));
    ExpectRightForAll(ModelOf(decoder), runs);
  }
}

NDArray Tokens(std::int64_t batch, std::int64_t length) {
  std::vector<std::int32_t> tokens;
  for (std::int64_t i = 0; i < batch * length; ++i)
    tokens.push_back(static_cast<std::int32_t>(i * 5 % 13));
  return Integers(tokens).Reshape({batch, length});
}

TEST(AnyLengthTest, TokensAreEmbeddedWithTheirPlaces) {
  for (const bool has_mask : {false, true}) {
    Model model(17);
    NamedInput(model, "tokens", {"b", "s"}, kInt32);
    if (has_mask) NamedInput(model, "mask", {"b", "s"}, kInt32);
    model.Constant("words", Random({13, 8}, 1)).Constant("places", Random({40, 8}, 2));
    model.Constant("scale", Random({8}, 3)).Constant("shift", Random({8}, 4));
    model.Node("EmbedLayerNormalization",
               {"tokens", "", "words", "places", "", "scale", "shift", has_mask ? "mask" : ""},
               {"y", "counts"}, "embed", "com.microsoft");
    model.Output("y").Output("counts");
    std::vector<runtime::Inputs> runs;
    for (const auto& [batch, length] : {std::pair(1, 1), {2, 7}, {1, 16}, {3, 17}, {1, 40}}) {
      runs.push_back({{"tokens", Tokens(batch, length)}});
      if (has_mask) runs.back()["mask"] = Tokens(batch, length);
    }
    ExpectRightForAll(model, runs);
  }
}

// A mask of tokens, of lengths, or none.
TEST(AnyLengthTest, ProjectedTokensAttendToEachOther) {
  for (const int mask_rank : {0, 1, 2}) {
    for (const bool is_causal : {false, true}) {
      Model model(17);
      NamedInput(model, "x", {"b", "s", "6"});
      if (mask_rank == 1) NamedInput(model, "mask", {"b"}, kInt32);
      if (mask_rank == 2) NamedInput(model, "mask", {"b", "s"}, kInt32);
      model.Constant("w", Random({6, 36}, 1)).Constant("bias", Random({36}, 2));
      NodeProto& node = model.Node("Attention", {"x", "w", "bias", mask_rank > 0 ? "mask" : ""},
                                   {"y"}, "self", "com.microsoft");
      model.Output("y");
      SetInt(node, "num_heads", 2);
      SetInt(node, "unidirectional", is_causal ? 1 : 0);
      std::vector<runtime::Inputs> runs;
      for (const auto& [batch, length] : {std::pair(2, 7), {1, 16}, {3, 17}, {2, 2}}) {
        runs.push_back({{"x", Random({batch, length, 6}, 3)}});
        if (mask_rank == 1)
          runs.back()["mask"] = Integers(std::vector<std::int32_t>(batch, (length + 1) / 2));
        if (mask_rank == 2) runs.back()["mask"] = Tokens(batch, length);
      }
      ExpectRightForAll(model, runs);
    }
  }
}

TEST(AnyLengthTest, HeadsReadAPastOfAnyLength) {
  for (const bool is_causal : {false, true}) {
    Model model(17);
    for (const char* name : {"q", "k", "v"}) NamedInput(model, name, {"b", "s", "12"});
    for (const char* name : {"past_k", "past_v"}) NamedInput(model, name, {"b", "2", "p", "6"});
    model.Constant("bias", Random({36}, 2));
    NodeProto& node =
        model.Node("MultiHeadAttention", {"q", "k", "v", "bias", "", "", "past_k", "past_v"},
                   {"y", "present_k", "present_v"}, "heads", "com.microsoft");
    model.Output("y").Output("present_k").Output("present_v");
    SetInt(node, "num_heads", 2);
    SetInt(node, "unidirectional", is_causal ? 1 : 0);
    std::vector<runtime::Inputs> runs;
    for (const auto& [batch, length, past] :
         std::vector<std::array<std::int64_t, 3>>{{1, 1, 5}, {2, 7, 3}, {1, 16, 1}, {3, 2, 17}}) {
      runs.push_back(
          {{"past_k", Random({batch, 2, past, 6}, 4)}, {"past_v", Random({batch, 2, past, 6}, 5)}});
      for (const char* name : {"q", "k", "v"})
        runs.back()[name] = Random({batch, length, 12}, name[0]);
    }
    ExpectRightForAll(model, runs);
  }
}

TEST(AnyLengthTest, EmbeddingsAreRotatedFromAnyPlace) {
  Model model(17);
  NamedInput(model, "x", {"b", "s", "12"});
  NamedInput(model, "from", {"1"}, kInt64).Output("y");
  model.Constant("cosine", Random({50, 3}, 1)).Constant("sine", Random({50, 3}, 2));
  model.Node("RotaryEmbedding", {"x", "from", "cosine", "sine"}, {"y"}, "turn", "com.microsoft");
  std::vector<runtime::Inputs> runs;
  for (const auto& [batch, length] : {std::pair(1, 1), {2, 7}, {1, 16}, {3, 17}})
    runs.push_back({{"x", Random({batch, length, 12}, 5)},
                    {"from", NDArray::FromVector<std::int64_t>({1}, {length + 3})}});
  ExpectRightForAll(model, runs);
}

// The keys are those of the past and new ones. A mask that names them by a variable of its own, or
// by that sum, must have as many.
// Keys without a value are not seen; one value is that of all keys before opset 24.
TEST(AnyLengthTest, MasksMayHaveFewerKeys) {
  for (const int opset : {23, 24}) {
    for (const bool is_bool : {false, true}) {
      SCOPED_TRACE(StrCat(is_bool ? "bool " : "float ", opset));
      Model model(opset);
      for (const char* name : {"q", "k", "v"}) NamedInput(model, name, {"1", "2", "t", "8"});
      NamedInput(model, "mask", {"t", "s"}, is_bool ? TensorProto::BOOL : TensorProto::FLOAT);
      model.Output("y").Node("Attention", {"q", "k", "v", "mask"}, {"y"});
      const auto inputs = [&](std::int64_t t, std::int64_t s) {
        NDArray mask = Random({t, s}, 6);
        if (is_bool) {
          mask = NDArray::Zeros({t, s}, Bool);
          for (std::int64_t i = 0; i < t * s; ++i) mask.data<bool>()[i] = i % s == 0 || i % 3 != 0;
        }
        const Shape shape = {1, 2, t, 8};
        return runtime::Inputs{{"q", Random(shape, 1)},
                               {"k", Random(shape, 2)},
                               {"v", Random(shape, 3)},
                               {"mask", mask}};
      };
      ExpectRightForAll(model, {inputs(7, 5), inputs(7, 7), inputs(5, 1), inputs(17, 16)});
      const Executable exe =
          ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
      EXPECT_EQ(exe.Run(inputs(5, 6)).status().code(), absl::StatusCode::kInvalidArgument);
    }
  }
}

TEST(AnyLengthTest, MasksMayNameTheirKeysThemselves) {
  for (const bool is_bool : {false, true}) {
    for (const char* keys : {"s", "p + t"}) {
      SCOPED_TRACE(StrCat(is_bool ? "bool " : "float ", keys));
      Model model(23);
      for (const char* name : {"q", "k", "v"}) NamedInput(model, name, {"b", "2", "t", "8"});
      NamedInput(model, "mask", {"t", keys}, is_bool ? TensorProto::BOOL : TensorProto::FLOAT);
      for (const char* name : {"past_k", "past_v"}) NamedInput(model, name, {"b", "2", "p", "8"});
      model.Output("y").Output("all_k").Output("all_v");
      model.Node("Attention", {"q", "k", "v", "mask", "past_k", "past_v"}, {"y", "all_k", "all_v"});
      const auto inputs = [&](std::int64_t b, std::int64_t t, std::int64_t p, std::int64_t s) {
        const Shape fresh = {b, 2, t, 8}, past = {b, 2, p, 8};
        NDArray mask = Random({t, s}, 6);
        if (is_bool) {
          mask = NDArray::Zeros({t, s}, Bool);
          for (std::int64_t i = 0; i < t * s; ++i) mask.data<bool>()[i] = i % s == 0 || i % 3 != 0;
        }
        return runtime::Inputs{{"q", Random(fresh, 1)},     {"k", Random(fresh, 2)},
                               {"v", Random(fresh, 3)},     {"past_k", Random(past, 4)},
                               {"past_v", Random(past, 5)}, {"mask", mask}};
      };
      ExpectRightForAll(model, {inputs(2, 3, 4, 7), inputs(1, 1, 1, 2), inputs(1, 1, 17, 18),
                                inputs(3, 8, 8, 16)});
    }
  }
}

// As GPT-2 is exported: the rows of a table of 16 that belong to t tokens after a past of p are
// added to t tokens, whose heads are joined again then.
TEST(AnyLengthTest, PartsOfTablesAreAsLongAsTheirTokens) {
  for (const char* past : {"p", "#p"}) {
    Model model(13);
    NamedInput(model, "x", {"b", "t", "2", "3"});
    NamedInput(model, "past", {"b", past, "2"}).Output("y");
    model.Initializer("table", Random({16, 1, 1}, 3));
    model.Integers("0", {0}).Integers("1", {1}).Integers("-1", {-1});
    for (const std::string name : {"x", "past"}) {
      model.Node("Shape", {name}, {name + " shape"});
      model.Node("Gather", {name + " shape", "1"}, {name + " length"});
    }
    model.Node("Add", {"past length", "x length"}, {"end"});
    model.Node("Slice", {"table", "past length", "end", "0"}, {"rows"});
    model.Node("Add", {"x", "rows"}, {"moved"});
    model.Node("Gather", {"x shape", "0"}, {"batch"});
    SetInt(model.Node("Concat", {"batch", "x length", "-1"}, {"target"}), "axis", 0);
    model.Node("Reshape", {"moved", "target"}, {"y"});
    std::vector<runtime::Inputs> runs;
    for (const auto& [t, p] : {std::pair(1, 1), std::pair(3, 5), std::pair(7, 9), std::pair(4, 0)})
      if (p > 0 || past[0] == '#')
        runs.push_back({{"x", Random({2, t, 2, 3}, 1)}, {"past", Random({2, p, 2}, 2)}});
    ExpectRightForAll(model, runs, true);
  }
}

}  // namespace
}  // namespace tenon::onnx_import
