// Where values live: both rules that place copies, and what they refuse.
#include "tenon/passes/device/plan_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/ir/verify.h"
#include "tenon/passes/device/rewrite_annotated_ops.h"
#include "tenon/passes/infer_type.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kVersion[] = "#[version = \"0.0.5\"]\n";

// The annotation carries a device.
constexpr char kAnnotated[] =
    "def @main(%x: Tensor[(1, 10), float32], %y: Tensor[(1, 10), float32]) {\n"
    "  %0 = add(%x, %y);\n"
    "  %1 = on_device(sqrt(%0), virtual_device=\"cuda:0\");\n"
    "  %2 = subtract(%1, log(%0));\n"
    "  on_device(exp(%2), virtual_device=\"cuda:0\")\n"
    "}\n";

// Both marks are references to one entry, as they name one device.
TEST(RewriteAnnotatedOpsTest, S001_15_MarksOfTheExamplePrintAsNumberedReferences) {
  const ir::Module module = Parse(kAnnotated);
  const std::string text = ir::PrintModule(module);
  EXPECT_EQ(text.substr(0, text.find("\n#[metadata]")),
            std::string(kVersion) +
                "def @main(%x: Tensor[(1, 10), float32], %y: Tensor[(1, 10), float32]) {\n"
                "  %0 = add(%x, %y);\n"
                "  %1 = sqrt(%0);\n"
                "  %2 = on_device(%1, virtual_device=meta[VirtualDevice][0]);\n"
                "  %3 = log(%0);\n"
                "  %4 = subtract(%2, %3);\n"
                "  %5 = exp(%4);\n"
                "  on_device(%5, virtual_device=meta[VirtualDevice][0])\n"
                "}\n");
  EXPECT_TRUE(ir::StructuralEqual(Parse(text), module));
}

std::string Rewritten(std::string_view text) {
  const ir::Module module = RewriteAnnotatedOps(InferType(Parse(text)), Device());
  ir::VerifyModule(module);
  return Print(module).substr(sizeof kVersion - 1);
}
std::string Planned(std::string_view text, const Device& fallback = {}) {
  const ir::Module module = PlanDevices(InferType(Parse(text)), fallback);
  ir::VerifyModule(module);
  return Print(module).substr(sizeof kVersion - 1);
}

TEST(RewriteAnnotatedOpsTest, S001_16_OnlyWrappedCallsLeaveTheFallback) {
  const std::string there =
      "src_virtual_device=\"cpu:0\", dst_virtual_device=\"cuda:0\") /* ty=Tensor[(1, 10), "
      "float32] */;\n";
  const std::string back =
      "src_virtual_device=\"cuda:0\", dst_virtual_device=\"cpu:0\") /* ty=Tensor[(1, 10), "
      "float32] */;\n";
  const std::string type = " /* ty=Tensor[(1, 10), float32] */";
  EXPECT_EQ(Rewritten(kAnnotated),
            "def @main(%x: Tensor[(1, 10), float32], %y: Tensor[(1, 10), float32]) -> Tensor[(1, "
            "10), float32] {\n"
            "  %0 = add(%x, %y)" +
                type +
                ";\n"
                "  %1 = device_copy(%0, " +
                there + "  %2 = sqrt(%1)" + type +
                ";\n"
                "  %3 = device_copy(%2, " +
                back + "  %4 = log(%0)" + type +
                ";\n"
                "  %5 = subtract(%3, %4)" +
                type +
                ";\n"
                "  %6 = device_copy(%5, " +
                there + "  exp(%6)" + type + "\n}\n");
}

TEST(RewriteAnnotatedOpsTest, OneCopyServesAllReadersOnADevice) {
  const std::string text = Rewritten(
      "def @main(%x: Tensor[(4), float32]) {\n"
      "  %0 = exp(%x);\n"
      "  (on_device(sqrt(%0), virtual_device=\"cpu:1\"),\n"
      "   on_device(log(%0), virtual_device=\"cpu:1\")) }");
  EXPECT_EQ(text.find("device_copy"), text.rfind("device_copy")) << text;
  EXPECT_THAT(text, Not(HasSubstr("on_device")));
}

TEST(RewriteAnnotatedOpsTest, AModuleWithoutMarksIsTheSame) {
  const ir::Module module =
      InferType(Parse("def @main(%x: Tensor[(4), float32]) { add(exp(%x), 1f) }"));
  EXPECT_EQ(RewriteAnnotatedOps(module, Device()), module);
}

// Operators share one device with their inputs, so the marks spread over the
// whole graph.
TEST(PlanDevicesTest, S001_17_AMarkSpreadsThroughCalls) {
  EXPECT_EQ(Planned(kAnnotated),
            "def @main(%x: Tensor[(1, 10), float32], %y: Tensor[(1, 10), float32], "
            "param_devices=[\"cuda:0\", \"cuda:0\"], result_device=\"cuda:0\") -> Tensor[(1, 10), "
            "float32] {\n"
            "  %0 = add(%x, %y) /* ty=Tensor[(1, 10), float32] */;\n"
            "  %1 = sqrt(%0) /* ty=Tensor[(1, 10), float32] */;\n"
            "  %2 = log(%0) /* ty=Tensor[(1, 10), float32] */;\n"
            "  %3 = subtract(%1, %2) /* ty=Tensor[(1, 10), float32] */;\n"
            "  exp(%3) /* ty=Tensor[(1, 10), float32] */\n"
            "}\n");
}

