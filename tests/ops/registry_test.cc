// What can be registered, and what every operator must say of itself.
#include "tenon/ops/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ops/builders.h"
#include "tenon/ops/builtin.h"
#include "tenon/ops/layout/layout_inference.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RegistryTest, ANameThatIsTakenIsAnErrorNamingBothPlaces) {
  OpRegistry registry;
  const int first = __LINE__ + 1;
  registry.Register("my.op");
  const int second = __LINE__ + 1;
  const Error error = ErrorOf([&] { registry.Register("my.op"); });
  EXPECT_EQ(error.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(error.message(), StrCat("the operator my.op is registered twice: at ", __FILE__, ":",
                                    first, " and at ", __FILE__, ":", second));
}

TEST(RegistryTest, BuiltinFamiliesAreRegisteredOnce) {
  OpRegistry registry;
  RegisterBuiltinOps(registry);
  EXPECT_EQ(registry.Names(), OpRegistry::Global().Names());
  const Error error = ErrorOf([&] { RegisterConvOps(registry); });
  EXPECT_THAT(error.message(), HasSubstr("the operator nn.conv2d is registered twice"));
}

TEST(RegistryTest, S004_35_AnUnknownNameIsRefusedWithTheNearestOne) {
  const Error error = ErrorOf([] { (void)OpRegistry::Global().Get("nn.conv2"); });
  EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(error.message(), "there is no operator named nn.conv2; did you mean nn.conv2d?");
  EXPECT_EQ(ErrorOf([] { (void)OpRegistry::Global().Get("quantum.fourier"); }).message(),
            "there is no operator named quantum.fourier");
  EXPECT_FALSE(OpRegistry::Global().Find("nn.conv2"));
  EXPECT_EQ(ErrorOf([] { OpRegistry::Global().Definition("ad"); }).code(),
            absl::StatusCode::kNotFound);
}

TEST(RegistryTest, AnEmptyNameIsRefused) {
  OpRegistry registry;
  EXPECT_EQ(ErrorOf([&] { registry.Register(""); }).message(), "an operator needs a name");
}

TEST(RegistryTest, ANameThatNoTextCanHoldIsRefused) {
  OpRegistry registry;
  for (const char* name :
       {"my op", "my.op(", "1st", "my.1st", "my.", ".my", "%x", "a\nb", "\u00e9"})
    EXPECT_THAT(ErrorOf([&] { registry.Register(name); }).message(),
                ::testing::HasSubstr(std::string("an operator called '") + name + "'"));
  registry.Register("my_2.op_3d");
}

TEST(RegistryTest, WhatWasSetIsWhatIsKnown) {
  OpRegistry registry;
  registry.Register("my.op")
      .Describe("does it")
      .Argument("data", "Tensor", "input")
      .Argument("other", "Tensor", "more input")
      .Attrs<SoftmaxAttrs>()
      .Level(3)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(Identity, "Identity")
      .Stateful()
      .ReshapeOnly();
  const OpDef& op = registry.Definition("my.op");
  EXPECT_EQ(op.name, "my.op");
  EXPECT_EQ(op.description, "does it");
  EXPECT_EQ(op.num_inputs(), 2);
  EXPECT_EQ(op.arguments[1].help, "more input");
  EXPECT_EQ(op.attrs_schema()->name, "relay.attrs.SoftmaxAttrs");
  EXPECT_EQ(op.support_level, 3);
  EXPECT_EQ(op.pattern, OpPattern::kInjective);
  EXPECT_EQ(op.relation_name, "Identity");
  EXPECT_TRUE(op.stateful);
  EXPECT_TRUE(op.reshape_only);
}

TEST(RegistryTest, AnOperatorIsOneCalleeFromThenOn) {
  OpRegistry registry;
  registry.Register("my.op");
  EXPECT_EQ(registry.Get("my.op"), registry.Find("my.op"));
  EXPECT_EQ(OpOf(registry.Get("my.op")), &registry.Definition("my.op"));
}

TEST(RegistryTest, NamesAreSorted) {
  OpRegistry registry;
  for (const char* name : {"b", "a", "c"}) registry.Register(name);
  EXPECT_THAT(registry.Names(), ElementsAre("a", "b", "c"));
}

TEST(RegistryTest, ColumnsAreKeptByTheirType) {
  struct Cost {
    int value;
  };
  struct Note {
    std::string text;
  };
  OpRegistry registry;
  registry.Register("my.op").Column(Cost{7});
  EXPECT_EQ(registry.Definition("my.op").Column<Cost>()->value, 7);
  EXPECT_EQ(registry.Definition("my.op").Column<Note>(), nullptr);
  registry.Definition("my.op").SetColumn(Note{"later"});
  registry.Definition("my.op").SetColumn(Cost{8});
  EXPECT_EQ(registry.Definition("my.op").Column<Cost>()->value, 8);
  EXPECT_EQ(registry.Definition("my.op").Column<Note>()->text, "later");
}

