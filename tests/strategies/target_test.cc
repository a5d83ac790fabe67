// Kernels are chosen and scheduled for the target that code is made for: tiles of its vectors, in
// as many registers as it has, without instructions that it lacks. operators_test.cc compares the
// results of all operators on such targets.
#include <algorithm>

#include "tenon/jit/kernel.h"
#include "tenon/loop/visit.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

struct Layer {
  const char* name;
  const char* text;
  bool has_plain_vectors = true;  // none that are made of several
};
void PrintTo(const Layer& layer, std::ostream* out) { *out << layer.name; }

constexpr Layer kLayers[] = {
    {"Matmul",
     "def @main(%a: Tensor[(64, 96), float32], %b: Tensor[(96, 80), float32]) "
     "{ nn.relu(nn.matmul(%a, %b)) }"},
    {"FewRows",
     "def @main(%a: Tensor[(20, 96), float32], %b: Tensor[(80, 96), float32]) "
     "{ nn.dense(%a, %b) }"},
    {"TiledConv",
     "def @main(%x: Tensor[(1, 16, 15, 15), float32], %w: Tensor[(32, 16, 3, 3), float32]) "
     "{ nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1])) }"},
    {"GroupedConv",
     "def @main(%x: Tensor[(1, 32, 15, 15), float32], %w: Tensor[(64, 16, 3, 3), float32]) "
     "{ nn.conv2d(%x, %w, groups=2) }"},
    {"RowTiledConv",
     "def @main(%x: Tensor[(1, 24, 16, 16), float32], %w: Tensor[(48, 24, 1, 1), float32]) "
     "{ nn.conv2d(%x, %w) }"},
    {"PackedConv",
     "def @main(%x: Tensor[(1, 512, 4, 32), float32], %w: Tensor[(64, 512, 1, 1), float32]) "
     "{ nn.conv2d(%x, %w) }"},
    {"TallDepthwise",
     "def @main(%x: Tensor[(1, 8, 28, 32), float32], %w: Tensor[(8, 1, 3, 3), float32]) "
     "{ nn.conv2d(%x, %w, padding=[1, 1, 1, 1], groups=8) }"},
    {"SmallDepthwise",
     "def @main(%x: Tensor[(1, 8, 14, 14), float32], %w: Tensor[(8, 1, 3, 3), float32]) "
     "{ nn.conv2d(%x, %w, padding=[1, 1, 1, 1], groups=8) }"},
    {"FlatDepthwise",
     "def @main(%x: Tensor[(1, 8, 23, 23), float32], %w: Tensor[(8, 1, 5, 5), float32]) "
     "{ nn.conv2d(%x, %w, padding=[2, 2, 2, 2], groups=8) }"},
    {"ChannelsLastDepthwise",
     "def @main(%x: Tensor[(1, 14, 14, 48), float32], %w: Tensor[(48, 1, 3, 3), float32]) "
     "{ nn.conv2d(%x, %w, padding=[1, 1, 1, 1], groups=48, data_layout=\"NHWC\") }"},
    {"BlockedConv",
     "def @main(%x: Tensor[(1, 2, 14, 14, 16), float32], %w: Tensor[(4, 2, 3, 3, 16, 16), "
     "float32]) { nn.contrib_conv2d_NCHWc(%x, %w, kernel_size=[3, 3], channels=64, "
     "data_layout=\"NCHW16c\", kernel_layout=\"OIHW16i16o\") }"},
    {"Softmax", "def @main(%x: Tensor[(40, 200), float32]) { nn.softmax(%x) }", false},
    {"Transpose", "def @main(%x: Tensor[(80, 96), float32]) { transpose(%x) }"},
    {"Resize",
     "def @main(%x: Tensor[(1, 3, 20, 20), float32]) { image.resize2d(%x, size=[40, 40]) }", false},
};

CompileOptions GeneratedFor(const Target& target) {
  return {.target = target, .library = LibraryChoice::kTe};
}

