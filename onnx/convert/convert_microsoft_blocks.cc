// Products by weights of few bits, of ONNX Runtime's domain com.microsoft. The weights become
// floats when the model is imported, because float products are fast here and round as the document
// says. So memory holds them as floats.
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/matmul.h"
#include "tenon/ops/builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// A matrix [columns, rows] cut into blocks along its columns.
struct Blocks {
  std::int64_t rows, columns, size, bits;
  std::int64_t Count() const { return (rows + size - 1) / size; }
  std::int64_t BytesOf(std::int64_t elements) const { return (elements * bits + 7) / 8; }
};

// Element `i` of a line of bytes that are packed with `bits` per element, lowest bits first.
std::int64_t Unpacked(const std::uint8_t* line, std::int64_t i, std::int64_t bits) {
  const std::int64_t at = i * bits;
  return (line[at / 8] >> (at % 8)) & ((1 << bits) - 1);
}

void RequireSize(const NDArray& data, std::int64_t size, const char* what) {
  if (data.size() != size)
    throw InvalidArgument(StrCat(what, " must have ", size, " elements, not ", data.size()));
}

// The zero point of each block, [columns, blocks].
std::vector<float> ZeroPoints(const Node& node, const Blocks& of) {
  const std::int64_t count = of.Count();
  const auto half = static_cast<float>(std::int64_t{1} << (of.bits - 1));
  std::vector<float> zeros(static_cast<std::size_t>(of.columns * count), half);
  if (!node.has_input(3)) return zeros;
  const NDArray given = node.Constant(3);
  if (given.dtype() != UInt8) {
    const std::vector<double> numbers = node.ConstantNumbers(3);
    RequireSize(given, of.columns * count, "zero_points");
    zeros.assign(numbers.begin(), numbers.end());
    return zeros;
  }
  const std::int64_t line = of.BytesOf(count);
  RequireSize(given, of.columns * line, "zero_points");
  for (std::int64_t c = 0; c < of.columns; ++c) {
    for (std::int64_t b = 0; b < count; ++b)
      zeros[static_cast<std::size_t>(c * count + b)] =
          static_cast<float>(Unpacked(given.data<std::uint8_t>() + c * line, b, of.bits));
  }
  return zeros;
}

// (quantised - zero point) * scale, [rows, columns].
NDArray Weights(const Node& node, const Blocks& of) {
  const std::int64_t count = of.Count(), block_bytes = of.BytesOf(of.size);
  const NDArray packed = node.Constant(1);
  if (packed.dtype() != UInt8) throw InvalidArgument("B must be uint8");
  RequireSize(packed, of.columns * count * block_bytes, "B");
  RequireSize(node.Constant(2), of.columns * count, "scales");
  const std::vector<double> scales = node.ConstantNumbers(2);
  const std::vector<float> zeros = ZeroPoints(node, of);
  NDArray weights = NDArray::Empty({of.rows, of.columns}, Float32);
  for (std::int64_t c = 0; c < of.columns; ++c) {
    for (std::int64_t r = 0; r < of.rows; ++r) {
      const std::int64_t block = c * count + r / of.size;
      const std::uint8_t* line = packed.data<std::uint8_t>() + block * block_bytes;
      const auto i = static_cast<std::size_t>(block);
      const auto quantized = static_cast<float>(Unpacked(line, r % of.size, of.bits));
      weights.data<float>()[r * of.columns + c] =
          (quantized - zeros[i]) * static_cast<float>(scales[i]);
    }
  }
  return weights;
}

std::vector<Expr> MatMulNBits(Node& node) {
  node.Ignore("accuracy_level");  // to how few bits the other operand may be rounded
  const Blocks of{.rows = node.Int("K", 0),
                  .columns = node.Int("N", 0),
                  .size = node.Int("block_size", 0),
                  .bits = node.Int("bits", 4)};
  if (node.Int("weight_prepacked", 0) != 0)
    throw Unimplemented("weights that a kernel has packed (weight_prepacked) are not supported");
  if (of.bits != 2 && of.bits != 4 && of.bits != 8)
    throw Unimplemented(StrCat("bits is ", of.bits, "; 2, 4 and 8 are supported"));
  constexpr std::int64_t kMaxSize = std::int64_t{1} << 31;
  if (of.rows <= 0 || of.columns <= 0 || of.rows > kMaxSize || of.columns > kMaxSize)
    throw InvalidArgument("K and N must be given, and positive");
  if (of.size < 16 || of.size > kMaxSize || (of.size & (of.size - 1)) != 0)
    throw InvalidArgument(
        StrCat("block_size is ", of.size, "; it must be a power of two, 16 at least"));
  if (node.has_input(4)) throw Unimplemented("input 4, g_idx, is not supported");
  Expr weights = ir::Constant::Make(Weights(node, of));
  const DataType type = DataTypeOf(node.input(0));
  if (type != Float32) weights = ops::Cast(weights, type);
  Expr y = ProductOfAnyRank(node, node.input(0), node.Typed(weights));
  if (node.has_input(5)) y = node.Typed(ops::Add(y, node.input(5)));
  return {y};
}

}  // namespace

void AddMicrosoftBlockConverters(ConverterTable* table) {
  (*table)["MatMulNBits"] = Converter(MatMulNBits)
                                .With({.known = {{1, "B"}, {2, "scales"}, {3, "zero_points"}},
                                       .other = "2, 4 and 8 bits; no g_idx"});
}

}  // namespace tenon::onnx_import
