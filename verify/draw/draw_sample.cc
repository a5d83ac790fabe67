// Operators that sample, fold, crop and pool images, run products up an axis, read bits and count
// n-grams.
#include <algorithm>

#include "tenon/onnx/tensor.h"
#include "tenon/verify/draw/onnx_drawers.h"

namespace tenon::verify {
namespace {

NodeDraft AffineGrid(Draft& d) {
  const std::int64_t dims = d.Of(Ints{2, 2, 3}), batch = d.Of(Ints{1, 2});
  Ints size = {batch, 3};
  for (std::int64_t i = 0; i < dims; ++i) size.push_back(d.Of(Ints{1, 3, 5}));
  NodeDraft node(
      {d.Tensor(d.Of(Types{Float32, Float64}), {batch, dims, dims + 1}).name, d.KnownInts(size)});
  if (d.Chance(50)) node.Int("align_corners", 1);
  return node;
}

NodeDraft CenterCropPad(Draft& d) {
  const Value x = d.Any(kNumbers, 1, 4);
  const Ints axes = d.Axes(x);
  Ints shape;
  for (std::size_t i = 0; i < axes.size(); ++i) shape.push_back(d.Of(Ints{1, 2, 5, 8}));
  NodeDraft node({x.name, d.KnownInts(shape)});
  if (axes.empty()) return node;
  return node.IntList("axes", axes);
}

NodeDraft Col2Im(Draft& d) {
  const std::int64_t dims = d.Of(Ints{1, 2, 2});
  Ints image, block, strides;
  std::int64_t blocks = 1, taps = 1;
  for (std::int64_t i = 0; i < dims; ++i) {
    image.push_back(d.Of(Ints{3, 5, 6}));
    block.push_back(d.Of(Ints{1, 2, 3}));
    strides.push_back(d.Of(Ints{1, 1, 2}));
    blocks *= (image.back() - block.back()) / strides.back() + 1;
    taps *= block.back();
  }
  NodeDraft node({d.Tensor(d.Of(kFloats), {d.Of(Ints{1, 2}), taps * d.Of(Ints{1, 3}), blocks}).name,
                  d.KnownInts(image), d.KnownInts(block)});
  return node.IntList("strides", strides);
}

NodeDraft DeformConv(Draft& d) {
  const std::int64_t groups = d.Of(Ints{1, 1, 2}), parts = d.Of(Ints{1, 1, 2});
  const std::int64_t in = 2 * d.Of(Ints{1, 2}), out = 2 * d.Of(Ints{1, 2}), size = d.Of(Ints{4, 5});
  const std::int64_t kernel = d.Of(Ints{1, 2, 3}), places = size - kernel + 1;
  NodeDraft node({d.Tensor(Float32, {1, in, size, size}).name,
                  d.Tensor(Float32, {out, in / groups, kernel, kernel}).name,
                  d.Tensor(Float32, {1, parts * kernel * kernel * 2, places, places}).name});
  if (d.Chance(50)) {
    node.proto.add_input(d.Chance(50) ? d.Tensor(Float32, {out}).name : std::string());
    if (d.Chance(60))
      node.proto.add_input(d.Tensor(Float32, {1, parts * kernel * kernel, places, places}).name);
  }
  return node.Int("group", groups).Int("offset_group", parts);
}

NodeDraft LpPool(Draft& d) {
  const std::int64_t dims = d.Of(Ints{1, 2, 2, 3});
  Shape shape = {1, d.Of(Ints{1, 3})};
  Ints kernel;
  for (std::int64_t i = 0; i < dims; ++i) {
    shape.push_back(d.Of(Ints{3, 5, 7}));
    kernel.push_back(d.Of(Ints{1, 2, 3}));
  }
  NodeDraft node({d.Tensor(d.Of(Types{Float32, Float64}), shape).name});
  node.IntList("kernel_shape", kernel).Int("p", 1 + d.random().Below(3));
  if (d.Chance(40)) node.IntList("strides", Ints(static_cast<std::size_t>(dims), 2));
  if (d.opset() >= 18 && d.Chance(40)) node.Int("ceil_mode", 1);
  return node;
}

NodeDraft GlobalLpPool(Draft& d) {
  NodeDraft node({d.Any({Float32, Float64}, 3, 5).name});
  return node.Int("p", 1 + d.random().Below(3));
}

NodeDraft CumProd(Draft& d) {
  const Value x = d.Any({Float32, Float64, Int32, Int64}, 1, 4);
  NodeDraft node({x.name, d.Known(NDArray::Scalar<std::int64_t>(d.Axis(x)))});
  if (d.Chance(40)) node.Int("exclusive", 1);
  if (d.Chance(40)) node.Int("reverse", 1);
  return node;
}

NodeDraft BitCast(Draft& d) {
  const std::vector<std::pair<DataType, DataType>> pairs = {
      {Int32, UInt32},  {UInt8, Int8},     {Int64, UInt64},  {Float32, Int32}, {Float16, Int16},
      {Float64, Int64}, {BFloat16, Int16}, {Int32, Float32}, {Int64, Float64}};
  const auto& [from, to] = d.Of(pairs);
  NodeDraft node({d.Any({from}, 0, 4).name});
  return node.Int("to", onnx_import::ToOnnxType(to));
}

NodeDraft TfIdfVectorizer(Draft& d) {
  const std::int64_t longest = d.Of(Ints{1, 2, 3});
  Ints counts, indexes, items;
  for (std::int64_t n = 1; n <= longest; ++n) {
    counts.push_back(static_cast<std::int64_t>(items.size()));
    for (std::int64_t gram = d.random().Below(3) + 1; gram > 0; --gram) {
      indexes.push_back(static_cast<std::int64_t>(indexes.size()));
      for (std::int64_t k = 0; k < n; ++k) items.push_back(d.random().Below(4));
    }
  }
  const Shape shape = d.Chance(50) ? Shape{6} : Shape{2, 5};
  NodeDraft node({d.Places(shape, 4, d.Of(Types{Int32, Int64})).name});
  node.IntList("ngram_counts", counts).IntList("ngram_indexes", indexes);
  node.IntList("pool_int64s", items).String("mode", d.Of(Names{"TF", "IDF", "TFIDF"}));
  return node.Int("min_gram_length", 1 + d.random().Below(longest))
      .Int("max_gram_length", longest)
      .Int("max_skip_count", d.random().Below(3));
}

}  // namespace

void AddSampleDrawers(DrawerTable* table) {
  DrawerTable& t = *table;
  t["AffineGrid"] = AffineGrid;
  t["BitCast"] = BitCast;
  t["CenterCropPad"] = CenterCropPad;
  t["Col2Im"] = Col2Im;
  t["CumProd"] = CumProd;
  t["DeformConv"] = DeformConv;
  t["GlobalLpPool"] = GlobalLpPool;
  t["LpPool"] = LpPool;
  t["TfIdfVectorizer"] = TfIdfVectorizer;
}

}  // namespace tenon::verify
