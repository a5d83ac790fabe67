// Gathers, scatters, sorting, and values whose extents are known only at run time.
#include <algorithm>

#include "tenon/verify/draw/onnx_drawers.h"

namespace tenon::verify {
namespace {

std::int64_t ExtentAt(const Value& x, std::int64_t axis) {
  return x.shape[static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis)];
}

NodeDraft Gather(Draft& d) {
  const Value x = d.Any(kAll, 1, 4);
  const std::int64_t axis = d.Axis(x);
  return NodeDraft({x.name, d.Indices(d.AnyShape(0, 2), ExtentAt(x, axis)).name}).Int("axis", axis);
}

Shape Smaller(Draft& d, const Shape& shape) {
  Shape smaller;
  for (const std::int64_t extent : shape)
    smaller.push_back(d.Chance(50) ? extent : d.random().Below(extent + 1));
  return smaller;
}

NodeDraft GatherElements(Draft& d) {
  const Value x = d.Any(kAll, 1, 4);
  const std::int64_t axis = d.Axis(x);
  return NodeDraft({x.name, d.Indices(Smaller(d, x.shape), ExtentAt(x, axis)).name})
      .Int("axis", axis);
}

NodeDraft ScatterElements(Draft& d) {
  const Value x = d.Any(kNumbers, 1, 4);
  const std::int64_t axis = d.Axis(x);
  const Shape shape = Smaller(d, x.shape);
  NodeDraft node({x.name, d.Indices(shape, ExtentAt(x, axis)).name, d.Tensor(x.type, shape).name});
  node.Int("axis", axis);
  if (d.opset() >= 16 && d.Chance(50))
    node.String("reduction", d.Of(Names{"none", "add", "mul", "max", "min"}));
  return node;
}

// Indices whose tuples point into the first axes after `batch`.
Value Tuples(Draft& d, const Value& x, std::int64_t batch, std::int64_t length) {
  Shape shape(x.shape.begin(), x.shape.begin() + batch);
  for (std::int64_t more = d.random().Below(3); more > 0; --more)
    shape.push_back(d.Of(Ints{1, 2, 3, 5}));
  shape.push_back(length);
  std::int64_t min_extent = 1 << 20;
  for (std::int64_t i = 0; i < length; ++i)
    min_extent = std::min(min_extent, x.shape[static_cast<std::size_t>(batch + i)]);
  return d.Indices(shape, min_extent);
}

NodeDraft GatherND(Draft& d) {
  const Value x = d.Any(kAll, 1, 4);
  const std::int64_t batch = d.opset() >= 12 && d.Chance(40) ? d.random().Below(x.rank()) : 0;
  const std::int64_t length = 1 + d.random().Below(x.rank() - batch);
  NodeDraft node({x.name, Tuples(d, x, batch, length).name});
  if (batch > 0) node.Int("batch_dims", batch);
  return node;
}

NodeDraft ScatterND(Draft& d) {
  const Value x = d.Any(kNumbers, 1, 4);
  const std::int64_t length = 1 + d.random().Below(x.rank());
  const Value indices = Tuples(d, x, 0, length);
  Shape updates(indices.shape.begin(), indices.shape.end() - 1);
  updates.insert(updates.end(), x.shape.begin() + length, x.shape.end());
  NodeDraft node({x.name, indices.name, d.Tensor(x.type, updates).name});
  if (d.opset() >= 16 && d.Chance(50))
    node.String("reduction", d.Of(Names{"none", "add", "mul", "max", "min"}));
  return node;
}

NodeDraft Compress(Draft& d) {
  const Value x = d.Any(kAll, 1, 3);
  NodeDraft node({x.name});
  std::int64_t length = 1;
  if (d.Chance(60)) {
    const std::int64_t axis = d.Axis(x);
    node.Int("axis", axis);
    length = ExtentAt(x, axis);
  } else {
    length = NumElements(x.shape);
  }
  if (d.Chance(30)) length = d.random().Below(length + 1);
  node.proto.add_input(d.Known(RandomArray({length}, Bool, d.random())));
  return node;
}

NodeDraft OneHot(Draft& d) {
  const Shape shape = d.AnyShape(0, 3);
  const std::int64_t depth = 1 + d.random().Below(6);
  const Value indices = d.Chance(70) ? d.Indices(shape, depth) : d.Tensor(d.Of(kNumbers), shape);
  NodeDraft node({indices.name, d.KnownInt(depth), d.Tensor(d.Of(kAll), {2}).name});
  if (d.Chance(60)) node.Int("axis", d.random().Below(indices.rank() + 1) - d.random().Below(2));
  return node;
}

NodeDraft CumSum(Draft& d) {
  const Value x = d.Any({Float32, Float64, Int32, Int64}, 1, 4);
  NodeDraft node({x.name, d.KnownInt(d.Axis(x))});
  for (const char* name : {"exclusive", "reverse"}) {
    if (d.Chance(40)) node.Int(name, d.random().Below(2));
  }
  return node;
}

NodeDraft ReverseSequence(Draft& d) {
  const Value x = d.Any(kAll, 2, 4);
  const std::int64_t time = d.random().Below(2);
  const std::int64_t batch = x.shape[static_cast<std::size_t>(1 - time)];
  const NDArray lengths = NDArray::Zeros({batch}, Int64);
  for (std::int64_t i = 0; i < batch; ++i)
    lengths.data<std::int64_t>()[i] =
        1 + d.random().Below(std::max<std::int64_t>(1, x.shape[static_cast<std::size_t>(time)]));
  const Value given = d.Chance(70) ? d.Constant(lengths) : d.Input(Int64, {batch});
  NodeDraft node({x.name, given.name});
  if (time == 1 || d.Chance(50)) node.Int("time_axis", time).Int("batch_axis", 1 - time);
  return node;
}

NodeDraft TopK(Draft& d) {
  const Value x = d.Any(kNumbers, 1, 4);
  const std::int64_t axis = d.Axis(x);
  const std::int64_t k = d.random().Below(ExtentAt(x, axis) + 1);
  NodeDraft node({x.name}, 2);
  if (d.opset() < 10) {
    node.Int("k", k);
  } else {
    node.proto.add_input(d.Known(NDArray::FromVector<std::int64_t>({1}, {k})));
  }
  node.Int("axis", axis);
  if (d.opset() >= 11 && d.Chance(50)) node.Int("largest", d.random().Below(2));
  if (d.opset() >= 11 && d.Chance(30)) node.Int("sorted", d.random().Below(2));
  return node;
}

NodeDraft MaxUnpool(Draft& d) {
  Shape shape = d.AnyShape(3, 4);
  const std::size_t dims = shape.size() - 2;
  const Value x = d.Tensor(Float32, shape);
  const Value places = d.Places(shape, NumElements(shape), Int64);
  NodeDraft node({x.name, places.name});
  node.IntList("kernel_shape", Ints(dims, 1 + d.random().Below(3)));
  if (d.Chance(70)) node.IntList("strides", Ints(dims, 1 + d.random().Below(3)));
  if (d.Chance(20)) node.IntList("pads", Ints(2 * dims, d.random().Below(2)));
  return node;
}

NodeDraft NonMaxSuppression(Draft& d) {
  const std::int64_t batches = 1 + d.random().Below(2), boxes = 1 + d.random().Below(9);
  const std::int64_t classes = 1 + d.random().Below(3);
  Names inputs = {d.Tensor(Float32, {batches, boxes, 4}).name,
                  d.Tensor(Float32, {batches, classes, boxes}).name};
  if (d.Chance(80)) inputs.push_back(d.KnownInt(d.random().Below(5)));
  for (const float threshold : {0.5F, 0.25F}) {
    if (inputs.size() > 2 && d.Chance(60))
      inputs.push_back(d.Known(NDArray::FromVector<float>({1}, {threshold})));
  }
  NodeDraft node(inputs);
  if (d.Chance(40)) node.Int("center_point_box", d.random().Below(2));
  return node;
}

NodeDraft Unique(Draft& d) {
  const Value x = d.Any(kNumbers, 1, 3);
  NodeDraft node({x.name}, static_cast<int>(1 + d.random().Below(4)));
  if (d.Chance(50)) node.Int("axis", d.Axis(x));
  if (d.Chance(50)) node.Int("sorted", d.random().Below(2));
  return node;
}

}  // namespace

void AddIndexDrawers(DrawerTable* table) {
  DrawerTable& t = *table;
  t["Compress"] = Compress;
  t["CumSum"] = CumSum;
  t["Gather"] = Gather;
  t["GatherElements"] = GatherElements;
  t["GatherND"] = GatherND;
  t["MaxUnpool"] = MaxUnpool;
  t["NonMaxSuppression"] = NonMaxSuppression;
  t["NonZero"] = [](Draft& d) { return NodeDraft({d.Any(kAll, 1, 3).name}); };
  t["OneHot"] = OneHot;
  t["ReverseSequence"] = ReverseSequence;
  t["Scatter"] = t["ScatterElements"] = ScatterElements;
  t["ScatterND"] = ScatterND;
  t["TopK"] = TopK;
  t["Unique"] = Unique;
}

}  // namespace tenon::verify
