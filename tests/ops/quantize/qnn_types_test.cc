// Types of quantised operators.
#include "tenon/tests/ops/type_relation_rows.h"

namespace tenon::ops {
namespace {

constexpr char kConv[] = "%x: Tensor[(1, 3, 8, 8), uint8], %w: Tensor[(4, 3, 3, 3), int8]";
constexpr char kDense[] = "%x: Tensor[(2, 3), uint8], %w: Tensor[(5, 3), int8]";
constexpr char kPair[] = "%a: Tensor[(2, 3), int8], %b: Tensor[(3), int8]";
constexpr char kChannels[] =
    "%x: Tensor[(2, 3, 5), float32], %s: Tensor[(3), float32], %z: Tensor[(3), int32]";

INSTANTIATE_TEST_SUITE_P(
    QnnConversions, TypeRelationTest,
    ::testing::Values(
        Row{"Quantize", "%x: Tensor[(2, n), float32]",
            "qnn.quantize(%x, 0.5f, 3, out_dtype=\"uint8\")", "Tensor[(2, n), uint8]"},
        Row{"QuantizeByChannel", kChannels, "qnn.quantize(%x, %s, %z, axis=1, out_dtype=\"int8\")",
            "Tensor[(2, 3, 5), int8]"},
        Row{"QuantizeByTooManyChannels", kChannels, "qnn.quantize(%x, %s, %z, out_dtype=\"int8\")",
            "qnn.quantize: the output_scale has 3 elements for 5 channels"},
        Row{"QuantizeAlongNoAxis", kChannels,
            "qnn.quantize(%x, %s, %z, axis=3, out_dtype=\"int8\")",
            "qnn.quantize: axis is 3; a tensor of rank 3 has the axes -3 to 2"},
        Row{"QuantizeToFloat", "%x: Tensor[(2), float32]",
            "qnn.quantize(%x, 0.5f, 3, out_dtype=\"float32\")",
            "qnn.quantize: out_dtype is float32; it may be int8, uint8, int16, uint16 or int32"},
        Row{"QuantizeOfIntegers", "%x: Tensor[(2), int32]",
            "qnn.quantize(%x, 0.5f, 3, out_dtype=\"int8\")",
            "qnn.quantize: the data is int32; it must be a float"},
        Row{"QuantizeByAnInteger", "%x: Tensor[(2), float32]",
            "qnn.quantize(%x, 2, 3, out_dtype=\"int8\")",
            "qnn.quantize: the output_scale is int32; it must be a float"},
        Row{"QuantizeByAMatrix", "%x: Tensor[(2, 3), float32], %s: Tensor[(2, 3), float32]",
            "qnn.quantize(%x, %s, 3, out_dtype=\"int8\")",
            "qnn.quantize: the output_scale has rank 2; it may have rank 0, or 1 for channels"},
        Row{"Dequantize", "%x: Tensor[(2, 3), int8]", "qnn.dequantize(%x, 0.5f, 3)",
            "Tensor[(2, 3), float32]"},
        Row{"DequantizeOfFloats", "%x: Tensor[(2, 3), float32]", "qnn.dequantize(%x, 0.5f, 3)",
            "qnn.dequantize: the data is float32; it may be int8, uint8, int16, uint16 or int32"},
        Row{"DequantizeToInt", "%x: Tensor[(2, 3), int8]",
            "qnn.dequantize(%x, 0.5f, 3, out_dtype=\"int32\")",
            "qnn.dequantize: out_dtype is int32; it may be float32 or float16"},
        Row{"Requantize", "%x: Tensor[(2, 3), int32]", "qnn.requantize(%x, 0.5f, 0, 0.25f, 3)",
            "Tensor[(2, 3), int8]"},
        Row{"RequantizeToChannels", "%x: Tensor[(2, 3), int32], %s: Tensor[(3), float32]",
            "qnn.requantize(%x, 0.5f, 0, %s, 3)",
            "qnn.requantize: the output_scale must have rank 0"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    QnnProducts, TypeRelationTest,
    ::testing::Values(
        Row{"QnnConv", kConv, "qnn.conv2d(%x, %w, 3, 0, 0.5f, 0.25f, padding=[1, 1])",
            "Tensor[(1, 4, 8, 8), int32]"},
        Row{"QnnConvOfFloats", "%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), int8]",
            "qnn.conv2d(%x, %w, 3, 0, 0.5f, 0.25f)",
            "qnn.conv2d: the data is float32; it may be int8 or uint8"},
        Row{"QnnConvOfOtherChannels",
            "%x: Tensor[(1, 2, 8, 8), uint8], %w: Tensor[(4, 3, 3, 3), int8]",
            "qnn.conv2d(%x, %w, 3, 0, 0.5f, 0.25f)",
            "qnn.conv2d: the data has 2 channels, which in 1 group makes 2 each; the weight takes "
            "3"},
        Row{"QnnConvIntoFloat", kConv,
            "qnn.conv2d(%x, %w, 3, 0, 0.5f, 0.25f, out_dtype=\"float32\")",
            "qnn.conv2d: out_dtype is float32; products are summed in int32"},
        Row{"QnnConvOfTooManyScales",
            "%x: Tensor[(1, 3, 8, 8), uint8], %w: Tensor[(4, 3, 3, 3), int8], %s: Tensor[(3), "
            "float32]",
            "qnn.conv2d(%x, %w, 3, 0, 0.5f, %s)",
            "qnn.conv2d: the kernel_scale has 3 elements for 4 channels"},
        Row{"QnnDense", kDense, "qnn.dense(%x, %w, 3, 0, 0.5f, 0.25f, units=5)",
            "Tensor[(2, 5), int32]"},
        Row{"QnnDenseOfOtherUnits", kDense, "qnn.dense(%x, %w, 3, 0, 0.5f, 0.25f, units=6)",
            "qnn.dense: units is 6 and the second operand has 5 columns"},
        Row{"QnnDenseOfFloatZeroPoint", kDense, "qnn.dense(%x, %w, 3f, 0, 0.5f, 0.25f, units=5)",
            "qnn.dense: the input_zero_point is float32; it may be int8, uint8, int16, uint16 or "
            "int32"},
        Row{"QnnBatchMatmul", "%x: Tensor[(7, 2, 3), uint8], %w: Tensor[(7, 5, 3), int8]",
            "qnn.batch_matmul(%x, %w, 3, 0, 0.5f, 0.25f, transpose_b=True)",
            "Tensor[(7, 2, 5), int32]"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    QnnArithmetic, TypeRelationTest,
    ::testing::Values(
        Row{"QnnAdd", kPair, "qnn.add(%a, %b, 0.5f, 1, 0.25f, 2, 1f, 3)", "Tensor[(2, 3), int8]"},
        Row{"QnnMulOfOtherTypes", "%a: Tensor[(2, 3), int8], %b: Tensor[(3), uint8]",
            "qnn.mul(%a, %b, 0.5f, 1, 0.25f, 2, 1f, 3)",
            "qnn.mul: the element types differ: int8 and uint8; cast one of them"},
        Row{"QnnSigmoid", "%a: Tensor[(2, 3), int8]", "qnn.sigmoid(%a, 0.5f, 1, 0.25f, 2)",
            "Tensor[(2, 3), int8]"},
        Row{"QnnConcatenate", "%a: Tensor[(2, 3), int8], %b: Tensor[(2, 5), int8]",
            "qnn.concatenate((%a, %b), (0.5f, 0.25f), (1, 2), 1f, 3, axis=1)",
            "Tensor[(2, 8), int8]"},
        Row{"QnnConcatenateOfTooFewScales", "%a: Tensor[(2, 3), int8], %b: Tensor[(2, 5), int8]",
            "qnn.concatenate((%a, %b), (0.5f,), (1, 2), 1f, 3, axis=1)",
            "qnn.concatenate: 2 tensors need as many scales and zero points; 1 and 2 are given"}),
    NameOf);

}  // namespace
}  // namespace tenon::ops
