// Modules as the reference system (v0.18) prints them go in unchanged, and what is printed here
// keeps to what its parser takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/ir/text_format.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::ir {
namespace {

using ::testing::HasSubstr;

// A text with the comments, attributes and metadata of the reference system, and the same module in
// few words.
struct Pair {
  const char* name;
  const char* reference;
  const char* plain;
  friend void PrintTo(const Pair& t, std::ostream* out) { *out << t.name; }
};
class ReferenceTextTest : public ::testing::TestWithParam<Pair> {};

TEST_P(ReferenceTextTest, MeansWhatItSays) {
  const absl::StatusOr<Module> module = TryParse(GetParam().reference);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(StructuralEqual(*module, Parse(GetParam().plain))) << Print(*module);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, ReferenceTextTest,
    ::testing::Values(
        Pair{"TypesAndSpansAreComments",
             "#[version = \"0.0.5\"]\n"
             "def @main(%x: Tensor[(1, 10), float32] /* ty=Tensor[(1, 10), float32] "
             "span=from_string:2:11 */, %w: Tensor[(10), float32] /* ty=Tensor[(10), float32] */) "
             "-> Tensor[(1, 10), float32] {\n"
             "  %0 = add(%x, 1e-05f /* ty=float32 span=from_string:3:16 */) "
             "/* ty=Tensor[(1, 10), float32] span=from_string:3:8 */;\n"
             "  multiply(%0, %w) /* ty=Tensor[(1, 10), float32] span=from_string:4:3 */\n"
             "} /* ty=fn (Tensor[(1, 10), float32]) -> Tensor[(1, 10), float32] */\n",
             "def @main(%x: Tensor[(1, 10), float32], %w: Tensor[(10), float32])\n"
             "    -> Tensor[(1, 10), float32] { multiply(add(%x, 1e-05f), %w) }"},
        Pair{"TuplesHaveTypes",
             "#[version = \"0.0.5\"]\n"
             "def @main(%x: Tensor[(4, 2), float32]) {\n"
             "  %0 = split(%x, indices_or_sections=meta[runtime.BoxInt][0]) "
             "/* ty=(Tensor[(2, 2), float32], Tensor[(2, 2), float32]) */;\n"
             "  %1 = %0.0 /* ty=Tensor[(2, 2), float32] */;\n"
             "  %2 = %0.1 /* ty=Tensor[(2, 2), float32] */;\n"
             "  (%1, %2) /* ty=(Tensor[(2, 2), float32], Tensor[(2, 2), float32]) */\n"
             "}\n"
             "\n"
             "#[metadata]\n"
             "{\n  \"root\": 1, \n  \"nodes\": [\n    {\n      \"type_key\": \"\"\n    }, \n"
             "    {\n      \"type_key\": \"Map\", \n      \"keys\": [\n"
             "        \"runtime.BoxInt\"\n      ], \n      \"data\": [2]\n    }, \n"
             "    {\n      \"type_key\": \"Array\", \n      \"data\": [3]\n    }, \n"
             "    {\n      \"type_key\": \"runtime.BoxInt\", \n      \"repr_str\": \"2\"\n    }\n"
             "  ], \n  \"b64ndarrays\": [], \n  \"attrs\": {\"tvm_version\": \"0.18.0\"}\n}",
             "def @main(%x: Tensor[(4, 2), float32]) {\n"
             "  %0 = split(%x, indices_or_sections=2); (%0.0, %0.1) }"},
        Pair{"PrimitiveFunctionsWithAttributes",
             "def @main(%x: Tensor[(10, 20), float32]) -> Tensor[(10, 20), float32] {\n"
             "  %1 = fn (%p0: Tensor[(10, 20), float32], Primitive=1, hash=\"83d1c8a4afaa8f3d\", "
             "Compiler=\"dnnl\", relay.reshape_only=1) -> Tensor[(10, 20), float32] {\n"
             "    exp(%p0) /* ty=Tensor[(10, 20), float32] */\n"
             "  } /* ty=fn (Tensor[(10, 20), float32]) -> Tensor[(10, 20), float32] */;\n"
             "  %1(%x) /* ty=Tensor[(10, 20), float32] */\n"
             "}\n",
             "def @main(%x: Tensor[(10, 20), float32]) -> Tensor[(10, 20), float32] {\n"
             "  fn (%p0: Tensor[(10, 20), float32], Primitive=1, hash=\"83d1c8a4afaa8f3d\",\n"
             "      Compiler=\"dnnl\", relay.reshape_only=1) -> Tensor[(10, 20), float32] {\n"
             "    exp(%p0) }(%x) }"},
        Pair{"ConstantsOfTheMetadata",
             "#[version = \"0.0.5\"]\n"
             "def @main(%x: Tensor[(3, 5), float32]) {\n"
             "  multiply(%x, meta[relay.Constant][0] /* ty=Tensor[(5), float32] */)\n"
             "}\n\n#[metadata]\n"
             R"({"root": 1, "nodes": [{"type_key": ""},
                 {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
                 {"type_key": "Array", "data": [3]},
                 {"type_key": "relay.Constant", "attrs": {"_checked_type_": "6", "data": "0",
                  "span": "0", "virtual_device_": "4"}},
                 {"type_key": "VirtualDevice", "attrs": {"device_type_int": "-1",
                  "memory_scope": "5", "target": "0", "virtual_device_id": "-1"}},
                 {"type_key": "runtime.String"},
                 {"type_key": "relay.TensorType", "attrs": {"dtype": "float32", "shape": "7",
                  "span": "0"}},
                 {"type_key": "Array", "data": [8]},
                 {"type_key": "IntImm", "attrs": {"dtype": "int32", "span": "0", "value": "5"}}],
                 "b64ndarrays": [
                  "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQAFAAAAAAAAABQAAAAAAAAAAACAPwAAAMAAAAA/AABAQAAAgD4="
                 ], "attrs": {"tvm_version": "0.18.0"}})",
             "def @main(%x: Tensor[(3, 5), float32]) { multiply(%x, meta[relay.Constant][0]) }\n"
             "#[metadata]\n"
             R"({"root":1,"nodes":[{},{"keys":["relay.Constant"],"data":[2]},{"data":[3]},
                 {"attrs":{"data":"0"}}],"b64ndarrays":[
                  "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQAFAAAAAAAAABQAAAAAAAAAAACAPwAAAMAAAAA/AABAQAAAgD4="]})"},
        Pair{"NamesThatArePaths",
             "def @main(%conv1/weight: Tensor[(2), float32], %a.b/0: Tensor[(2), float32]) {\n"
             "  add(%conv1/weight, %a.b/0) /* ty=Tensor[(2), float32] */\n}",
             "def @main(%a: Tensor[(2), float32], %b: Tensor[(2), float32]) { add(%a, %b) }"},
        Pair{"WideIntegersHaveASuffix",
             "def @main(%x: Tensor[(2), float32]) {\n"
             "  strided_slice(%x, begin=[0i64], end=[9223372036854775807i64], strides=[1i64], "
             "axes=None)\n}",
             "def @main(%x: Tensor[(2), float32]) {\n"
             "  strided_slice(%x, begin=[0], end=[9223372036854775807], strides=[1]) }"}),
    [](const auto& info) { return info.param.name; });

