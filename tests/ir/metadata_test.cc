// Constants in the metadata section: they read back byte for byte, and damage is refused in words.
#include <limits>
#include <memory>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/ir/text_format.h"
#include "tenon/ops/builders.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Module RoundTrip(const Module& module) { return Parse(PrintModule(module)); }

template <typename T>
NDArray Numbers(const std::vector<T>& values) {
  return NDArray::FromVector<T>({static_cast<std::int64_t>(values.size())}, values);
}

// The bytes of `bits` as elements of a type without a C++ name.
NDArray Halves(DataType dtype) {
  const NDArray bits = Numbers<std::uint16_t>({0, 1, 0x3c00, 0x7c00, 0x7e01, 0xffff});
  return NDArray::View({6}, dtype, bits.raw(), std::make_shared<NDArray>(bits));
}

TEST(MetadataTest, ConstantsOfEveryTypeReadBackByteForByte) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const NDArray& data :
       {Numbers<bool>({true, false}), Numbers<std::int8_t>({-128, 127}),
        Numbers<std::int16_t>({-32768, 7}), Numbers<std::int32_t>({INT32_MIN, 7}),
        Numbers<std::int64_t>({INT64_MIN, 7}), Numbers<std::uint8_t>({255, 0}),
        Numbers<std::uint16_t>({65535}), Numbers<std::uint32_t>({UINT32_MAX}),
        Numbers<std::uint64_t>({UINT64_MAX}),
        Numbers<float>({nan, -nan, -0.0F, 1e-45F, std::numeric_limits<float>::infinity()}),
        Numbers<double>({0.1, -0.0, 5e-324}), Halves(Float16), Halves(BFloat16)}) {
    const Module module = Module::FromExpr(Constant::Make(data));
    EXPECT_TRUE(StructuralEqual(RoundTrip(module), module)) << data.dtype().ToString();
  }
}

TEST(MetadataTest, ShapesReadBack) {
  for (const Shape& shape : {Shape{0}, Shape{2, 0, 3}, Shape{1, 1, 1}, Shape{2, 3, 4, 5}}) {
    const Module module = Module::FromExpr(Constant::Make(NDArray::Zeros(shape, Float32)));
    EXPECT_TRUE(StructuralEqual(RoundTrip(module), module)) << ShapeToString(shape);
  }
}

// Scalars that have no text of their own.
TEST(MetadataTest, ScalarsOfOtherTypesAndWithoutAValueReadBack) {
  for (const NDArray& data :
       {NDArray::Scalar<std::int8_t>(-1), NDArray::Scalar<std::uint64_t>(UINT64_MAX),
        NDArray::Scalar<float>(NAN), NDArray::Scalar<float>(-INFINITY),
        NDArray::Scalar<double>(NAN)}) {
    const Module module = Module::FromExpr(Constant::Make(data));
    EXPECT_THAT(PrintModule(module), HasSubstr("meta[relay.Constant][0]"));
    EXPECT_TRUE(StructuralEqual(RoundTrip(module), module)) << data.dtype().ToString();
  }
}

TEST(MetadataTest, SX_08_ConstantsAreNumberedThroughTheModule) {
  const Expr c = Constant::Make(Numbers<float>({1, 2}));
  const Expr d = Constant::Make(Numbers<float>({3, 4}));
  const Module module = Module()
                            .With("f", Function::Make({}, ops::Add(ops::Add(c, d), c)))
                            .With("main", Function::Make({}, d));
  const std::string text = PrintModule(module);
  EXPECT_THAT(text, HasSubstr("  %0 = add(meta[relay.Constant][0]"));
  EXPECT_THAT(text, HasSubstr("meta[relay.Constant][1]"));
  EXPECT_THAT(text, HasSubstr("  meta[relay.Constant][2]"));
  EXPECT_THAT(text, HasSubstr("\n#[metadata]\n{"));
  EXPECT_THAT(text, HasSubstr(R"({"data":[2],"keys":["relay.Constant"],"type_key":"Map"})"));
  EXPECT_TRUE(StructuralEqual(Parse(text), module));
  EXPECT_THAT(Print(module), Not(HasSubstr("#[metadata]")));
}

// A graph whose nodes from 3 on are `nodes`, listed in the array of `kind`.
std::string Graph(const std::string& kind, const std::string& nodes, const std::string& entries,
                  const std::string& arrays = "") {
  return StrCat(R"({"root":1,"nodes":[{"type_key":""},{"type_key":"Map","keys":[")", kind,
                R"("],"data":[2]},{"type_key":"Array","data":[)", entries, "]},", nodes,
                R"(],"b64ndarrays":[)", arrays, R"(],"attrs":{"tvm_version":"0.18.0"}})");
}
std::string OneConstant(const std::string& base64) {
  return Graph("relay.Constant",
               R"({"type_key":"relay.Constant","attrs":{"_checked_type_":"0","data":"0",)"
               R"("span":"0","virtual_device_":"4"}},{"type_key":"VirtualDevice","attrs":{}})",
               "3", StrCat("\"", base64, "\""));
}
constexpr const char* kOneByte =
    "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAAIAQABAAAAAAAAAAEAAAAAAAAAAQ==";

