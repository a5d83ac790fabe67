// Window functions, discrete Fourier transforms and weights of their bins.
#include <algorithm>
#include <cmath>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/known_extents.h"
#include "tenon/onnx/convert/matmul.h"
#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/onnx/convert/values_of_run.h"
#include "tenon/onnx/tensor.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/reduce/fourier_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

constexpr std::int64_t kMaxWindow = 1 << 20;

// A window of as many elements as a run or its extents say, in float64.
Expr WindowOfRun(const Node& node, bool is_periodic, double a0, double a1, double a2) {
  const auto real = [](double value) { return ops::Scalar(value, Float64); };
  const auto cosine = [&](const Expr& x) { return ir::Call::Make(ops::Known().cos, {x}); };
  const Expr size = node.Typed(ops::Cast(node.Typed(ops::Reshape(node.input(0), Ints{})), Int64));
  const Expr places = node.Typed(Places(node.extents(), CountAt(node, 0)));
  const Expr n = ops::Subtract(node.Typed(ops::Cast(size, Float64)), real(is_periodic ? 0 : 1));
  const Expr turns =
      node.Typed(ops::Divide(ops::Cast(places, Float64), node.Typed(ops::Maximum(n, real(1)))));
  const Expr first = ops::Multiply(real(a1), cosine(ops::Multiply(turns, real(2 * M_PI))));
  const Expr second = ops::Multiply(real(a2), cosine(ops::Multiply(turns, real(4 * M_PI))));
  return node.Typed(ops::Add(ops::Subtract(real(a0), first), second));
}

// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n); n is one less where both ends belong to the window.
Converter CosineWindow(double a0, double a1, double a2) {
  return [=](Node& node) {
    if (DependsOnInputs(node.input(0))) {
      const DataType made = ToDataType(static_cast<int>(node.Int("output_datatype", 1)),
                                       "the attribute output_datatype");
      const bool is_periodic = node.Int("periodic", 1) != 0;
      return std::vector<Expr>{
          node.Typed(ops::Cast(WindowOfRun(node, is_periodic, a0, a1, a2), made))};
    }
    const auto size = node.ConstantInt(0);
    if (size < 0 || size > kMaxWindow)
      throw InvalidArgument(StrCat("a window of ", size, " elements"));
    const double n = static_cast<double>(node.Int("periodic", 1) != 0 ? size : size - 1);
    const DataType dtype = ToDataType(static_cast<int>(node.Int("output_datatype", 1)),
                                      "the attribute output_datatype");
    std::vector<double> values;
    for (std::int64_t i = 0; i < size; ++i) {
      const double turn = n == 0 ? 0 : 2 * M_PI * static_cast<double>(i) / n;
      values.push_back(a0 - a1 * std::cos(turn) + a2 * std::cos(2 * turn));
    }
    return std::vector<Expr>{
        node.Typed(ops::Cast(ir::Constant::Make(NDArray::FromVector({size}, values)), dtype))};
  };
}

// Transforms the first `used` of `n` elements to `made` bins: a product with cosines and sines.
// Of a known length up to kMaxTransformLength, these are tables. Others are expressions of the
// length, which a run computes.
struct Transform {
  Dim n, used, made;
  bool inverse = false;
  bool is_half = false;

  Transform(const Dim& length, const Dim& have, bool onesided)
      : n(length), used(Min(have, length)), made(onesided ? FloorDiv(length, 2) + 1 : length) {
    if (n.is_static() && n.value() < 0)
      throw InvalidArgument(StrCat("a transform of ", n.value(), " elements"));
  }

  // The elements are the first half of a spectrum whose second half mirrors it.
  void UseHalf() {
    is_half = true;
    used = Min(used, FloorDiv(n, 2) + 1);
  }