TEST(ReferenceTextTest, ScalarsOfSixteenBitsStandInPlace) {
  const Module module = Parse("def @main() { (7i16, -0.5f16, 65504f16) }");
  const auto& tuple = *module.Main().body.As<TupleNode>();
  EXPECT_EQ(tuple.fields[0].As<ConstantNode>()->data.ToVector<std::int16_t>()[0], 7);
  const NDArray& half = tuple.fields[1].As<ConstantNode>()->data;
  EXPECT_EQ(half.dtype(), Float16);
  EXPECT_EQ(*static_cast<const std::uint16_t*>(half.raw()), 0xb800);
  EXPECT_THAT(Print(module), HasSubstr("(7i16, -0.5f16, 65504f16)"));
  for (const char* wrong : {"32768i16", "1i8", "1f8", "1.5i64"}) {
    EXPECT_THAT(
        std::string(TryParse(StrCat("def @main() { ", wrong, " }")).status().message()),
        HasSubstr(
            "is not a constant; constants are 1 (int32), 1i64, 1i16, 1f (float32), 1f64, 1f16"));
  }
}

// Devices are references into the metadata section, and stand after the names of
// parameters and, for the result, among a function's attributes.
constexpr char kDevices[] = R"(#[version = "0.0.5"]
def @main(%x {virtual_device=meta[VirtualDevice][0]}: Tensor[(10), float32], %y: Tensor[(10), float32], virtual_device=meta[VirtualDevice][1]) {
  %0 = add(%x, %y);
  %1 = sqrt(%0);
  %2 = on_device(%1, virtual_device=meta[VirtualDevice][1], constrain_result=True);
  device_copy(%2, src_virtual_device=meta[VirtualDevice][1], dst_virtual_device=meta[VirtualDevice][0])
}
)";
// Entries: cpu:0, cuda:1 and any device. Their targets say nothing here.
constexpr char kDeviceMetadata[] = R"(
#[metadata]
{"root": 1, "nodes": [{"type_key": ""},
  {"type_key": "Map", "keys": ["VirtualDevice"], "data": [2]},
  {"type_key": "Array", "data": [3, 5, 6]},
  {"type_key": "VirtualDevice", "attrs": {"device_type_int": "1", "memory_scope": "4",
    "target": "7", "virtual_device_id": "0"}},
  {"type_key": "runtime.String"},
  {"type_key": "VirtualDevice", "attrs": {"device_type_int": "2", "memory_scope": "4",
    "target": "0", "virtual_device_id": "1"}},
  {"type_key": "VirtualDevice", "attrs": {"device_type_int": "-1", "memory_scope": "4",
    "target": "0", "virtual_device_id": "-1"}},
  {"type_key": "Target"}],
  "b64ndarrays": [], "attrs": {"tvm_version": "0.18.0"}}
)";