// Bits of the longest vector of numbers that the loops compute.
int WidestVector(const ir::Module& module, const CompileOptions& options) {
  int widest = 0;
  for (const LoweredKernel& kernel : ValueOrThrow(Lower(module, options)).kernels) {
    for (const loop::Function& function : GeneratedFunctions(kernel.choice.built)) {
      loop::VisitExprs(function.body, [&](const loop::Expr& e) {
        const DataType type = e.dtype();
        if (type.is_float()) widest = std::max(widest, type.bits() * type.lanes());
      });
    }
  }
  return widest;
}

class TargetsLayerTest : public ::testing::TestWithParam<Layer> {};
INSTANTIATE_TEST_SUITE_P(Layers, TargetsLayerTest, ::testing::ValuesIn(kLayers),
                         [](const auto& info) { return info.param.name; });

TEST_P(TargetsLayerTest, LoopsHaveVectorsOfTheTarget) {
  const ir::Module module = Parsed(GetParam().text);
  for (const char* mask : {"", "-avx512f", "-avx"}) {
    const Target target = jit::HostTarget(mask);
    // Blocked layouts keep their blocks, whatever the vectors.
    const std::int64_t bytes = std::string_view(GetParam().name) == "BlockedConv"
                                   ? std::max<std::int64_t>(64, target.vector_bytes)
                                   : target.vector_bytes;
    const int widest = WidestVector(module, GeneratedFor(target));
    if (GetParam().has_plain_vectors) {
      EXPECT_EQ(widest, 8 * bytes) << mask;
    } else {
      EXPECT_GE(widest, 8 * bytes) << mask;
    }
  }
}

TEST_P(TargetsLayerTest, ResultsAreRightOnEveryTarget) {
  const ir::Module module = Parsed(GetParam().text);
  const runtime::Inputs inputs = RandomInputs(module, 3);
  for (const char* mask : {"-avx512f", "-avx2", "-avx"}) {
    SCOPED_TRACE(mask);
    ExpectClose(Outcome(module, inputs, GeneratedFor(jit::HostTarget(mask))),
                Interpreted(module, inputs));
  }
}

TEST(TargetTest, InstructionsThatTheTargetLacksAreNotChosen) {
  const ir::Module module = Parsed(
      "def @main(%a: Tensor[(32, 64), uint8], %b: Tensor[(64, 64), int8]) "
      "{ nn.dense(%a, %b, out_dtype=\"int32\") }");
  const auto loops = [&](const Target& target) {
    return testing_graphs::LoopsOf(module, GeneratedFor(target));
  };
  Target with = jit::HostTarget();
  with.features.insert("avx512vnni");
  EXPECT_THAT(loops(with), HasSubstr("dot_u8s8"));
  // Products of words of AVX2 are enough.
  const Target words = jit::Without(with, "avx512vnni");
  EXPECT_THAT(loops(words), HasSubstr("dot_u8s8"));
  EXPECT_THAT(loops(jit::Without(words, "avx2")), Not(HasSubstr("dot_u8s8")));
}

// oneDNN picks its code by the host.
TEST(TargetTest, OneDnnIsRefusedWhereItWouldUseWhatTheTargetLacks) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(1, 16, 14, 14), float32], %w: Tensor[(16, 16, 5, 5), float32]) "
      "{ nn.conv2d(%x, %w) }");
  const Lowered masked = ValueOrThrow(
      Lower(module, {.target = jit::HostTarget("-sse4.1"), .library = LibraryChoice::kLibrary}));
  EXPECT_THAT(masked.kernels.at(0).choice.Explanation(),
              HasSubstr("no, its code uses sse4.1, which the target lacks; ONEDNN_MAX_CPU_ISA "
                        "limits it for the whole process"));
  const Lowered whole = ValueOrThrow(Lower(module, {.library = LibraryChoice::kLibrary}));
  EXPECT_EQ(whole.kernels.at(0).choice.implementation, "onednn");
}

}  // namespace
}  // namespace tenon::strategies
