// The right operand is read by value: whatever computes the scales (a repetition, a gather, a
// reshape), its blocks are where they change.
#include "tenon/strategies/onednn/scaled_weights.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "tenon/ir/visit.h"
#include "tenon/ops/elementwise/elementwise_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/lower_outputs.h"
#include "tenon/strategies/onednn/facts.h"
#include "tenon/strategies/onednn/generated_sides.h"
#include "tenon/strategies/onednn/operands.h"
#include "tenon/strategies/onednn/products.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::strategies::onednn {
namespace {

using ir::CallNode;
using ir::Expr;

// By default weights become whole, which is faster. Microseconds of one thread of Zen 4, of
// bfloat16 by 2048 x 2048: generated code with weights of bfloat16, then oneDNN 3.7 and generated
// code with bytes, whose scales are of columns or of blocks of 32.
//   rows   whole   columns: oneDNN   generated   blocks: oneDNN   generated
//      1      98               242         394             1454         514
//     16     577               756        5125             2332        6344
//    128    4712              5059        9282             6764        9439
constexpr std::int64_t kMinRowsOfBlocks = 4;

constexpr const char* kNotScaled = "its right operand is no known bytes times a scale";

const CallNode* CallOf(const Expr& e, const Expr& callee) {
  const auto* call = e.As<CallNode>();
  return call != nullptr && call->callee == callee ? call : nullptr;
}

// Whether a cast leaves numbers what they are, or rounds floats.
bool KeepsNumbers(DataType from, DataType to) {
  if (to.is_float()) return true;
  if (from.is_uint()) return to.is_uint() ? to.bits() >= from.bits() : to.bits() > from.bits();
  return from.is_int() && to.is_int() && to.bits() >= from.bits();
}

const Expr& WithoutCasts(const Expr& e) {
  const CallNode* cast = CallOf(e, ops::Known().cast);
  if (cast == nullptr) return e;
  const Expr& inner = cast->args[0];
  return KeepsNumbers(ElementsOf(inner.checked_type()), ElementsOf(e.checked_type()))
             ? WithoutCasts(inner)
             : e;
}

// The product that the right operand is, before it is rounded to another type, or null. One of
// integers may wrap around, which the library's does not.
const CallNode* ProductOfScale(const CallNode& product) {
  const CallNode* scaled = CallOf(WithoutCasts(product.args[1]), ops::Known().multiply);
  return scaled != nullptr && ElementsOf(scaled->checked_type).is_float() ? scaled : nullptr;
}

// The value of an expression of known parameters.
OrRefused<NDArray> Evaluated(const Group& group, const Expr& e) {
  bool is_known = true;
  const auto evaluate = [&](const Expr& original, const Expr& rewritten) -> Expr {
    if (original.kind() == ir::ExprKind::kVar) {
      const NDArray known = KnownValue(group, original);
      is_known = is_known && known.defined();
      return known.defined() ? ir::Constant::Make(known) : rewritten;
    }
    if (original.kind() != ir::ExprKind::kCall || !is_known) return rewritten;
    const Expr typed = ir::KeepType(original, rewritten);
    return ir::Constant::Make(EvaluateCall(*typed.As<CallNode>()).at(0));
  };
  return RefusedIfUnimplemented([&]() -> OrRefused<NDArray> {
    const Expr value = ir::RewritePostOrder(e, evaluate);
    if (!is_known) return Refused{"the weights are not known"};
    const auto* constant = value.As<ir::ConstantNode>();
    if (constant == nullptr) return Refused{kNotScaled};
    return constant->data;
  });
}

// A matrix of numbers, of which a row or a column may stand for all.
struct Numbers {
  std::vector<float> data;
  std::int64_t row_step = 0, column_step = 0;
  float At(std::int64_t row, std::int64_t column) const {
    return data[static_cast<std::size_t>(row * row_step + column * column_step)];
  }
};

// What broadcasts to a matrix, or to its transpose. Numbers of up to 16 bits stay what they are.
OrRefused<Numbers> NumbersOf(const Group& group, const Expr& e, bool transposed) {
  const Expr& original = WithoutCasts(e);
  const DataType type = ElementsOf(original.checked_type());
  // A cast to fewer bits would change a number.
  const bool keeps = type == Int8 || type == UInt8;
  const OrRefused<NDArray> evaluated = Evaluated(group, keeps ? original : e);
  if (const auto* refused = std::get_if<Refused>(&evaluated)) return *refused;
  const NDArray& value = std::get<NDArray>(evaluated);
  const NDArray floats =
      value.dtype() == Float32
          ? value
          : EvaluateCall(*ir::Call::Make(ops::Known().cast, {ir::Constant::Make(value)},
                                         attrs::Attrs::Make(ops::CastAttrs{.dtype = Float32}), {},
                                         ir::TensorTypeOf(value.shape(), Float32))
                              .As<CallNode>())
                .at(0);
  const Shape& shape = value.shape();
  if (shape.size() > 2) return Refused{kNotScaled};
  const std::int64_t last = shape.empty() ? 1 : shape.back();
  const std::int64_t first = shape.size() < 2 ? 1 : shape[0];
  Numbers numbers{.data = floats.ToVector<float>(),
                  .row_step = first == 1 ? 0 : last,
                  .column_step = last == 1 ? 0 : 1};
  if (transposed) std::swap(numbers.row_step, numbers.column_step);
  return numbers;
}

// Known bytes, maybe less their zero points.
struct Bytes {
  Expr bytes;
  const CallNode* difference;  // null where there are no zero points
};
std::optional<Bytes> BytesIn(const Expr& e) {
  const Expr& inner = WithoutCasts(e);
  const CallNode* difference = CallOf(inner, ops::Known().subtract);
  // Without a sign it wraps around below 0.
  if (difference != nullptr && ElementsOf(difference->checked_type).is_uint()) return std::nullopt;
  const Expr& bytes = WithoutCasts(difference == nullptr ? inner : difference->args[0]);
  const DataType type = ElementsOf(bytes.checked_type());
  if (bytes.kind() != ir::ExprKind::kVar || (type != Int8 && type != UInt8)) return std::nullopt;
  return Bytes{bytes, difference};
}

// Weights less their zero points.
OrRefused<NDArray> ReadValues(const Group& group, const Bytes& read, const Shape& shape,
                              bool transposed) {
  const OrRefused<Numbers> bytes = NumbersOf(group, read.bytes, transposed);
  if (const auto* refused = std::get_if<Refused>(&bytes)) return *refused;
  const OrRefused<Numbers> points = read.difference == nullptr
                                        ? Numbers{.data = {0}}
                                        : NumbersOf(group, read.difference->args[1], transposed);
  if (const auto* refused = std::get_if<Refused>(&points)) return *refused;
  const auto& weights = std::get<Numbers>(bytes);
  const auto& zeros = std::get<Numbers>(points);
  NDArray values = NDArray::Empty(shape, Int8);
  auto* next = values.data<std::int8_t>();
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    for (std::int64_t column = 0; column < shape[1]; ++column) {
      const float value = weights.At(row, column) - zeros.At(row, column);
      if (!(value >= -128 && value <= 127) || value != std::floor(value))
        return Refused{
            StrCat("a weight less its zero point is ", value, ", no signed number of 8 bits")};
      *next++ = static_cast<std::int8_t>(value);
    }
  }
  return values;
}