TEST(ReferenceTextTest, S001_15_DevicesAreMetadataReferences) {
  const Module module = Parse(StrCat(kDevices, kDeviceMetadata));
  // Without the section they are text, which is read as well.
  const std::string readable = Print(module);
  EXPECT_THAT(readable, HasSubstr("def @main(%x: Tensor[(10), float32], %y: Tensor[(10), float32], "
                                  "param_devices=[\"cpu:0\", \"\"], result_device=\"cuda:1\")"));
  EXPECT_THAT(readable,
              HasSubstr("on_device(%1, virtual_device=\"cuda:1\", constrain_result=True)"));
  EXPECT_TRUE(StructuralEqual(Parse(readable), module));
  // With it the text is the one that was read.
  const std::string text = PrintModule(module);
  EXPECT_EQ(text.substr(0, text.find("\n#[metadata]")), kDevices);
  EXPECT_TRUE(StructuralEqual(Parse(text), module)) << text;
}

// The reference system's loader (apache/tvm v0.18, src/node/serialization.cc) asks for every field
// that VirtualDeviceNode visits (include/tvm/target/virtual_device.h): numbers as text, objects as
// the number of their node, 0 for null; an empty text has no repr_str; the version is an attribute.
TEST(ReferenceTextTest, DevicesAreWrittenWithAllTheirFields) {
  const std::string text = PrintModule(Parse(
      StrCat("def @main(%x {virtual_device=meta[VirtualDevice][1]}) { %x }", kDeviceMetadata)));
  EXPECT_EQ(text.substr(text.find("\n#[metadata]")),
            "\n#[metadata]\n"
            R"({"attrs":{"tvm_version":"0.18.0"},"b64ndarrays":[],"nodes":[{"type_key":""},)"
            R"({"data":[2],"keys":["VirtualDevice"],"type_key":"Map"},)"
            R"({"data":[4],"type_key":"Array"},{"type_key":"runtime.String"},)"
            R"({"attrs":{"device_type_int":"2","memory_scope":"3","target":"0",)"
            R"("virtual_device_id":"1"},"type_key":"VirtualDevice"}],"root":1})"
            "\n");
}

