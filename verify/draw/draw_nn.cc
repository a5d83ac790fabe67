// Convolutions, pooling, matrix products, normalisations, images and losses.
#include <algorithm>

#include "tenon/verify/draw/onnx_drawers.h"

namespace tenon::verify {

void DrawWindow(Draft& d, std::int64_t dims, NodeDraft* node) {
  const auto each = [&](std::int64_t min, std::int64_t choices) {
    Ints values;
    for (std::int64_t i = 0; i < dims; ++i) values.push_back(min + d.random().Below(choices));
    return values;
  };
  if (d.Chance(50)) node->IntList("strides", each(1, 3));
  if (d.Chance(30)) node->IntList("dilations", each(1, 2));
  if (d.Chance(25)) {
    node->String("auto_pad", d.Of(Names{"SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"}));
  } else if (d.Chance(50)) {
    Ints pads = each(0, 3);
    const Ints after = d.Chance(70) ? pads : each(0, 3);
    pads.insert(pads.end(), after.begin(), after.end());
    node->IntList("pads", pads);
  }
}

namespace {

struct Window {
  Shape data;  // batch, channels and spatial axes
  Ints kernel;
};

Window AnyWindow(Draft& d, bool square) {
  const std::int64_t dims = d.Of(Ints{1, 2, 2, 2, 3});
  Window w{{1 + d.random().Below(2), d.Of(Ints{1, 2, 3, 4, 8, 16, 17})}, {}};
  for (std::int64_t i = 0; i < dims; ++i) {
    w.data.push_back(dims == 3 ? 1 + d.random().Below(5) : d.Of(Ints{1, 3, 5, 7, 8, 12, 17}));
    w.kernel.push_back(square && i > 0 ? w.kernel[0] : d.Of(Ints{1, 1, 2, 3, 3, 3, 5}));
  }
  return w;
}

Drawer Conv(bool is_transposed) {
  return [is_transposed](Draft& d) {
    Window w = AnyWindow(d, d.Chance(60));
    const DataType type = d.Of(Types{Float32, Float32, Float32, Float64, Float16});
    const std::int64_t groups = d.Chance(30) ? d.Of(Ints{2, 4, w.data[1]}) : 1;
    if (w.data[1] % groups != 0) w.data[1] = groups * 2;
    const std::int64_t results = groups * (1 + d.random().Below(4));
    Shape weights =
        is_transposed ? Shape{w.data[1], results / groups} : Shape{results, w.data[1] / groups};
    weights.insert(weights.end(), w.kernel.begin(), w.kernel.end());
    const Value weight = d.Chance(80) ? d.Weights(type, weights) : d.Tensor(type, weights);
    NodeDraft node({d.Tensor(type, w.data).name, weight.name});
    if (d.Chance(50)) node.proto.add_input(d.Tensor(type, {results}).name);
    if (groups > 1) node.Int("group", groups);
    if (d.Chance(60)) node.IntList("kernel_shape", w.kernel);
    DrawWindow(d, static_cast<std::int64_t>(w.kernel.size()), &node);
    if (is_transposed && d.Chance(30))
      node.IntList("output_padding", Ints(w.kernel.size(), d.random().Below(2)));
    if (is_transposed && d.Chance(15)) {
      Ints shape;
      for (std::size_t i = 2; i < w.data.size(); ++i)
        shape.push_back(w.data[i] * 2 + d.random().Below(2));
      node.IntList("output_shape", shape);
    }
    return node;
  };
}

Drawer Pool(bool is_max) {
  return [is_max](Draft& d) {
    const Window w = AnyWindow(d, false);
    const bool has_places = is_max && d.Chance(30);
    NodeDraft node({d.Tensor(d.Of(kFloats), w.data).name}, has_places ? 2 : 1);
    node.IntList("kernel_shape", w.kernel);
    DrawWindow(d, static_cast<std::int64_t>(w.kernel.size()), &node);
    if (d.opset() >= 10 && d.Chance(30)) node.Int("ceil_mode", 1);
    if (!is_max && d.Chance(40)) node.Int("count_include_pad", 1);
    if (has_places && d.Chance(40)) node.Int("storage_order", d.random().Below(2));
    return node;
  };
}

// Since opset 15 scales and statistics may have types of their own.
NodeDraft BatchNormalization(Draft& d) {
  const Value x = d.Any({Float32, Float32, Float64, Float16}, 2, 5);
  const auto type = [&] { return d.opset() >= 15 && d.Chance(25) ? d.Of(kFloats) : x.type; };
  const DataType of_scale = type(), of_statistics = type();
  Names inputs = {x.name};
  for (int i = 0; i < 3; ++i)
    inputs.push_back(d.Tensor(i < 2 ? of_scale : of_statistics, {x.shape[1]}).name);
  // A variance must not be negative.
  const NDArray variance = RandomArray({x.shape[1]}, of_statistics, d.random());
  for (std::int64_t i = 0; i < variance.size(); ++i) {
    auto* last = static_cast<std::uint8_t*>(variance.raw()) + (i + 1) * of_statistics.bytes() - 1;
    *last &= 0x7F;
  }
  inputs.push_back(d.Constant(variance).name);
  NodeDraft node(inputs);
  if (d.Chance(50)) node.Float("epsilon", 0.5);
  if (d.Chance(30)) node.Float("momentum", 0.5);
  return node;
}

NodeDraft InstanceNormalization(Draft& d) {
  const Value x = d.Any({Float32, Float32, Float64}, 3, 5);
  NodeDraft node(
      {x.name, d.Tensor(x.type, {x.shape[1]}).name, d.Tensor(x.type, {x.shape[1]}).name});
  return node.Float("epsilon", 0.01);
}

NodeDraft LayerNormalization(Draft& d) {
  const Value x = d.Any({Float32, Float32, Float64, Float16}, 1, 4);
  const std::int64_t axis = d.Chance(60) ? -1 : d.Axis(x);
  const Shape normalised(x.shape.begin() + (axis < 0 ? axis + x.rank() : axis), x.shape.end());
  NodeDraft node({x.name, d.Tensor(x.type, normalised).name},
                 d.Chance(25) ? static_cast<int>(1 + d.random().Below(3)) : 1);
  if (d.Chance(60)) node.proto.add_input(d.Tensor(x.type, normalised).name);
  node.Float("epsilon", 0.01).Int("axis", axis);
  if (d.opset() >= 17 && d.Chance(20)) node.Int("stash_type", d.Of(Ints{1, 10, 11, 16}));
  return node;
}

NodeDraft Lrn(Draft& d) {
  NodeDraft node({d.Any({Float32, Float32, Float64}, 3, 4).name});
  node.Int("size", d.Of(Ints{1, 2, 3, 4, 5}));
  for (const char* name : {"alpha", "beta", "bias"}) {
    if (d.Chance(50)) node.Float(name, d.Of(std::vector<double>{0.25, 0.5, 1}));
  }
  return node;
}

NodeDraft MeanVarianceNormalization(Draft& d) {
  const Value x = d.Any({Float32, Float32, Float64}, 4, 4);
  NodeDraft node({x.name});
  if (d.Chance(60)) node.IntList("axes", d.Axes(x));
  return node;
}

NodeDraft Gemm(Draft& d) {
  const std::int64_t m = d.Extent(), n = d.Extent(), k = d.Extent();
  const DataType type = d.Of(Types{Float32, Float32, Float64, Float16, Int32});
  const bool ta = d.Chance(40), tb = d.Chance(40);
  NodeDraft node({d.Tensor(type, ta ? Shape{k, m} : Shape{m, k}).name,
                  d.Tensor(type, tb ? Shape{n, k} : Shape{k, n}).name});
  if (d.Chance(70)) node.proto.add_input(d.Tensor(type, d.Broadcasting({m, n})).name);
  if (ta || d.Chance(10)) node.Int("transA", ta ? 1 : 0);
  if (tb || d.Chance(10)) node.Int("transB", tb ? 1 : 0);
  for (const char* name : {"alpha", "beta"}) {
    if (d.Chance(40)) node.Float(name, d.Of(std::vector<double>{0, 0.5, 2, -1}));
  }
  return node;
}

NodeDraft MatMul(Draft& d) {
  const Value a = d.Any({Float32, Float32, Float32, Float64, Float16, Int32}, 1, 4);
  const std::int64_t k = a.shape.back();
  if (d.Chance(15)) return NodeDraft({a.name, d.Tensor(a.type, {k}).name});
  Shape shape(a.shape.begin(), a.shape.end() - std::min<std::int64_t>(a.rank(), 2));
  shape = d.Broadcasting(shape);
  shape.insert(shape.end(), {k, d.Extent()});
  return NodeDraft({a.name, d.Tensor(a.type, shape).name});
}

NodeDraft Einsum(Draft& d) {
  const std::int64_t a = d.Of(Ints{1, 2, 3}), b = d.Of(Ints{2, 4, 5}), c = d.Of(Ints{1, 3, 7});
  struct Form {
    const char* equation;
    std::vector<Shape> operands;
  };
  const std::vector<Form> forms = {{"ij,jk->ik", {{a, b}, {b, c}}},
                                   {"ij->ji", {{a, b}}},
                                   {"ii->i", {{b, b}}},
                                   {"ij->", {{a, b}}},
                                   {"bij,bjk->bik", {{a, b, c}, {a, c, b}}},
                                   {"...ij,...jk->...ik", {{a, b, c}, {a, c, a}}},
                                   {"i,j->ij", {{a}, {b}}},
                                   {"ij,ij", {{a, b}, {a, b}}},
                                   {"ij,jk,kl->il", {{a, b}, {b, c}, {c, a}}},
                                   {"bhqd,bhkd->bhqk", {{1, a, b, c}, {1, a, a, c}}},
                                   {"i...->...", {{a, b, c}}},
                                   {"ijk,k->ij", {{a, b, c}, {c}}}};
  const Form form = d.Of(forms);
  const DataType type = d.Of(Types{Float32, Float32, Float64, Int32});
  Names inputs;
  for (const Shape& shape : form.operands) inputs.push_back(d.Tensor(type, shape).name);
  return NodeDraft(inputs).String("equation", form.equation);
}

NodeDraft Det(Draft& d) {
  Shape shape = d.AnyShape(0, 2);
  shape.insert(shape.end(), 2, 1 + d.random().Below(7));
  return NodeDraft({d.Tensor(d.Of(Types{Float32, Float64}), shape).name});
}

NodeDraft Dropout(Draft& d) {
  const Value x = d.Any(kFloats, 0, 4);
  NodeDraft node({x.name}, static_cast<int>(1 + d.random().Below(2)));
  if (d.opset() < 12) {
    if (d.Chance(50)) node.Float("ratio", 0.25);
  } else if (d.Chance(50)) {
    node.proto.add_input(d.Known(NDArray::Scalar<float>(0.25F)));
    if (d.Chance(40)) node.proto.add_input(d.Known(NDArray::Scalar<bool>(false)));
  }
  return node;
}

NodeDraft Resize(Draft& d) {
  const Value x = d.Any({Float32, Float32, Float32, Float64, UInt8}, 3, 5);
  std::vector<float> scales;
  Ints sizes;
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    const bool is_spatial = i >= 2;
    scales.push_back(is_spatial ? d.Of(std::vector<float>{1, 2, 0.5F, 1.5F, 3, 0.75F}) : 1);
    sizes.push_back(is_spatial ? 1 + d.random().Below(9) : x.shape[i]);
  }
  const std::string by_scale = d.Known(NDArray::FromVector({x.rank()}, scales));
  if (d.opset() < 11) {
    NodeDraft node({x.name, by_scale});
    if (d.Chance(70)) node.String("mode", d.Of(Names{"nearest", "linear"}));
    return node;
  }
  NodeDraft node(d.Chance(50) ? Names{x.name, "", by_scale}
                              : Names{x.name, "", "", d.KnownInts(sizes)});
  if (d.Chance(85)) node.String("mode", d.Of(Names{"nearest", "linear", "cubic"}));
  if (d.Chance(80))
    node.String("coordinate_transformation_mode",
                d.Of(Names{"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
                           "half_pixel_symmetric", "tf_crop_and_resize"}));
  if (d.Chance(50))
    node.String("nearest_mode",
                d.Of(Names{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  if (d.Chance(20)) node.Float("cubic_coeff_a", -0.5);
  if (d.Chance(20)) node.Int("exclude_outside", 1);
  if (d.opset() >= 18 && d.Chance(30)) node.Int("antialias", 1);
  return node;
}

NodeDraft Upsample(Draft& d) {
  const Value x = d.Any({Float32, Float64}, 3, 5);
  std::vector<float> scales;
  std::vector<double> attribute;
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    scales.push_back(i >= 2 ? static_cast<float>(1 + d.random().Below(3)) : 1);
    attribute.push_back(scales.back());
  }
  NodeDraft node({x.name});
  if (d.opset() < 9) {
    node.FloatList("scales", attribute);
  } else {
    node.proto.add_input(d.Known(NDArray::FromVector({x.rank()}, scales)));
  }
  if (d.Chance(70)) node.String("mode", d.Of(Names{"nearest", "linear"}));
  return node;
}

NodeDraft GridSample(Draft& d) {
  const Value x = d.Any({Float32, Float32, Float64}, 4, 4);
  const Shape grid = {x.shape[0], d.Of(Ints{1, 2, 5}), d.Of(Ints{1, 3, 4}), 2};
  NodeDraft node({x.name, d.Tensor(x.type, grid).name});
  if (d.Chance(70))
    node.String("mode", d.Of(d.opset() < 20 ? Names{"bilinear", "nearest", "bicubic"}
                                            : Names{"linear", "nearest", "cubic"}));
  if (d.Chance(70)) node.String("padding_mode", d.Of(Names{"zeros", "border", "reflection"}));
  if (d.Chance(50)) node.Int("align_corners", d.random().Below(2));
  return node;
}

NodeDraft RoiAlign(Draft& d) {
  const Value x = d.Any({Float32, Float32, Float64}, 4, 4);
  const std::int64_t rois = 1 + d.random().Below(4);
  const Value batch = d.Places({rois}, x.shape[0], Int64);
  NodeDraft node({x.name, d.Tensor(x.type, {rois, 4}).name, batch.name});
  node.Int("output_height", 1 + d.random().Below(3)).Int("output_width", 1 + d.random().Below(3));
  if (d.Chance(60)) node.Int("sampling_ratio", d.random().Below(3));
  if (d.Chance(60)) node.Float("spatial_scale", d.Of(std::vector<double>{1, 0.5, 2}));
  if (d.Chance(40)) node.String("mode", d.Of(Names{"avg", "max"}));
  if (d.opset() >= 16 && d.Chance(50))
    node.String("coordinate_transformation_mode", d.Of(Names{"half_pixel", "output_half_pixel"}));
  return node;
}

NodeDraft MaxRoiPool(Draft& d) {
  const Value x = d.Any({Float32, Float32, Float64}, 4, 4);
  NodeDraft node({x.name, d.Tensor(x.type, {1 + d.random().Below(4), 5}).name});
  node.IntList("pooled_shape", {1 + d.random().Below(3), 1 + d.random().Below(3)});
  if (d.Chance(60)) node.Float("spatial_scale", d.Of(std::vector<double>{1, 0.5, 2}));
  return node;
}

Drawer Loss(bool has_second_result) {
  return [has_second_result](Draft& d) {
    Value x = d.Any({Float32, Float32, Float64, Float16}, 2, 4);
    // Probabilities of 0, whose logarithms are infinite.
    if (d.Chance(10))
      x = d.Constant(WithSpecialValues(RandomArray(x.shape, x.type, d.random()), d.random()));
    Shape target = x.shape;
    target.erase(target.begin() + 1);
    Names inputs = {x.name, d.Places(target, x.shape[1], d.Of(kIndices)).name};
    if (d.Chance(50)) inputs.push_back(d.Tensor(x.type, {x.shape[1]}).name);
    NodeDraft node(inputs, has_second_result && d.Chance(40) ? 2 : 1);
    if (d.Chance(80)) node.String("reduction", d.Of(Names{"none", "mean", "sum"}));
    if (d.Chance(40)) node.Int("ignore_index", d.random().Below(4) - 1);
    return node;
  };
}

NodeDraft GlobalPool(Draft& d) { return NodeDraft({d.Any(kFloats, 3, 5).name}); }

}  // namespace

void AddNnDrawers(DrawerTable* table) {
  DrawerTable& t = *table;
  t["AveragePool"] = Pool(false);
  t["BatchNormalization"] = BatchNormalization;
  t["Conv"] = Conv(false);
  t["ConvTranspose"] = Conv(true);
  t["Det"] = Det;
  t["Dropout"] = Dropout;
  t["Einsum"] = Einsum;
  t["Gemm"] = Gemm;
  t["GlobalAveragePool"] = t["GlobalMaxPool"] = GlobalPool;
  t["GridSample"] = GridSample;
  t["InstanceNormalization"] = InstanceNormalization;
  t["LRN"] = Lrn;
  t["LayerNormalization"] = LayerNormalization;
  t["MatMul"] = MatMul;
  t["MaxPool"] = Pool(true);
  t["MaxRoiPool"] = MaxRoiPool;
  t["MeanVarianceNormalization"] = MeanVarianceNormalization;
  t["NegativeLogLikelihoodLoss"] = Loss(false);
  t["Resize"] = Resize;
  t["RoiAlign"] = RoiAlign;
  t["SoftmaxCrossEntropyLoss"] = Loss(true);
  t["Upsample"] = Upsample;
}

}  // namespace tenon::verify