  // Real and imaginary parts, as (..., made), for those of (..., used); `imaginary` may be null.
  std::pair<Expr, Expr> Of(const Node& node, const Expr& real, const Expr& imaginary) const {
    const auto [cosines, sines] =
        IsStatic({n, used}) && n.value() <= ops::kMaxTransformLength ? Known() : OfRun(node);
    const auto times = [&](const Expr& rows, const Expr& matrix) {
      return ProductOfAnyRank(node, rows, node.Typed(ops::Cast(matrix, DataTypeOf(rows))));
    };
    std::pair<Expr, Expr> result = {times(real, cosines), times(real, sines)};
    if (!imaginary) return result;
    return {node.Typed(ops::Subtract(result.first, times(imaginary, sines))),
            node.Typed(ops::Add(result.second, times(imaginary, cosines)))};
  }

 private:
  // The matrices (used, made) in float64.
  std::pair<Expr, Expr> Known() const {
    const std::int64_t length = n.value();
    std::vector<double> cosines, sines;
    for (std::int64_t i = 0; i < used.value(); ++i) {
      for (std::int64_t k = 0; k < made.value(); ++k) {
        // Taking i * k modulo n keeps the angle small, and so exact.
        const double turn =
            2 * M_PI * static_cast<double>(i * k % length) / static_cast<double>(length);
        const bool is_twice = is_half && i > 0 && 2 * i != length;
        const double scale = (inverse ? 1 / static_cast<double>(length) : 1) * (is_twice ? 2 : 1);
        cosines.push_back(std::cos(turn) * scale);
        sines.push_back(std::sin(turn) * (inverse ? scale : -scale));
      }
    }
    const auto matrix = [&](const std::vector<double>& values) {
      return Expr(ir::Constant::Make(NDArray::FromVector({used.value(), made.value()}, values)));
    };
    return {matrix(cosines), matrix(sines)};
  }

  std::pair<Expr, Expr> OfRun(const Node& node) const {
    const auto& known = ops::Known();
    const auto call = TypedCalls(node);
    const auto real = [](double value) { return ops::Scalar(value, Float64); };
    const Expr length = ValueOfCount(node, n);
    const Expr i = PlacesAlong(node, 2, 0, used), k = PlacesAlong(node, 2, 1, made);
    const Expr place = call(known.floor_mod, call(known.multiply, i, k), length);
    const Expr count = node.Typed(ops::Cast(length, Float64));
    const Expr turn =
        node.Typed(ops::Multiply(ops::Divide(ops::Cast(place, Float64), count), real(2 * M_PI)));
    Expr scale = inverse ? node.Typed(ops::Divide(real(1), count)) : node.Typed(real(1));
    if (is_half) {
      const Expr is_twice = call(known.logical_and, call(known.greater, i, Integer(0)),
                                 call(known.not_equal, call(known.add, i, i), length));
      scale = node.Typed(ops::Multiply(scale, ops::Where(is_twice, real(2), real(1))));
    }
    const auto of = [&](const Expr& function, const Expr& by) {
      return call(known.multiply, node.Typed(ir::Call::Make(function, {turn})), by);
    };
    const Expr sines_by = inverse ? scale : node.Typed(ops::Multiply(scale, real(-1)));
    return {of(known.cos, scale), of(known.sin, sines_by)};
  }
};

// The length that input `i` gives a transform. A run refuses one below 1.
Dim LengthAt(const Node& node, std::size_t i) {
  if (!IsOfRun(node, i)) {
    const auto known = DimsOfValue(node.input(i));
    const Dim length = known && known->size() == 1 ? (*known)[0] : Dim(node.ConstantInt(i));
    if (length.is_static() && length.value() < 1)
      throw InvalidArgument(StrCat("a transform of ", length.value(), " elements"));
    return length;
  }
  const Expr length = node.Typed(ops::Cast(node.Typed(ops::Reshape(node.input(i), Ints{})), Int64));
  const Expr is_some = node.Typed(ir::Call::Make(ops::Known().greater, {length, Integer(0)}));
  return ExtentOf(node, node.Typed(ops::Where(is_some, length, Integer(-1))), false,
                  "whose length must be at least 1");
}

// The real (0) or imaginary (1) part of a signal, whose last axis holds them.
Expr PartOf(const Expr& x, std::int64_t which) { return ElementAlong(x, which, RankOf(x) - 1); }