// With marks on both sides of an edge, both rules put the copy there.
TEST(PlanDevicesTest, S001_17_MarksOnBothSidesMakeACopy) {
  const char* text =
      "def @main(%x: Tensor[(4), float32]) {\n"
      "  %0 = on_device(exp(%x), virtual_device=\"cpu:0\");\n"
      "  on_device(sqrt(%0), virtual_device=\"cpu:1\") }";
  for (const std::string& placed : {Planned(text), Rewritten(text)}) {
    EXPECT_THAT(placed, AllOf(HasSubstr("%0 = exp(%x)"),
                              HasSubstr("%1 = device_copy(%0, src_virtual_device=\"cpu:0\", "
                                        "dst_virtual_device=\"cpu:1\")"),
                              HasSubstr("  sqrt(%1)")));
  }
  EXPECT_THAT(Planned(text), HasSubstr("result_device=\"cpu:1\""));
}

// device_copy is of one tensor.
TEST(PlanDevicesTest, ATupleIsCopiedFieldByField) {
  const char* text =
      "def @main(%x: Tensor[(4), float32]) {\n"
      "  %0 = on_device(split(%x, indices_or_sections=2), virtual_device=\"cpu:1\");\n"
      "  on_device(concatenate(%0, axis=0), virtual_device=\"cpu:0\") }";
  for (const std::string& placed : {Planned(text), Rewritten(text)}) {
    InferType(Parse(placed));  // refuses a copy of a tuple
    const std::size_t first = placed.find("device_copy(");
    const std::size_t second = placed.find("device_copy(", first + 1);
    EXPECT_NE(second, std::string::npos) << placed;
    EXPECT_EQ(placed.find("device_copy(", second + 1), std::string::npos) << placed;
  }
}

TEST(PlanDevicesTest, AMarkOfATupleIsOneOfItsFields) {
  const std::string text = Planned(
      "def @main(%x: Tensor[(4), float32], %y: Tensor[(4), float32]) {\n"
      "  %0 = on_device((exp(%x), sin(%y), 1f), virtual_device=\"cpu:1\");\n"
      "  on_device(add(%0.0, multiply(%0.1, %0.2)), virtual_device=\"cpu:1\") }");
  EXPECT_THAT(text, AllOf(HasSubstr("param_devices=[\"cpu:1\", \"cpu:1\"]"),
                          Not(HasSubstr("device_copy"))));
}

TEST(RewriteAnnotatedOpsTest, AFieldOfATupleIsWhereItsCallIs) {
  EXPECT_THAT(Rewritten("def @main(%x: Tensor[(4), float32]) {\n"
                        "  %0 = (on_device(exp(%x), virtual_device=\"cpu:1\"), %x);\n"
                        "  sqrt(%0.0) }"),
              HasSubstr("device_copy"));
}

TEST(PlanDevicesTest, IsIdempotent) {
  const char* text =
      "def @main(%x: Tensor[(4), float32]) {\n"
      "  %0 = on_device(exp(%x), virtual_device=\"cpu:2\");\n"
      "  on_device(sqrt(%0), virtual_device=\"cpu:1\") }";
  const ir::Module once = PlanDevices(InferType(Parse(text)));
  EXPECT_TRUE(ir::StructuralEqual(PlanDevices(once), once)) << Print(once);
}

TEST(PlanDevicesTest, ValuesThatNothingFixesAreOnTheFallback) {
  const char* text = "def @main(%x: Tensor[(4), float32]) { exp(%x) }";
  EXPECT_THAT(Planned(text), Not(HasSubstr("param_devices")));
  EXPECT_THAT(Planned(text, {.type = DeviceType::kCuda}),
              HasSubstr("param_devices=[\"cuda:0\"], result_device=\"cuda:0\""));
}

TEST(PlanDevicesTest, ConstantsAreWhereTheyAreRead) {
  const std::string text = Planned(
      "def @main(%x: Tensor[(4), float32]) {\n"
      "  %0 = on_device(add(%x, 1f), virtual_device=\"cpu:0\");\n"
      "  on_device(add(%0, 1f), virtual_device=\"cpu:1\") }");
  EXPECT_EQ(text.find("device_copy"), text.rfind("device_copy")) << text;
}

TEST(PlanDevicesTest, AValueOnTwoDevicesIsRefused) {
  const Error error = ErrorOf([] {
    Planned(
        "def @main(%x: Tensor[(4), float32]) {\n"
        "  %0 = on_device(exp(%x), virtual_device=\"cpu:0\", constrain_result=True);\n"
        "  on_device(sqrt(%0), virtual_device=\"cpu:1\") }");
  });
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(error.message()),
              HasSubstr("on_device would have values on cpu:0 and cpu:1; an on_device between them "
                        "is where they can be copied"));
}

TEST(DeviceOpsTest, AnUnknownDeviceIsRefused) {
  EXPECT_THAT(
      ErrorOf([] {
        InferType(Parse("def @main(%x: float32) { on_device(%x, virtual_device=\"tpu\") }"));
      }).message(),
      HasSubstr("virtual_device is \"tpu\"; devices are cpu, cuda, opencl, vulkan, metal "
                "and rocm"));
}

}  // namespace
}  // namespace tenon::passes
