#include "tenon/ops/attrs_by_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::ops {
namespace {

using ::testing::HasSubstr;

TEST(AttrsByKeyTest, S004_31_AttributesAreMadeOfAKeyAndJson) {
  const attrs::Attrs attrs = AttrsOfKey(
      "relay.attrs.Conv2DAttrs", R"({"strides": [2, 2], "groups": 4, "out_dtype": "int32"})");
  const auto& conv = attrs.As<Conv2DAttrs>();
  EXPECT_EQ(conv.strides, (Ints{2, 2}));
  EXPECT_EQ(conv.groups, 4);
  EXPECT_EQ(conv.out_dtype, Int32);
  EXPECT_EQ(conv.padding, (Ints{0, 0}));
  EXPECT_EQ(AttrsOfKey("relay.attrs.Conv2DAttrs", attrs.ToJson()), attrs);
}

// Of every operator, also under the default values of all fields.
TEST(AttrsByKeyTest, S004_31_EveryOperatorsAttributesAreOfOneTypeAndReadBack) {
  EXPECT_THAT(AttrsKeys(), ::testing::Contains("relay.attrs.Conv2DAttrs"));
  for (const std::string& name : OpRegistry::Global().Names()) {
    const attrs::Schema* schema = OpOf(OpRegistry::Global().Get(name))->attrs_schema();
    if (schema == nullptr) continue;
    EXPECT_EQ(&SchemaOfKey(schema->name), schema) << name;
    bool has_required = false;
    for (const attrs::FieldInfo& field : schema->fields)
      has_required = has_required || field.is_required;
    if (has_required) continue;
    const attrs::Attrs defaults = AttrsOfKey(schema->name, "{}");
    EXPECT_EQ(AttrsOfKey(schema->name, defaults.ToJson()), defaults) << name;
  }
}

TEST(AttrsByKeyTest, UnknownKeysFieldsAndValuesAreRefusedByName) {
  const Error key = ErrorOf([] { AttrsOfKey("relay.attrs.Conv2dAttrs", "{}"); });
  EXPECT_EQ(key.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(key.message(),
            "there are no attributes of the type relay.attrs.Conv2dAttrs; did you mean "
            "relay.attrs.Conv2DAttrs?");
  const auto refused = [](const char* json) {
    return ErrorOf([&] { AttrsOfKey("relay.attrs.Conv2DAttrs", json); }).message();
  };
  EXPECT_THAT(refused(R"({"stride": [2, 2]})"),
              HasSubstr("there is no field stride; the fields are: strides, "));
  EXPECT_THAT(refused(R"({"groups": 0})"), HasSubstr("groups"));
  EXPECT_THAT(refused(R"({"strides": "two"})"), HasSubstr("strides"));
  EXPECT_THAT(refused("[]"), HasSubstr("is not an object"));
}

}  // namespace
}  // namespace tenon::ops