// Whether the signal has an imaginary part, by the extent of its last axis.
bool IsComplex(const Dim& parts) {
  if (!(parts == Dim(1)) && !(parts == Dim(2)))
    throw InvalidArgument("the input must end in an axis of 1 or 2 (real, or real and imaginary)");
  return parts == Dim(2);
}

// The signal (..., 1 or 2), split into real and imaginary parts, times cosines and sines.
std::vector<Expr> Dft(Node& node) {
  const Expr& x = node.input(0);
  const std::int64_t rank = RankOf(x);
  const std::vector<Dim> shape = DimsOf(x);
  if (rank < 2)
    throw InvalidArgument("the input must have a signal and an axis of 1 or 2 at its end");
  const bool is_complex = IsComplex(shape.back());
  const std::int64_t given = node.opset() < 20   ? node.Int("axis", 1)
                             : node.has_input(2) ? node.ConstantInt(2)
                                                 : -2;
  const auto axis = static_cast<std::int64_t>(ops::NormalAxis(given, shape.size()));
  if (axis == rank - 1) throw InvalidArgument("the last axis holds real and imaginary parts");
  const bool onesided = node.Int("onesided", 0) != 0, inverse = node.Int("inverse", 0) != 0;
  const Dim& have = shape[static_cast<std::size_t>(axis)];
  // Half a spectrum is that of a real signal, which has about twice as many elements.
  const bool is_half = onesided && inverse;
  if (is_half && !is_complex)
    throw InvalidArgument("with inverse=1 and onesided=1 input 0 must end in an axis of 2");
  Transform transform(node.has_input(1) ? LengthAt(node, 1)
                      : is_half         ? (have - 1) * Dim(2)
                                        : have,
                      have, onesided && !inverse);
  transform.inverse = inverse;
  if (is_half) transform.UseHalf();
  // The transformed axis is moved to the end, and back.
  Ints order, back(static_cast<std::size_t>(rank) - 1);
  for (std::int64_t d = 0; d + 1 < rank; ++d) {
    if (d != axis) order.push_back(d);
  }
  order.push_back(axis);
  for (std::size_t d = 0; d < order.size(); ++d)
    back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
  const auto part = [&](std::int64_t which) {
    const Expr all = node.Typed(ops::Transpose(PartOf(x, which), order));
    return transform.used == have ? all
                                  : node.Typed(FirstOf(node.extents(), all, transform.used,
                                                       static_cast<std::size_t>(rank) - 2));
  };
  const auto [real, imaginary] = transform.Of(node, part(0), is_complex ? part(1) : Expr());
  const auto whole = [&](const Expr& e) {
    return node.Typed(ops::ExpandDims(ops::Transpose(e, back), -1));
  };
  if (is_half) return {whole(real)};
  return {node.Typed(ops::Concatenate({whole(real), whole(imaginary)}, rank - 1))};
}

// The signal is (batch, length, 1 or 2), or (batch, length), as PyTorch writes it. Each of its
// frames, which may overlap, is multiplied by the window and transformed.
std::vector<Expr> Stft(Node& node) {
  const Expr& given = node.input(0);
  const Expr x = RankOf(given) == 2 ? node.Typed(ops::ExpandDims(given, -1)) : given;
  const std::vector<Dim> shape = DimsOf(x);
  if (shape.size() != 3)
    throw Unimplemented(StrCat("the signal is ", ir::ToString(given.checked_type()),
                               "; it must have the shape (batch, length, 1 or 2)"));
  const bool is_complex = IsComplex(shape[2]);
  const bool has_window = node.has_input(2);
  if (!has_window && !node.has_input(3))
    throw InvalidArgument("a window or the length of frames must be given");
  if (has_window && RankOf(node.input(2)) != 1)
    throw InvalidArgument("the window must have rank 1");
  const std::int64_t n = node.has_input(3) ? node.ConstantInt(3) : ShapeOf(node.input(2))[0];
  const auto step = node.ConstantInt(1);
  // Of a variable length each run is held against the window.
  if (step < 1 || n < 1 || (shape[1].is_static() && n > shape[1].value()))
    throw InvalidArgument(
        StrCat("frames of ", n, " elements every ", step, " of a signal of ", shape[1].ToString()));
  if (has_window && ShapeOf(node.input(2)) != Shape{n})
    throw InvalidArgument(StrCat("the window must have ", n, " elements"));
  const bool onesided = node.Int("onesided", 1) != 0;
  if (onesided && is_complex) throw InvalidArgument("onesided=1 is for real signals");
  const Transform transform(n, n, onesided);
  const auto part = [&](std::int64_t which) {
    const Expr frames = node.Typed(
        ops::SlidingWindow(PartOf(x, which), {.axis = 1, .window_shape = {n}, .strides = {step}}));
    return has_window ? node.Typed(ops::Multiply(frames, node.input(2))) : frames;
  };
  const auto [real, imaginary] = transform.Of(node, part(0), is_complex ? part(1) : Expr());
  const auto whole = [&](const Expr& e) { return node.Typed(ops::ExpandDims(e, -1)); };
  return {node.Typed(ops::Concatenate({whole(real), whole(imaginary)}, 3))};
}

