// Types of discrete Fourier transforms and of correlation.
#include "tenon/tests/ops/type_relation_rows.h"

namespace tenon::ops {
namespace {

constexpr char kSignal[] = "%x: Tensor[(n, 50), float32], %w: Tensor[(15), float32]";
constexpr char kPair[] = "%a: Tensor[(n, 3, 9, 17), float32], %b: Tensor[(n, 3, 9, 17), float32]";

INSTANTIATE_TEST_SUITE_P(
    Fourier, TypeRelationTest,
    ::testing::Values(
        Row{"Dft", "%a: Tensor[(n, 8), float64], %b: Tensor[(n, 8), float64]", "dft(%a, %b)",
            "(Tensor[(n, 8), float64], Tensor[(n, 8), float64])"},
        Row{"DftOfIntegers", "%a: Tensor[(8), int32]", "dft(%a, %a)",
            "dft: real and imaginary parts must be of one floating type, not int32 and int32"},
        Row{"DftOfOtherTypes", "%a: Tensor[(8), float32], %b: Tensor[(8), float64]", "dft(%a, %b)",
            "dft: real and imaginary parts must be of one floating type, not float32 and float64"},
        Row{"DftOfOtherShapes", "%a: Tensor[(8), float32], %b: Tensor[(1, 8), float32]",
            "dft(%a, %b)", "dft: real and imaginary parts must have one shape"},
        Row{"DftOfAScalar", kS, "dft(%x, %x)", "dft: the signal must have an axis"},
        Row{"DftThatIsTooLong", "%a: Tensor[(2049), float32]", "dft(%a, %a)",
            "dft: a transform of 2049 elements is not supported; up to 2048 are"},
        Row{"Stft", kSignal, "stft(%x, %w)", "Tensor[(n, 8, 12, 2), float32]"},
        Row{"StftOfBothSides", kSignal, "stft(%x, %w, hop_length=36, onesided=False)",
            "Tensor[(n, 15, 1, 2), float32]"},
        Row{"StftOfAVector", "%x: Tensor[(n), float32], %w: Tensor[(4), float32]", "stft(%x, %w)",
            "Tensor[(3, ?, 2), float32]"},
        Row{"StftByAShortWindow", kSignal, "stft(%x, %w, n_fft=16)",
            "stft: the window has 15 elements and a frame 16; it must have as many, and one at "
            "least"},
        Row{"StftByAShorterWindow", kSignal, "stft(%x, %w, win_length=12)",
            "stft: win_length is 12 and a frame has 15 elements; a shorter window must be padded "
            "to these"},
        Row{"StftOfAShortSignal", "%x: Tensor[(14), float32], %w: Tensor[(15), float32]",
            "stft(%x, %w)", "stft: a frame of 15 elements for a signal of 14"},
        Row{"StftOfIntegers", "%x: Tensor[(14), int32]", "stft(%x, %x)",
            "stft: the signal must be of a floating type, not int32"},
        Row{"StftOfThreeAxes", "%x: Tensor[(2, 3, 4), float32]", "stft(%x, %x)",
            "stft: the signal must be a vector, or (batch, length)"},
        Row{"Correlation", kPair,
            "nn.correlation(%a, %b, kernel_size=3, max_displacement=4, stride1=2, stride2=2, "
            "padding=[4, 4])",
            "Tensor[(n, 25, 4, 8), float32]"},
        Row{"CorrelationOfEvenPatches", kPair, "nn.correlation(%a, %b, kernel_size=2)",
            "nn.correlation: kernel_size is 2; it must be odd"},
        Row{"CorrelationThatReachesFar", kPair, "nn.correlation(%a, %b, max_displacement=5)",
            "nn.correlation: patches reach over 11 elements and the padded image has 9"},
        Row{"CorrelationOfOtherShapes",
            "%a: Tensor[(1, 3, 9, 17), float32], %b: Tensor[(1, 2, 9, 17), float32]",
            "nn.correlation(%a, %b)", "nn.correlation: both images must have one shape"},
        Row{"CorrelationOfIntegers", kM, "nn.correlation(%x, %x)",
            "nn.correlation: both images must have rank 4"}),
    NameOf);

}  // namespace
}  // namespace tenon::ops