// A row of scales for each block of rows, the longest that all have.
OrRefused<NDArray> ReadScales(const Numbers& scales, const Shape& shape) {
  // Of greater ones, and of their products by weights, float32 holds no sums.
  constexpr float kGreatest = 1e30F;
  std::int64_t block = shape[0];
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    bool changes = false;
    for (std::int64_t column = 0; column < shape[1]; ++column) {
      const float scale = scales.At(row, column);
      if (!(std::abs(scale) <= kGreatest))
        return Refused{StrCat("a scale is ", scale, ", from which sums overflow")};
      if (row > 0) changes = changes || scale != scales.At(row - 1, column);
    }
    if (changes) block = std::gcd(block, row);
  }
  NDArray read = NDArray::Empty({shape[0] / block, shape[1]}, Float32);
  auto* next = read.data<float>();
  for (std::int64_t row = 0; row < shape[0]; row += block) {
    for (std::int64_t column = 0; column < shape[1]; ++column) *next++ = scales.At(row, column);
  }
  return read;
}

std::optional<std::string> RefuseScaled(const Group& group) {
  const CallNode& anchor = *group.Anchor();
  if (!HasScaledWeights(anchor)) return kNotScaled;
  if (!Facts().scales_weights)
    return StrCat("oneDNN ", LibraryVersion(), " does not scale the weights of a product");
  if (group.library == LibraryChoice::kAuto)
    return "products by whole weights are faster, if weights of four times the size fit; a "
           "composite or the library choice onednn asks for it";
  const DataType data = ElementsOf(anchor.args[0].checked_type());
  const DataType sums = ElementsOf(anchor.checked_type);
  if ((data != BFloat16 && data != Float32) || (sums != Float32 && sums != data))
    return StrCat("it sums products of bfloat16 and of float32, not ", data.ToString(), " in ",
                  sums.ToString());
  if (anchor.args[0].kind() != ir::ExprKind::kVar)
    return "the left operand is computed inside the kernel";
  const MatrixProduct product = DescribeProduct(anchor);
  if (const auto refusal = RefuseExtents(product)) return refusal;
  if (product.batch != 1 || product.rhs_batch != 1) return "it has no batches of matrices";
  if (product.rows == 0 || product.columns == 0) return "the result has no elements";
  return std::nullopt;
}