// Triangles on the mel scale over the bins of a spectrum, computed as in the standard's reference.
std::vector<Expr> MelWeightMatrix(Node& node) {
  const auto bands = node.ConstantInt(0);
  const auto length = node.ConstantInt(1);
  const auto rate = node.ConstantInt(2);
  const DataType dtype =
      ToDataType(static_cast<int>(node.Int("output_datatype", 1)), "the attribute output_datatype");
  if (bands < 1 || bands > kMaxWindow || length < 0 || length > ops::kMaxTransformLength * 64 ||
      rate < 1)
    throw InvalidArgument(
        StrCat(bands, " bands of a spectrum of ", length, " elements at a rate of ", rate));
  const std::int64_t bins = length / 2 + 1;
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel(node.ConstantScalar(3)), high = mel(node.ConstantScalar(4));
  const double step = (high - low) / static_cast<double>(bands + 2);
  const auto edge = [&](std::int64_t i) {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + low) / 2595) - 1);
    const double bin =
        std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
    if (!(bin >= 0) || bin >= static_cast<double>(bins))
      throw InvalidArgument("the edges of the bands lie outside the spectrum");
    return static_cast<std::int64_t>(bin);
  };
  if (bins > kMaxWindow * 64 / bands) throw InvalidArgument("the matrix is too large");
  std::vector<double> weights(static_cast<std::size_t>(bins * bands), 0);
  const auto at = [&](std::int64_t bin, std::int64_t band) -> double& {
    return weights[static_cast<std::size_t>(bin * bands + band)];
  };
  for (std::int64_t band = 0; band < bands; ++band) {
    const std::int64_t first = edge(band), centre = edge(band + 1), last = edge(band + 2);
    if (first == centre) at(centre, band) = 1;
    for (std::int64_t bin = first; first < centre && bin <= centre; ++bin)
      at(bin, band) = static_cast<double>(bin - first) / static_cast<double>(centre - first);
    for (std::int64_t bin = centre; bin < last; ++bin)
      at(bin, band) = static_cast<double>(last - bin) / static_cast<double>(last - centre);
  }
  return {node.Typed(
      ops::Cast(ir::Constant::Make(NDArray::FromVector({bins, bands}, weights)), dtype))};
}

}  // namespace

void AddSignalConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["BlackmanWindow"] = CosineWindow(0.42, 0.5, 0.08);
  t["DFT"] = Converter(Dft).With({.known = {{2, "axis"}}});
  t["HammingWindow"] = CosineWindow(25.0 / 46, 21.0 / 46, 0);
  t["HannWindow"] = CosineWindow(0.5, 0.5, 0);
  t["MelWeightMatrix"] = Converter(MelWeightMatrix)
                             .With({.known = {{0, "num_mel_bins"},
                                              {1, "dft_length"},
                                              {2, "sample_rate"},
                                              {3, "lower_edge_hertz"},
                                              {4, "upper_edge_hertz"}}});
  t["STFT"] = Converter(Stft).With({.known = {{1, "frame_step"}, {3, "frame_length"}}});
}

}  // namespace tenon::onnx_import