TEST(MetadataTest, OneEntryIsOneConstant) {
  const Module module =
      Parse(StrCat("def @main() { add(meta[relay.Constant][0], meta[relay.Constant][0]) }\n"
                   "#[metadata]\n",
                   OneConstant(kOneByte)));
  const auto& call = *module.Main().body.As<CallNode>();
  EXPECT_EQ(call.args[0], call.args[1]);
  EXPECT_EQ(call.args[0].As<ConstantNode>()->data.ToVector<std::int8_t>(),
            std::vector<std::int8_t>{1});
}

TEST(MetadataTest, BoxedNumbersAreValuesOfAttributes) {
  for (const char* node :
       {R"({"type_key":"runtime.BoxInt","repr_str":"2"})",
        R"({"type_key":"IntImm","attrs":{"dtype":"int32","span":"0","value":"2"}})"}) {
    const std::string kind = std::string(node).substr(13, std::string(node).find('"', 13) - 13);
    const Module module = Parse(StrCat("def @main(%x) { split(%x, indices_or_sections=meta[", kind,
                                       "][0]).0 }\n#[metadata]\n", Graph(kind, node, "3")));
    EXPECT_THAT(Print(module), HasSubstr("split(%x, indices_or_sections=2)"));
  }
}

struct Damaged {
  const char* name;
  std::string metadata;
  absl::StatusCode code;
  const char* message;
  friend void PrintTo(const Damaged& t, std::ostream* out) { *out << t.name; }
};
class MetadataErrorTest : public ::testing::TestWithParam<Damaged> {};

absl::Status StatusWith(const std::string& metadata) {
  return TryParse(
             StrCat("def @main(%x) { add(%x, meta[relay.Constant][0]) }\n#[metadata]\n", metadata))
      .status();
}

TEST_P(MetadataErrorTest, IsRefusedInWords) {
  const absl::Status status = StatusWith(GetParam().metadata);
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Damage, MetadataErrorTest,
    ::testing::Values(
        Damaged{"CutOff", R"({"relay.Constant":[{"dtype":)", absl::StatusCode::kInvalidArgument,
                "the metadata section cannot be read"},
        Damaged{"Empty", "", absl::StatusCode::kInvalidArgument,
                "the metadata section cannot be read"},
        Damaged{"NoObject", "[1]", absl::StatusCode::kInvalidArgument,
                "it must be a graph {root, nodes, b64ndarrays}"},
        Damaged{"NoNodes", R"({"root":1})", absl::StatusCode::kInvalidArgument,
                "the metadata section cannot be read"},
        Damaged{"RootOutside", R"({"root":7,"nodes":[]})", absl::StatusCode::kInvalidArgument,
                "the metadata section refers to node 7 of 0"},
        Damaged{"RootTooLarge", R"({"root":1e300,"nodes":[]})", absl::StatusCode::kInvalidArgument,
                "the metadata section has 1e+300 for the index of a node"},
        Damaged{"RootNegative", R"({"root":-1,"nodes":[]})", absl::StatusCode::kInvalidArgument,
                "the metadata section has -1 for the index of a node"},
        Damaged{"EntryNotWhole", Graph("relay.Constant", R"({"type_key":"relay.Constant"})", "2.5"),
                absl::StatusCode::kInvalidArgument,
                "the metadata section has 2.5 for the index of a node"},
        Damaged{"EntryOutside", Graph("relay.Constant", R"({"type_key":"relay.Constant"})", "9"),
                absl::StatusCode::kInvalidArgument, "the metadata section refers to node 9 of 4"},
        Damaged{
            "ArrayOutside",
            Graph("relay.Constant", R"({"type_key":"relay.Constant","attrs":{"data":"3"}})", "3"),
            absl::StatusCode::kInvalidArgument, "the metadata section refers to array 3 of 0"},
        Damaged{
            "IndexThatIsNoNumber",
            Graph("relay.Constant", R"({"type_key":"relay.Constant","attrs":{"data":"x"}})", "3"),
            absl::StatusCode::kInvalidArgument, "'x' is not an index of an array"},
        Damaged{"MissingField", Graph("relay.Constant", R"({"type_key":"relay.Constant"})", "3"),
                absl::StatusCode::kInvalidArgument, "the metadata section cannot be read"},
        Damaged{"OtherMark",
                OneConstant("AQAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAQAAAAAIAQABAAAAAAAAAAEAAAAAAAAAAQ=="),
                absl::StatusCode::kDataLoss,
                "constant 0 of the metadata section does not begin with the mark of an array"},
        Damaged{"CutInTheHeader", OneConstant("P6G0lvBAXt0AAAAAAAAAAAEAAAA="),
                absl::StatusCode::kDataLoss,
                "constant 0 of the metadata section ends within its header"},
        Damaged{"RankTooHigh",
                OneConstant("P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAA6AMAAAAIAQAAAAAAAAAAAA=="),
                absl::StatusCode::kDataLoss, "has rank 1000; ranks are 0 to 64"},
        Damaged{
            "UnknownType",
            OneConstant("P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIfAQABAAAAAAAAAAQAAAAAAAAAAAAAAA=="),
            absl::StatusCode::kInvalidArgument,
            "has an element type that is not known (code 2, 31 bits, 1 lanes)"},
        Damaged{"NegativeExtent",
                OneConstant("P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQD//////////wAAAAAAAAAA"),
                absl::StatusCode::kInvalidArgument, "negative extent -1"},
        Damaged{"TooManyElements",
                OneConstant("P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAgAAAAAIAQAAAAAAAAAAQAQAAAAAAAAA"
                            "AAAAAAAAAAA="),
                absl::StatusCode::kInvalidArgument, "too many elements"},
        Damaged{"TooFewBytes",
                OneConstant("P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQACAAAAAAAAAAMAAAAAAAAAAAAA"),
                absl::StatusCode::kDataLoss,
                "constant 0 of the metadata section has 3 bytes; its type float32 (2,) needs 8"},
        Damaged{"TooManyBytes",
                OneConstant("P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAAIAQACAAAAAAAAAAMAAAAAAAAAAAAA"),
                absl::StatusCode::kDataLoss, "has 3 bytes; its type int8 (2,) needs 2"},
        Damaged{"NoBase64", OneConstant("@@@@"), absl::StatusCode::kDataLoss,
                "the data of constant 0 of the metadata section is not base64"},
        Damaged{"NoSuchEntry", Graph("relay.Constant", R"({"type_key":""})", ""),
                absl::StatusCode::kInvalidArgument,
                "test.relay:1:46: the metadata section has 0 constants; there is no 0"}),
    [](const auto& info) { return info.param.name; });