BuildResult BuildScaled(const Group& group) {
  const CallNode& anchor = *group.Anchor();
  const CallNode& made = MadeByLibrary(group);
  const MatrixProduct product = DescribeProduct(anchor);
  const OrRefused<ScaledWeights> read = ReadScaledWeights(group, anchor, product.rhs_transposed);
  if (const auto* refused = std::get_if<Refused>(&read)) return *refused;
  const auto& weights = std::get<ScaledWeights>(read);
  if (weights.scales.shape()[0] > 1 && product.rows < kMinRowsOfBlocks)
    return Refused{StrCat("it scales blocks again in each call, and fewer than ", kMinRowsOfBlocks,
                          " rows do not pay for it")};
  const NarrowTypes types = {ElementsOf(anchor.args[0].checked_type()), Int8,
                             ElementsOf(made.checked_type)};
  MadeKernel kernel = MakeScaledMatrixProduct(product, types, weights.values, weights.scales);
  if (auto* refused = std::get_if<Refused>(&kernel)) return std::move(*refused);
  Built built{.kernel = std::get<KernelPointer>(std::move(kernel)),
              .arguments = {ParameterIndex(group, anchor.args[0])}};
  if (group.function->body.get() != &made) {
    const te::Tensor sums = te::Placeholder(
        ToExprs(ir::StaticShape(anchor.checked_type, "the sums")), types.result, "sums");
    built.after = After(group, sums, made, sums, &built.arguments);
  }
  return built;
}

}  // namespace

bool HasScaledWeights(const CallNode& product) {
  return product.args[1].kind() == ir::ExprKind::kCall && ProductOfScale(product) != nullptr;
}

OrRefused<ScaledWeights> ReadScaledWeights(const Group& group, const CallNode& product,
                                           bool transposed) {
  const CallNode* scaled = ProductOfScale(product);
  if (scaled == nullptr) return Refused{kNotScaled};
  const Shape given = ir::StaticShape(product.args[1].checked_type(), "the second operand");
  Shape shape = given;
  if (transposed) std::swap(shape[0], shape[1]);
  for (const std::size_t i : {0U, 1U}) {
    const Expr& side = scaled->args[i];
    if (ir::StaticShape(side.checked_type(), "the weights") != given) continue;
    const std::optional<Bytes> bytes = BytesIn(side);
    if (!bytes) continue;
    const OrRefused<NDArray> values = ReadValues(group, *bytes, shape, transposed);
    if (const auto* refused = std::get_if<Refused>(&values)) return *refused;
    const OrRefused<Numbers> numbers = NumbersOf(group, scaled->args[1 - i], transposed);
    if (const auto* refused = std::get_if<Refused>(&numbers)) return *refused;
    const OrRefused<NDArray> scales = ReadScales(std::get<Numbers>(numbers), shape);
    if (const auto* refused = std::get_if<Refused>(&scales)) return *refused;
    return ScaledWeights{std::get<NDArray>(values), std::get<NDArray>(scales)};
  }
  return Refused{kNotScaled};
}

Implementation ScaledProduct() {
  return OnTarget({.name = "onednn_scaled",
                   .maker = Maker::kOneDnnNarrow,
                   .refusal = RefuseScaled,
                   .build = BuildScaled});
}

}  // namespace tenon::strategies::onednn
