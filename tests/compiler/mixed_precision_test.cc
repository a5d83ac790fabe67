// What ToMixedPrecision makes of a network differs from it by the accuracy of the low type, and so
// does what is compiled for that type, whose images may get another layout.
#include "tenon/ir/text_format.h"
#include "tenon/jit/host_target.h"
#include "tenon/passes/bind_params.h"
#include "tenon/passes/precision/to_mixed_precision.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/verify/array_values.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

struct Net {
  const char* name;
  const char* text;
  friend void PrintTo(const Net& net, std::ostream* out) { *out << net.name; }
};
class MixedPrecisionTest : public ::testing::TestWithParam<Net> {};

TEST_P(MixedPrecisionTest, IsAsAccurateAsTheType) {
  const ir::Module module = passes::InferType(Parsed(GetParam().text));
  const runtime::Inputs inputs = RandomInputs(module, 1);
  const std::vector<NDArray> exact = Outcome(module, inputs);
  // Three roundings of a value, each by half a unit of its last place.
  for (const auto& [type, accuracy] : {std::pair(BFloat16, 3.0 / 256), {Float16, 3.0 / 2048}}) {
    SCOPED_TRACE(type.ToString());
    const ir::Module mixed = passes::ToMixedPrecision(module, {.type = type});
    EXPECT_FALSE(mixed == module);
    for (const int level : {0, 3}) {
      const std::vector<NDArray> got = Outcome(mixed, inputs, {.opt_level = level});
      ASSERT_EQ(got.size(), exact.size());
      const double allowed = accuracy * verify::LargestMagnitude(exact[0]);
      EXPECT_FALSE(verify::FirstDifference(got[0], exact[0], allowed).has_value());
      // It is not float32 after all.
      EXPECT_TRUE(verify::FirstDifference(got[0], exact[0], allowed / 1000).has_value());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, MixedPrecisionTest,
    ::testing::Values(
        Net{"Dense",
            "def @main(%x: Tensor[(15, 63), float32], %w: Tensor[(17, 63), float32], %b: "
            "Tensor[(17), float32]) { nn.relu(nn.bias_add(nn.dense(%x, %w), %b)) }"},
        Net{"Conv",
            "def @main(%x: Tensor[(1, 17, 9, 9), float32], %w: Tensor[(16, 17, 3, 3), float32]) { "
            "nn.max_pool2d(nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1])), pool_size=[2, 2]) }"},
        // A thousand products would be lost in a bfloat16 sum.
        Net{"LongSum",
            "def @main(%x: Tensor[(3, 1025), float32], %w: Tensor[(5, 1025), float32]) "
            "{ nn.dense(%x, %w) }"},
        Net{"Attention",
            "def @main(%q: Tensor[(2, 16, 8), float32], %k: Tensor[(2, 16, 8), float32]) { "
            "nn.batch_matmul(nn.softmax(nn.batch_matmul(%q, %k, transpose_b=True)), %k) }"}),
    [](const auto& info) { return info.param.name; });

// --- CompileOptions::mixed_precision

constexpr const char* kTwoConvolutions =
    "def @main(%x: Tensor[(1, 16, 9, 11), float32], %v: Tensor[(24, 16, 3, 3), float32], "
    "%w: Tensor[(24, 1, 3, 3), float32]) { %0 = nn.conv2d(%x, %v, padding=[1, 1]); "
    "%1 = nn.relu(%0); nn.conv2d(%1, %w, padding=[1, 1], groups=24) }";

TEST(MixedPrecisionOptionTest, ResultsAreAsPreciseAsTheTypeAtEveryLevel) {
  const ir::Module module = Parsed(kTwoConvolutions);
  const runtime::Inputs all = RandomInputs(module, 3);
  const ir::Module bound =
      passes::BindParams(module, "main", {{"v", all.at("v")}, {"w", all.at("w")}});
  const runtime::Inputs inputs = {{"x", all.at("x")}};
  const NDArray exact = Outcome(bound, inputs)[0];
  const double largest = verify::LargestMagnitude(exact);
  for (int level = 0; level <= 4; ++level) {
    for (const LibraryChoice library : {LibraryChoice::kAuto, LibraryChoice::kTe}) {
      for (const auto& [type, rounding] : {std::pair(BFloat16, 0x1p-6), {Float16, 0x1p-9}}) {
        const NDArray mixed = Outcome(
            bound, inputs, {.opt_level = level, .library = library, .mixed_precision = type})[0];
        ASSERT_EQ(mixed.dtype(), Float32);
        EXPECT_FALSE(verify::FirstDifference(mixed, exact, rounding * largest).has_value());
        // It was asked for.
        EXPECT_TRUE(verify::FirstDifference(mixed, exact, rounding * largest / 1000).has_value());
      }
    }
  }
}

TEST(MixedPrecisionOptionTest, ChannelsAreLastWhereMatrixInstructionsTakeThem) {
  const ir::Module module = Parsed(kTwoConvolutions);
  const auto graph = [&](LibraryChoice library) {
    const CompileOptions options{.library = library, .mixed_precision = BFloat16};
    return ir::PrintModule(Lower(module, options).value().module);
  };
  EXPECT_THAT(graph(LibraryChoice::kTe), Not(HasSubstr("NHWC")));
  EXPECT_EQ(graph(LibraryChoice::kAuto).find("NHWC") != std::string::npos,
            jit::HostTarget().Has("amx-bf16"));
}

TEST(MixedPrecisionOptionTest, OtherTypesAreRefused) {
  const absl::Status status =
      Compile(Parsed("def @main(%x: Tensor[(4), float32]) { exp(%x) }"), {.mixed_precision = Int8})
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("int8"), HasSubstr("bfloat16"), HasSubstr("float16")));
}

}  // namespace
}  // namespace tenon