// Otherwise a small text could ask for any amount of memory.
TEST(MetadataErrorTest, AListThatManyKindsNameIsRefused) {
  EXPECT_THAT(std::string(StatusWith(R"({"root":1,"nodes":[{"type_key":""},)"
                                     R"({"type_key":"Map","keys":["a","a","a"],"data":[2,2,2]},)"
                                     R"({"type_key":"Array","data":[3,3]},)"
                                     R"({"type_key":"runtime.String","repr_str":"x"}],)"
                                     R"("b64ndarrays":[]})")
                              .message()),
              HasSubstr("the metadata section lists 6 entries and has only 4 nodes"));
}

// As every error of the text.
TEST(MetadataErrorTest, DamageIsPlacedInTheText) {
  EXPECT_THAT(std::string(StatusWith("[1]").message()), StartsWith("test.relay:3:"));
}

TEST(MetadataErrorTest, OtherKindsOfEntriesAreRefused) {
  const std::string message(
      TryParse("def @main(%x) { add(%x, meta[IntImm][0]) }").status().message());
  EXPECT_THAT(message, StartsWith("test.relay:1:30: metadata of kind IntImm cannot stand here; "
                                  "relay.Constant can"));
}

TEST(MetadataErrorTest, ValuesThatAreNotThereAreRefused) {
  const auto message = [](const std::string& kind, const std::string& metadata) {
    return std::string(TryParse(StrCat("def @main(%x) { clip(%x, a_min=meta[", kind,
                                       "][0], a_max=1f) }\n#[metadata]\n", metadata))
                           .status()
                           .message());
  };
  EXPECT_THAT(message("runtime.BoxFloat", Graph("IntImm", R"({"type_key":""})", "")),
              HasSubstr("has 0 entries of kind runtime.BoxFloat; there is no 0"));
  EXPECT_THAT(message("Target", Graph("Target", R"({"type_key":"Target"})", "3")),
              HasSubstr("metadata of kind Target cannot stand here"));
}

TEST(MetadataTest, AnArrayThatManyNodesHaveIsDecodedOnce) {
  const std::string node =
      R"({"type_key":"relay.Constant","attrs":{"_checked_type_":"0","data":"0",)"
      R"("span":"0","virtual_device_":"0"}})";
  const Module module =
      Parse(StrCat("def @main() { (meta[relay.Constant][0], meta[relay.Constant][1]) }\n"
                   "#[metadata]\n",
                   Graph("relay.Constant", node, "3,3", StrCat("\"", kOneByte, "\""))));
  const auto& fields = module.Main().body.As<TupleNode>()->fields;
  EXPECT_EQ(fields[0].As<ConstantNode>()->data.raw(), fields[1].As<ConstantNode>()->data.raw());
}

}  // namespace
}  // namespace tenon::ir
