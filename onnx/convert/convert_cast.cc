// Operators that change the element type and nothing else.
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/narrow_cast.h"
#include "tenon/onnx/tensor.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/elementwise/elementwise_attrs.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

Expr CastToNarrow(Node& node, const NarrowType& type) {
  const Overflow overflow =
      node.Int("saturate", 1) != 0 ? Overflow::kSaturates : Overflow::kInfinityOrNan;
  return node.OfNarrowType(RoundedTo(node, node.input(0), type, overflow), type);
}

void IgnoreRounding(Node& node) {
  node.Ignore("saturate");    // for floats of 8 bits
  node.Ignore("round_mode");  // for float8e8m0, to which nothing is rounded
}

std::vector<Expr> Cast(Node& node) {
  if (!node.Has("to")) throw InvalidArgument("the attribute to is missing");
  const int to = static_cast<int>(node.Int("to", 0));
  IgnoreRounding(node);
  if (const NarrowType* narrow = FindNarrowType(to)) return {CastToNarrow(node, *narrow)};
  return {node.Typed(ops::Cast(node.input(0), ToDataType(to, "the attribute to")))};
}

std::vector<Expr> CastLike(Node& node) {
  IgnoreRounding(node);
  if (const NarrowType* narrow = node.NarrowTypeOf(1)) return {CastToNarrow(node, *narrow)};
  return {node.Typed(ops::Cast(node.input(0), DataTypeOf(node.input(1))))};
}

// Opset 26: the same bits under another type of as many bits.
std::vector<Expr> BitCast(Node& node) {
  if (!node.Has("to")) throw InvalidArgument("the attribute to is missing");
  const int to = static_cast<int>(node.Int("to", 0));
  if (const NarrowType* narrow = FindNarrowType(to))
    throw Unimplemented(StrCat("the attribute to is ", narrow->name, ", which is not supported"));
  if (const NarrowType* narrow = node.NarrowTypeOf(0))
    throw Unimplemented(
        StrCat("input 0 is of the type ", narrow->name, ", which is not supported"));
  const DataType from = DataTypeOf(node.input(0)), type = ToDataType(to, "the attribute to");
  if (from.is_bool() || type.is_bool())
    throw Unimplemented("bits of bool are not supported; those of numbers are");
  if (from.bits() != type.bits())
    throw InvalidArgument(StrCat("the bits of ", from.ToString(), " cannot be ", type.ToString(),
                                 "; both types must have as many bits"));
  return {node.Typed(ops::CallOp("reinterpret", {node.input(0)},
                                 attrs::Attrs::Make(ops::CastAttrs{.dtype = type})))};
}

}  // namespace

void AddCastConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["BitCast"] = Converter(BitCast).With({.other = "numbers of 8 to 64 bits"});
  t["Cast"] = Converter(Cast).With({.other = "to numbers and bool; not to float8e8m0"});
  t["CastLike"] = Converter(CastLike).With({.other = "as Cast"});
}

}  // namespace tenon::onnx_import