TEST(RegistryTest, StartupErrorsAreReportedOnceAndTogether) {
  OpRegistry registry;
  registry.ThrowStartupErrors();
  registry.AddStartupError("first");
  registry.AddStartupError("second");
  const Error error = ErrorOf([&] { registry.ThrowStartupErrors(); });
  EXPECT_EQ(error.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(error.message(), "operators could not be registered: first; second");
  registry.ThrowStartupErrors();
}

TEST(RegistryTest, AUsersOperatorIsParsedAndPrinted) {
  OpRegistry registry;
  registry.Register("my.swish").Argument("data", "Tensor", "input").TypeRelation(Identity);
  const auto module =
      ir::ParseModule("def @main(%x: Tensor[(2), float32]) { my.swish(%x) }", registry.Resolver());
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(Print(*module), HasSubstr("  my.swish(%x)\n"));
}

TEST(RegistryTest, S004_17_TheEntryOfAConvolutionHasEveryField) {
  const OpDef& conv = OpRegistry::Global().Definition("nn.conv2d");
  EXPECT_THAT(conv.description, HasSubstr("convolution"));
  EXPECT_EQ(conv.attrs_schema()->name, "relay.attrs.Conv2DAttrs");
  EXPECT_EQ(conv.num_inputs(), 2);
  ASSERT_EQ(conv.arguments.size(), 2U);
  EXPECT_EQ(conv.arguments[0].name, "data");
  EXPECT_EQ(conv.arguments[1].name, "weight");
  for (const ArgumentDoc& argument : conv.arguments) {
    EXPECT_EQ(argument.type, "Tensor");
    EXPECT_FALSE(argument.help.empty());
  }
  EXPECT_EQ(conv.support_level, 2);
  EXPECT_EQ(conv.relation_name, "Conv2D");
  EXPECT_NE(conv.Column<LayoutInference>(), nullptr);
}

// --- every operator that Tenon has

class EveryOpTest : public ::testing::TestWithParam<std::string> {
 protected:
  const OpDef& op() const { return OpRegistry::Global().Definition(GetParam()); }
};

TEST_P(EveryOpTest, DescribesItselfAndItsArguments) {
  EXPECT_FALSE(op().description.empty());
  for (const ArgumentDoc& argument : op().arguments) {
    EXPECT_FALSE(argument.name.empty());
    EXPECT_FALSE(argument.type.empty()) << argument.name;
    EXPECT_FALSE(argument.help.empty()) << argument.name;
  }
  if (op().schema != nullptr) {
    for (const attrs::FieldInfo& field : op().schema->fields)
      EXPECT_FALSE(field.help.empty()) << field.name;
  }
}

TEST_P(EveryOpTest, HasATypeRelationAndAPattern) {
  EXPECT_TRUE(op().type_relation);
  EXPECT_FALSE(op().relation_name.empty());
  EXPECT_TRUE(op().pattern.has_value());
}

TEST_P(EveryOpTest, S004_18_HasASupportLevelFromOneToEleven) {
  EXPECT_GE(op().support_level, 1);
  EXPECT_LE(op().support_level, 11);
}

TEST(RegistryTest, S004_18_LevelsAreThoseOfTheReference) {
  for (const auto& [name, level] : {std::pair("add", 1),
                                    {"nn.dense", 1},
                                    {"nn.conv2d", 2},
                                    {"abs", 3},
                                    {"einsum", 11},
                                    {"qnn.conv2d", 11}})
    EXPECT_EQ(OpOf(OpRegistry::Global().Get(name))->support_level, level) << name;
}

// A relation is called before anything is known, and does what it can: nothing.
TEST_P(EveryOpTest, LearnsNothingFromNothingAndDoesNotRefuse) {
  attrs::Attrs attrs;
  if (op().schema != nullptr) {
    attrs::FieldValues given;
    for (const attrs::FieldInfo& field : op().schema->fields)
      if (field.is_required) given[field.name] = field.default_value;
    const auto shape = given.find("shape");
    if (shape != given.end() && shape->second.As<std::string>() != nullptr) {
      shape->second = attrs::Value(std::string("(2)"));
    } else if (shape != given.end()) {
      shape->second = attrs::List{attrs::Value(std::int64_t{2})};
    }
    if (given.contains("num_groups")) given["num_groups"] = attrs::Value(std::int64_t{1});
    if (op().schema->Find("dtype") != nullptr) given["dtype"] = attrs::Value(Float32);
    attrs = attrs::Attrs::FromFields(*op().schema, given);
  }
  TypeCall call(op().name, attrs, std::vector<ir::Type>(op().arguments.size()), ir::Type());
  op().type_relation(call);
  EXPECT_TRUE(op().arguments.empty() || !call.learned_result());
}

INSTANTIATE_TEST_SUITE_P(Builtin, EveryOpTest, ::testing::ValuesIn(OpRegistry::Global().Names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name)
                             if (c == '.') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace tenon::ops