// As its printer does (src/relay/printer/relay_text_printer.cc, PrintFunc).
TEST(ReferenceTextTest, TheDeviceOfAResultStandsBehindTheOtherAttributes) {
  const Module module = Parse(
      StrCat("def @main(%x, virtual_device=meta[VirtualDevice][0], weight=3, Primitive=1) { %x }",
             kDeviceMetadata));
  EXPECT_THAT(PrintModule(module),
              HasSubstr("(%x, Primitive=1, weight=3, virtual_device=meta[VirtualDevice][0])"));
}

TEST(ReferenceTextTest, DevicesThatAreNotKnownAreRefusedByKind) {
  const auto message = [](const std::string& type, const std::string& index) {
    const std::string metadata =
        StrCat(R"({"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": )"
               R"(["VirtualDevice"], "data": [2]}, {"type_key": "Array", "data": [3]}, )"
               R"({"type_key": "VirtualDevice", "attrs": {"device_type_int": ")",
               type, R"(", "memory_scope": "0", "target": "0", "virtual_device_id": ")", index,
               R"("}}], "b64ndarrays": []})");
    const absl::Status status =
        TryParse(StrCat("def @main(%x {virtual_device=meta[VirtualDevice][0]}) { %x }\n"
                        "#[metadata]\n",
                        metadata))
            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_THAT(message("14", "0"),
              HasSubstr("the metadata section has a device of kind 14; known kinds are -1 (any), "
                        "1 (cpu), 2 (cuda)"));
  EXPECT_THAT(message("1", "first"),
              HasSubstr("the virtual_device_id of a device of the metadata section is 'first', not "
                        "a number"));
}

// Constants and devices side by side; what is any device is not constrained.
TEST(ReferenceTextTest, DevicesAndConstantsShareTheSection) {
  const Module constant = Module::FromExpr(Constant::Make(NDArray::FromVector<float>({2}, {1, 2})));
  const std::string text =
      PrintModule(Parse(StrCat(kDevices, kDeviceMetadata)).With("other", constant.Get("main")));
  EXPECT_EQ(PrintModule(Parse(text)), text);
  const Module any = Parse(StrCat(
      "def @main(%x) { on_device(%x, virtual_device=meta[VirtualDevice][2]) }", kDeviceMetadata));
  EXPECT_THAT(Print(any), HasSubstr("on_device(%x)"));
}

TEST(ReferenceTextTest, DevicesOfVariablesAreRefusedWithWords) {
  const auto message = [](const std::string& text) {
    return std::string(TryParse(text).status().message());
  };
  EXPECT_THAT(message("def @main(%x {device=\"cpu\"}) { %x }"),
              HasSubstr("a variable has no attribute device; it can have virtual_device"));
  EXPECT_THAT(message("def @main(%x {virtual_device=1}) { %x }"),
              HasSubstr("the device of a variable is 1; it must be meta[VirtualDevice][number]"));
  EXPECT_THAT(message("def @main(%x {virtual_device=meta[VirtualDevice][0]}) { %x }"),
              HasSubstr("has 0 entries of kind VirtualDevice; there is no 0"));
}

// Its lexer takes an integer without a suffix for one of 32 bits, and a fraction for a float only
// with a suffix.
TEST(ReferenceTextTest, NumbersOfAttributesCarryTheSuffixesThatItNeeds) {
  const std::string text =
      Print(Parse("def @main(%x: Tensor[(2), float32]) { clip(strided_slice(%x, begin=[0], "
                  "end=[9223372036854775807], strides=[1]), a_min=0.5, a_max=3) }"));
  EXPECT_THAT(text, HasSubstr("end=[9223372036854775807i64]"));
  EXPECT_THAT(text, HasSubstr("a_min=0.5f, a_max=3f"));
}

}  // namespace
}  // namespace tenon::ir
