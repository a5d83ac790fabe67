// Reproducible code gives the same bits whatever the target: its vectors, registers, caches and
// cores change tiles and loops, not the order of sums and not the functions. Kernels are decided
// for a CPU with the vectors of AVX-512, with those of AVX2 and with other caches; all run as code
// of AVX2.
#include "tenon/models/registry.h"
#include "tenon/support/strings.h"
#include "tenon/tests/strategies/reproducible_testing.h"

namespace tenon::strategies {
namespace {

using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;
using testing_reproducible::ExpectSameBitsEverywhere;

struct Layer {
  const char* name;
  const char* params;
  const char* body;
  bool has_halves = false;  // which the interpreter rounds after each addition
  friend void PrintTo(const Layer& layer, std::ostream* out) { *out << layer.name; }
};

class ReproducibleTest : public ::testing::TestWithParam<Layer> {
 protected:
  ir::Module Module() const {
    return Parsed(StrCat("def @main(", GetParam().params, ") { ", GetParam().body, " }"));
  }
};

TEST_P(ReproducibleTest, TheTargetChangesNoBit) {
  const ir::Module module = Module();
  const runtime::Inputs inputs = RandomInputs(module, 7);
  const std::vector<NDArray> results = ExpectSameBitsEverywhere(module, inputs);
  if (!GetParam().has_halves) ExpectClose(results, Interpreted(module, inputs));
}

INSTANTIATE_TEST_SUITE_P(
    Layers, ReproducibleTest,
    ::testing::Values(
        Layer{"Conv", "%x: Tensor[(1, 19, 13, 17), float32], %w: Tensor[(37, 19, 3, 3), float32]",
              "nn.relu(nn.conv2d(%x, %w, padding=[1, 1]))"},
        Layer{"WideConv",
              "%x: Tensor[(1, 64, 28, 28), float32], %w: Tensor[(64, 64, 3, 3), float32]",
              "nn.conv2d(%x, %w, padding=[1, 1])"},
        Layer{"ConvByTwo",
              "%x: Tensor[(2, 16, 15, 15), float32], %w: Tensor[(32, 16, 3, 3), float32]",
              "nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1])"},
        Layer{"Pointwise",
              "%x: Tensor[(1, 96, 14, 14), float32], %w: Tensor[(40, 96, 1, 1), float32]",
              "nn.conv2d(%x, %w)"},
        Layer{"RowTiled",
              "%x: Tensor[(1, 24, 16, 16), float32], %w: Tensor[(48, 24, 1, 1), float32]",
              "nn.conv2d(%x, %w)"},
        Layer{"Packed",
              "%x: Tensor[(1, 512, 4, 32), float32], %w: Tensor[(64, 512, 1, 1), float32]",
              "nn.conv2d(%x, %w)"},
        Layer{"Grouped",
              "%x: Tensor[(1, 32, 15, 15), float32], %w: Tensor[(64, 16, 3, 3), float32]",
              "nn.conv2d(%x, %w, groups=2)"},
        Layer{"Depthwise", "%x: Tensor[(1, 8, 28, 32), float32], %w: Tensor[(8, 1, 3, 3), float32]",
              "nn.conv2d(%x, %w, padding=[1, 1], groups=8)"},
        Layer{"DepthwiseByTwo",
              "%x: Tensor[(1, 8, 23, 23), float32], %w: Tensor[(8, 1, 5, 5), float32]",
              "nn.conv2d(%x, %w, strides=[2, 2], padding=[2, 2], groups=8)"},
        Layer{"Dense", "%x: Tensor[(67, 131), float32], %w: Tensor[(71, 131), float32]",
              "nn.relu(nn.dense(%x, %w))"},
        Layer{"OneRow", "%x: Tensor[(1, 1031), float32], %w: Tensor[(65, 1031), float32]",
              "nn.dense(%x, %w)"},
        Layer{"Matmul", "%x: Tensor[(20, 96), float32], %w: Tensor[(96, 83), float32]",
              "nn.matmul(%x, %w)"},
        Layer{"BatchMatmul", "%x: Tensor[(3, 17, 64), float32], %y: Tensor[(3, 64, 33), float32]",
              "nn.batch_matmul(%x, %y)"},
        Layer{"Doubles", "%x: Tensor[(9, 131), float64], %w: Tensor[(21, 131), float64]",
              "exp(nn.dense(%x, %w))"},
        Layer{"LongSums", "%x: Tensor[(3, 70001), float32]",
              "(sum(%x, axis=[1]), mean(%x, axis=[0]), prod(%x, axis=[0]))"},
        Layer{"Softmax", "%x: Tensor[(7, 203), float32]", "nn.softmax(%x)"},
        Layer{"LayerNorm",
              "%x: Tensor[(19, 131), float32], %g: Tensor[(131,), float32], %b: Tensor[(131,), "
              "float32]",
              "nn.layer_norm(%x, %g, %b)"},
        Layer{"Gelu", "%x: Tensor[(5, 1027), float32]",
              "multiply(multiply(%x, 0.5f), add(1f, erf(multiply(%x, 0.70710677f))))"},
        Layer{"Functions", "%x: Tensor[(1, 37), float32]",
              "%0 = abs(%x); (tanh(%x), sigmoid(%x), log(%0), sin(%x), cos(%x), tan(%x), atan(%x), "
              "power(%0, %x), rsqrt(%0), sqrt(%0), exp(%x))"},
        Layer{"SumsOfProducts",
              "%x: Tensor[(3, 45), float32], %y: Tensor[(3, 1), float32], %z: Tensor[(3, 1), "
              "float32]",
              "%0 = multiply(%y, %z); (add(%x, %0), add(multiply(%x, %y), multiply(%x, %z)), "
              "subtract(%0, %x), add(%0, %0))"},
        Layer{"Halves", "%x: Tensor[(13, 77), float32], %w: Tensor[(19, 77), float32]",
              "cast(tanh(nn.dense(cast(%x, dtype=\"float16\"), cast(%w, dtype=\"float16\"))), "
              "dtype=\"float32\")",
              /*has_halves=*/true},
        Layer{"Bfloats", "%x: Tensor[(13, 77), float32], %w: Tensor[(19, 77), float32]",
              "cast(nn.softmax(nn.dense(cast(%x, dtype=\"bfloat16\"), cast(%w, "
              "dtype=\"bfloat16\"))), dtype=\"float32\")",
              /*has_halves=*/true},
        Layer{"Pools", "%x: Tensor[(1, 5, 23, 29), float32]",
              "(nn.avg_pool2d(%x, pool_size=[3, 3], strides=[2, 2]), nn.max_pool2d(%x, "
              "pool_size=[2, 2]), nn.global_avg_pool2d(%x))"},
        Layer{"Resize", "%x: Tensor[(1, 3, 20, 20), float32]",
              "image.resize2d(%x, size=[41, 37], method=\"cubic\")"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ReproducibleModelTest, TheTargetChangesNoBitOfATransformer) {
  const ir::Module module = models::Build("transformer");
  ExpectSameBitsEverywhere(module, RandomInputs(module, 3));
}

TEST(ReproducibleOptionTest, WhatCannotBeReproducedIsRefused) {
  const ir::Module module = Parsed("def @main(%x: Tensor[(3,), float32]) { exp(%x) }");
  const auto refusal = [&](const CompileOptions& options) {
    return std::string(Compile(module, options).status().message());
  };
  EXPECT_THAT(refusal({.target = Target::Host("-avx2"), .reproducible = true}),
              HasSubstr("reproducible code needs AVX2 and FMA; the target is "));
  EXPECT_THAT(refusal({.library = LibraryChoice::kLibrary, .reproducible = true}),
              HasSubstr("reproducible code is generated; it cannot ask for the library"));
}

}  // namespace
}  // namespace tenon::strategies
