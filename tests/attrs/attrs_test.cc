#include "tenon/attrs/attrs.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"

namespace tenon::attrs {
namespace {

using ::testing::HasSubstr;

struct ConvAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.SampleConvAttrs";
  std::vector<std::int64_t> strides = {1, 1};
  std::vector<std::int64_t> padding = {0, 0};
  std::int64_t groups = 1;
  std::optional<std::int64_t> channels;
  std::optional<std::vector<std::int64_t>> kernel_size;
  std::string data_layout = "NCHW";
  DataType out_dtype;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("strides", &ConvAttrs::strides, "step of the window").AtLeast(1),
        attrs::Field("padding", &ConvAttrs::padding, "zeros around the data").AtLeast(0),
        attrs::Field("groups", &ConvAttrs::groups, "independent groups").AtLeast(1).AtMost(64),
        attrs::Field("channels", &ConvAttrs::channels, "output channels").NoDefault(),
        attrs::Field("kernel_size", &ConvAttrs::kernel_size, "extent of the window"),
        attrs::Field("data_layout", &ConvAttrs::data_layout, "order of axes").OneOf("NCHW NHWC"),
        attrs::Field("out_dtype", &ConvAttrs::out_dtype, "element type of the result"));
  }
};

struct MixedAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.Mixed";
  std::int64_t axis = 0;
  bool exclude = false;
  double epsilon = 1e-5;
  double scale = 1;
  std::vector<double> weights;
  std::variant<std::int64_t, std::vector<std::int64_t>> sections = std::int64_t{2};
  std::optional<DataType> dtype;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axis", &MixedAttrs::axis, "which axis").Required(),
        attrs::Field("exclude", &MixedAttrs::exclude, "all but the axis"),
        attrs::Field("epsilon", &MixedAttrs::epsilon, "added to the variance").AtLeast(0),
        attrs::Field("scale", &MixedAttrs::scale, "factor"),
        attrs::Field("weights", &MixedAttrs::weights, "a factor an element").AtMost(10),
        attrs::Field("sections", &MixedAttrs::sections, "number or places of cuts"),
        attrs::Field("dtype", &MixedAttrs::dtype, "element type"));
  }
};

struct RateAttrs {
  double rate = 0.1;
  std::int64_t count = 1;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("rate", &RateAttrs::rate, "part").AtLeast(0.0).AtMost(0.5),
                         attrs::Field("count", &RateAttrs::count, "number").AtLeast(0.5));
  }
};

struct Other {
  static constexpr const char* kTypeKey = "relay.attrs.Other";
  static constexpr auto Fields() { return attrs::Fields(); }
};
struct Another {
  static constexpr const char* kTypeKey = "relay.attrs.Another";
  static constexpr auto Fields() { return attrs::Fields(); }
};

const Schema& Conv() { return SchemaOf<ConvAttrs>(); }
const Schema& Mixed() { return SchemaOf<MixedAttrs>(); }

// The message of the InvalidArgument that `body` throws.
template <typename Body>
std::string Refusal(Body body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument) << error.what();
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "a foreign exception: " << error.what();
    return error.what();
  }
  return "no error";
}
std::string ConvRefusal(const FieldValues& values) {
  return Refusal([&] { Attrs::FromFields(Conv(), values); });
}
std::string MixedRefusal(FieldValues values) {
  values.emplace("axis", std::int64_t{0});
  return Refusal([&] { Attrs::FromFields(Mixed(), values); });
}

List Ints(std::initializer_list<std::int64_t> values) { return List(values.begin(), values.end()); }

TEST(AttrsTest, UnnamedFieldsKeepTheirDefaults) {
  const Attrs a = Attrs::FromFields(Conv(), {{"strides", Ints({2, 3})}});
  const auto& conv = a.As<ConvAttrs>();
  EXPECT_EQ(conv.strides, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(conv.padding, (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(conv.groups, 1);
  EXPECT_EQ(conv.channels, std::nullopt);
  EXPECT_EQ(conv.data_layout, "NCHW");
  EXPECT_TRUE(conv.out_dtype.is_void());
}

TEST(AttrsTest, EveryMemberTypeIsSetFromItsValue) {
  const Attrs a = Attrs::FromFields(Mixed(), {{"axis", std::int64_t{-1}},
                                              {"exclude", true},
                                              {"epsilon", 0.5},
                                              {"scale", std::int64_t{3}},
                                              {"weights", List{0.25, std::int64_t{2}}},
                                              {"sections", Ints({3, 5})},
                                              {"dtype", Float16}});
  const auto& mixed = a.As<MixedAttrs>();
  EXPECT_EQ(mixed.axis, -1);
  EXPECT_TRUE(mixed.exclude);
  EXPECT_EQ(mixed.epsilon, 0.5);
  EXPECT_EQ(mixed.scale, 3);
  EXPECT_EQ(mixed.weights, (std::vector<double>{0.25, 2}));
  EXPECT_EQ(std::get<1>(mixed.sections), (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(mixed.dtype, Float16);
}

TEST(AttrsTest, ZeroAndOneAreBoolsAndTypesMayBeNamed) {
  const Attrs a = Attrs::FromFields(
      Mixed(), {{"axis", std::int64_t{0}}, {"exclude", std::int64_t{1}}, {"dtype", "int8"}});
  EXPECT_TRUE(a.As<MixedAttrs>().exclude);
  EXPECT_EQ(a.As<MixedAttrs>().dtype, Int8);
}

TEST(AttrsTest, AnOptionalFieldIsResetByNone) {
  const Attrs a = Attrs::FromFields(Conv(), {{"channels", Value()}, {"kernel_size", Value()}});
  EXPECT_EQ(a.As<ConvAttrs>().channels, std::nullopt);
  EXPECT_EQ(a, Attrs::Make(ConvAttrs{}));
}

TEST(AttrsTest, GetReflectsAFieldAndGivesNoneForOthers) {
  const Attrs a = Attrs::Make(ConvAttrs{.strides = {2, 2}, .channels = 8});
  EXPECT_EQ(a.Get("strides"), Value(Ints({2, 2})));
  EXPECT_EQ(a.Get("channels"), Value(std::int64_t{8}));
  EXPECT_TRUE(a.Get("kernel_size").is_none());
  EXPECT_TRUE(a.Get("nonsense").is_none());
  EXPECT_TRUE(Attrs().Get("strides").is_none());
}

TEST(AttrsTest, WithChangesOneFieldOfACopy) {
  const Attrs before = Attrs::Make(ConvAttrs{.groups = 3, .channels = 6});
  const Attrs after = before.With("data_layout", Value("NHWC"));
  EXPECT_EQ(after, Attrs::Make(ConvAttrs{.groups = 3, .channels = 6, .data_layout = "NHWC"}));
  EXPECT_EQ(before.As<ConvAttrs>().data_layout, "NCHW");
  EXPECT_THAT(Refusal([&] { before.With("group", std::int64_t{2}); }),
              HasSubstr("relay.attrs.SampleConvAttrs: there is no field group"));
  EXPECT_THAT(Refusal([&] { before.With("groups", std::int64_t{65}); }), HasSubstr("groups"));
}

TEST(AttrsTest, ReadingAnotherStructIsAnInternalError) {
  const Attrs a = Attrs::Make(ConvAttrs{});
  EXPECT_THROW(a.As<MixedAttrs>(), Error);
  EXPECT_THROW(Attrs().As<ConvAttrs>(), Error);
}

TEST(AttrsTest, S004_13_ASchemaDescribesItsFieldsInOrder) {
  std::vector<std::string> names;
  for (const FieldInfo& field : Conv().fields) names.push_back(field.name);
  EXPECT_THAT(names, ::testing::ElementsAre("strides", "padding", "groups", "channels",
                                            "kernel_size", "data_layout", "out_dtype"));
  EXPECT_EQ(Conv().name, "relay.attrs.SampleConvAttrs");
  EXPECT_EQ(Conv().Find("strides")->bounds, "at least 1");
  EXPECT_EQ(Conv().Find("groups")->bounds, "1 to 64");
  EXPECT_EQ(Conv().Find("data_layout")->bounds, "one of NCHW, NHWC");
  EXPECT_EQ(Mixed().Find("weights")->bounds, "at most 10");
  EXPECT_EQ(Mixed().Find("scale")->bounds, "");
  EXPECT_EQ(Conv().Find("padding")->default_value, Value(Ints({0, 0})));
  EXPECT_EQ(Conv().Find("padding")->help, "zeros around the data");
  EXPECT_EQ(Conv().Find("strides")->type, "a list of integers");
  EXPECT_EQ(Conv().Find("channels")->type, "an integer or None");
  EXPECT_EQ(Conv().Find("data_layout")->type, "a string");
  EXPECT_EQ(Conv().Find("nonsense"), nullptr);
}

TEST(AttrsTextTest, OnlyFieldsThatDifferFromTheirDefaultArePrinted) {
  EXPECT_EQ(Attrs::Make(ConvAttrs{.strides = {2, 2}, .padding = {0, 0}, .channels = 8}).ToText(),
            "strides=[2, 2], channels=8");
  EXPECT_EQ(
      Attrs::Make(ConvAttrs{.channels = 8, .data_layout = "NHWC", .out_dtype = Float32}).ToText(),
      "channels=8, data_layout=\"NHWC\", out_dtype=\"float32\"");
}

TEST(AttrsTextTest, AFieldWithoutDefaultIsAlwaysPrinted) {
  EXPECT_EQ(Attrs::Make(ConvAttrs{}).ToText(), "channels=None");
}

TEST(AttrsTextTest, ARequiredFieldIsAlwaysPrinted) {
  EXPECT_EQ(Attrs::Make(MixedAttrs{}).ToText(), "axis=0");
}

TEST(AttrsTextTest, ValuesPrintAsRelayText) {
  EXPECT_EQ(Attrs::Make(MixedAttrs{.axis = -1,
                                   .exclude = true,
                                   .epsilon = 0.5,
                                   .scale = 1e-7,
                                   .weights = {1, 2.5},
                                   .sections = std::vector<std::int64_t>{1, 2},
                                   .dtype = BFloat16})
                .ToText(),
            "axis=-1, exclude=True, epsilon=0.5f, scale=1e-07f, weights=[1f, 2.5f], "
            "sections=[1, 2], dtype=\"bfloat16\"");
  EXPECT_EQ(ToText(Value("a \"b\" \\ c")), R"("a \"b\" \\ c")");
  EXPECT_EQ(ToText(Value(List())), "[]");
  EXPECT_EQ(ToText(Value(List{Value(), false})), "[None, False]");
}

TEST(AttrsTextTest, NullAttributesPrintNothing) {
  EXPECT_FALSE(Attrs().defined());
  EXPECT_EQ(Attrs().ToText(), "");
}

TEST(AttrsErrorTest, RefusesAMissingRequiredField) {
  EXPECT_EQ(Refusal([] {
              Attrs::FromFields(Mixed(), {{"scale", 2.0}});
            }),
            "relay.attrs.Mixed: field axis is missing; it has no default");
}

TEST(AttrsErrorTest, RefusesAnUnknownFieldAndListsTheKnown) {
  const std::string message = ConvRefusal({{"stride", Ints({1, 1})}});
  EXPECT_THAT(message, HasSubstr("relay.attrs.SampleConvAttrs: there is no field stride; the "
                                 "fields are: strides, padding, groups, channels, kernel_size, "
                                 "data_layout, out_dtype"));
  EXPECT_THAT(message, HasSubstr("did you mean strides?"));
}

TEST(AttrsErrorTest, RefusesAnIntegerOutOfBounds) {
  EXPECT_EQ(ConvRefusal({{"groups", std::int64_t{0}}}),
            "relay.attrs.SampleConvAttrs: field groups is 0; allowed is 1 to 64");
  EXPECT_EQ(ConvRefusal({{"groups", std::int64_t{65}}}),
            "relay.attrs.SampleConvAttrs: field groups is 65; allowed is 1 to 64");
  EXPECT_EQ(ConvRefusal({{"groups", std::int64_t{64}}}), "no error");
}

TEST(AttrsErrorTest, RefusesAListElementOutOfBounds) {
  EXPECT_EQ(ConvRefusal({{"strides", Ints({1, 0})}}),
            "relay.attrs.SampleConvAttrs: field strides is 0; allowed is at least 1");
  EXPECT_EQ(MixedRefusal({{"weights", List{1.0, 10.5}}}),
            "relay.attrs.Mixed: field weights is 10.5f; allowed is at most 10");
}

TEST(AttrsErrorTest, RefusesANumberOutOfBounds) {
  EXPECT_EQ(MixedRefusal({{"epsilon", -0.5}}),
            "relay.attrs.Mixed: field epsilon is -0.5f; allowed is at least 0");
  EXPECT_EQ(MixedRefusal({{"epsilon", std::int64_t{-1}}}),
            "relay.attrs.Mixed: field epsilon is -1; allowed is at least 0");
}

TEST(AttrsErrorTest, AOneSidedBoundLeavesTheOtherSideOpen) {
  EXPECT_EQ(MixedRefusal({{"epsilon", 1e20}}), "no error");
  EXPECT_EQ(MixedRefusal({{"epsilon", std::numeric_limits<double>::infinity()}}), "no error");
  EXPECT_EQ(MixedRefusal({{"weights", List{-1e20}}}), "no error");
}

TEST(AttrsErrorTest, RefusesNanWhereBoundsAre) {
  EXPECT_EQ(MixedRefusal({{"epsilon", std::nan("")}}),
            "relay.attrs.Mixed: field epsilon is nanf; allowed is at least 0");
  EXPECT_EQ(MixedRefusal({{"scale", std::nan("")}}), "no error");
}

TEST(AttrsErrorTest, RefusesAWordThatIsNoChoice) {
  EXPECT_EQ(ConvRefusal({{"data_layout", "NCWH"}}),
            "relay.attrs.SampleConvAttrs: field data_layout is \"NCWH\"; allowed is one of NCHW, "
            "NHWC");
}

TEST(AttrsErrorTest, RefusesAValueOfTheWrongType) {
  EXPECT_EQ(ConvRefusal({{"groups", "two"}}),
            "relay.attrs.SampleConvAttrs: field groups is \"two\", a string; it takes an integer");
  EXPECT_EQ(ConvRefusal({{"groups", 2.0}}),
            "relay.attrs.SampleConvAttrs: field groups is 2f, a number; it takes an integer");
  EXPECT_EQ(ConvRefusal({{"groups", Value()}}),
            "relay.attrs.SampleConvAttrs: field groups is None, None; it takes an integer");
  EXPECT_EQ(ConvRefusal({{"strides", std::int64_t{2}}}),
            "relay.attrs.SampleConvAttrs: field strides is 2, an integer; it takes a list of "
            "integers");
  EXPECT_EQ(ConvRefusal({{"strides", List{std::int64_t{1}, "x"}}}),
            "relay.attrs.SampleConvAttrs: field strides is [1, \"x\"], a list; it takes a list of "
            "integers");
  EXPECT_EQ(ConvRefusal({{"channels", true}}),
            "relay.attrs.SampleConvAttrs: field channels is True, a bool; it takes an integer or "
            "None");
  EXPECT_EQ(ConvRefusal({{"data_layout", std::int64_t{1}}}),
            "relay.attrs.SampleConvAttrs: field data_layout is 1, an integer; it takes a string");
  EXPECT_EQ(MixedRefusal({{"exclude", std::int64_t{2}}}),
            "relay.attrs.Mixed: field exclude is 2, an integer; it takes a bool (True or False)");
  EXPECT_EQ(MixedRefusal({{"scale", List()}}),
            "relay.attrs.Mixed: field scale is [], a list; it takes a number");
  EXPECT_EQ(MixedRefusal({{"sections", "x"}}),
            "relay.attrs.Mixed: field sections is \"x\", a string; it takes an integer or a list "
            "of integers");
  EXPECT_EQ(MixedRefusal({{"dtype", "float33"}}),
            "relay.attrs.Mixed: field dtype is \"float33\", a string; it takes an element type "
            "such as \"float32\" or None");
}

TEST(AttrsErrorTest, MakeRefusesWhatFromFieldsRefuses) {
  EXPECT_EQ(Refusal([] {
              Attrs::Make(ConvAttrs{.strides = {0, 1}});
            }),
            "relay.attrs.SampleConvAttrs: field strides is 0; allowed is at least 1");
  EXPECT_EQ(Refusal([] { Attrs::Make(ConvAttrs{.data_layout = "CHW"}); }),
            "relay.attrs.SampleConvAttrs: field data_layout is \"CHW\"; allowed is one of NCHW, "
            "NHWC");
}

TEST(AttrsEqualityTest, GoesByContent) {
  const Attrs a = Attrs::Make(ConvAttrs{.strides = {2, 2}}),
              b = Attrs::FromFields(Conv(), {{"strides", Ints({2, 2})}}),
              c = Attrs::Make(ConvAttrs{.strides = {2, 3}});
  EXPECT_TRUE(a == b);
  EXPECT_EQ(a.Hash(), b.Hash());
  EXPECT_FALSE(a == c);
  EXPECT_NE(a.Hash(), c.Hash());
}

TEST(AttrsEqualityTest, StructsOfDifferentTypesDiffer) {
  EXPECT_FALSE(Attrs::Make(Other{}) == Attrs::Make(Another{}));
  EXPECT_NE(Attrs::Make(Other{}).Hash(), Attrs::Make(Another{}).Hash());
}

TEST(AttrsEqualityTest, NullEqualsOnlyNull) {
  EXPECT_TRUE(Attrs() == Attrs());
  EXPECT_EQ(Attrs().Hash(), Attrs().Hash());
  EXPECT_FALSE(Attrs() == Attrs::Make(ConvAttrs{}));
  EXPECT_FALSE(Attrs::Make(ConvAttrs{}) == Attrs());
}

TEST(AttrsEqualityTest, NanEqualsNanOfAnyPayloadAndHashesAlike) {
  const Attrs a = Attrs::Make(MixedAttrs{.scale = std::nan("")}),
              b = Attrs::Make(MixedAttrs{.scale = -std::nan("7")});
  EXPECT_TRUE(a == b);
  EXPECT_EQ(a.Hash(), b.Hash());
  EXPECT_FALSE(a == Attrs::Make(MixedAttrs{.scale = 0}));
}

TEST(AttrsEqualityTest, ZerosOfEitherSignDiffer) {
  const Attrs a = Attrs::Make(MixedAttrs{.scale = 0.0}), b = Attrs::Make(MixedAttrs{.scale = -0.0});
  EXPECT_FALSE(a == b);
  EXPECT_NE(a.Hash(), b.Hash());
}

TEST(AttrsEqualityTest, ValuesOfDifferentKindsDiffer) {
  EXPECT_FALSE(Value(std::int64_t{1}) == Value(1.0));
  EXPECT_FALSE(Value(std::int64_t{1}) == Value(true));
  EXPECT_FALSE(Value() == Value(false));
  EXPECT_FALSE(Value("float32") == Value(Float32));
}

TEST(AttrsEqualityTest, TheHashKeepsNeighbouringListsApart) {
  EXPECT_NE(Attrs::Make(ConvAttrs{.strides = {1}, .padding = {1, 2}}).Hash(),
            Attrs::Make(ConvAttrs{.strides = {1, 1}, .padding = {2}}).Hash());
}

TEST(AttrsJsonTest, S004_13_EveryFieldIsWritten) {
  EXPECT_EQ(Attrs::Make(ConvAttrs{.channels = 8}).ToJson(),
            R"({"strides":[1,1],"padding":[0,0],"groups":1,"channels":8,"kernel_size":null,)"
            R"("data_layout":"NCHW","out_dtype":""})");
  EXPECT_EQ(Attrs().ToJson(), "{}");
}

TEST(AttrsJsonTest, EveryMemberTypeComesBack) {
  const Attrs a = Attrs::Make(
      MixedAttrs{.axis = std::numeric_limits<std::int64_t>::min(),
                 .exclude = true,
                 .epsilon = 0.1,
                 .scale = std::numeric_limits<double>::denorm_min(),
                 .weights = {1, 1.0 / 3, -0.0, -1e18},
                 .sections = std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max()},
                 .dtype = Bool});
  EXPECT_TRUE(Attrs::FromJson(Mixed(), a.ToJson()) == a) << a.ToJson();
}

TEST(AttrsJsonTest, DefaultsComeBack) {
  const Attrs conv = Attrs::Make(ConvAttrs{}), mixed = Attrs::Make(MixedAttrs{});
  EXPECT_TRUE(Attrs::FromJson(Conv(), conv.ToJson()) == conv);
  EXPECT_TRUE(Attrs::FromJson(Mixed(), mixed.ToJson()) == mixed);
}

TEST(AttrsJsonTest, NanAndInfinityComeBack) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double value : {std::nan(""), -std::nan(""), infinity, -infinity}) {
    const Attrs a = Attrs::Make(MixedAttrs{.scale = value});
    EXPECT_TRUE(Attrs::FromJson(Mixed(), a.ToJson()) == a) << a.ToJson();
  }
}

TEST(AttrsJsonTest, TextOfAnyCharactersComesBack) {
  struct TextAttrs {
    std::string text;
    static constexpr auto Fields() {
      return attrs::Fields(attrs::Field("text", &TextAttrs::text, "any"));
    }
  };
  for (const std::string text : {"\"quoted\" \\ \n\t", "gr\xc3\xbc\xc3\x9f", "float32", ""}) {
    const Attrs a = Attrs::Make(TextAttrs{.text = text});
    EXPECT_EQ(Attrs::FromJson(SchemaOf<TextAttrs>(), a.ToJson()).As<TextAttrs>().text, text);
  }
}

std::string JsonRefusal(const std::string& json) {
  return Refusal([&] { Attrs::FromJson(Mixed(), json); });
}

TEST(AttrsJsonErrorTest, RefusesWhatIsNoObject) {
  for (const char* json : {"[1]", "3"})
    EXPECT_EQ(JsonRefusal(json), "relay.attrs.Mixed: the JSON is not an object") << json;
  for (const char* json : {"", "{\"axis\":", "{} {}", "nonsense"})
    EXPECT_EQ(JsonRefusal(json),
              "relay.attrs.Mixed: this cannot be read as JSON; it must be an object")
        << json;
}

TEST(AttrsJsonErrorTest, S004_13_RefusesAnUnknownField) {
  EXPECT_THAT(JsonRefusal(R"({"axis": 1, "axes": 2})"),
              HasSubstr("relay.attrs.Mixed: there is no field axes; the fields are: axis, "));
}

TEST(AttrsJsonErrorTest, RefusesAWrongTypeNamingTheField) {
  EXPECT_EQ(JsonRefusal(R"({"axis": "x"})"),
            "relay.attrs.Mixed: field axis is \"x\", a string; it takes an integer");
  EXPECT_EQ(JsonRefusal(R"({"axis": null})"),
            "relay.attrs.Mixed: field axis is None, None; it takes an integer");
}

TEST(AttrsJsonErrorTest, S004_13_RefusesAMissingField) {
  EXPECT_EQ(JsonRefusal("{}"), "relay.attrs.Mixed: field axis is missing; it has no default");
}

TEST(AttrsJsonErrorTest, RefusesAnObjectThatIsNoNumber) {
  EXPECT_THAT(JsonRefusal(R"({"axis": 1, "scale": {"double": 1}})"),
              HasSubstr("is not an attribute value"));
  EXPECT_THAT(JsonRefusal(R"({"axis": 1, "scale": {"float": "x"}})"),
              HasSubstr("is not an attribute value"));
}

TEST(AttrsJsonErrorTest, RefusesAFloatObjectWithoutText) {
  EXPECT_THAT(JsonRefusal(R"({"axis": 1, "scale": {"float": 3}})"),
              HasSubstr("is not an attribute value"));
}

TEST(AttrsJsonErrorTest, RefusesAnIntegerBeyondInt64) {
  // 2^63, which is no int64.
  EXPECT_THAT(JsonRefusal(R"({"axis": 9223372036854775808})"), HasSubstr("9223372036854775808"));
}

TEST(AttrsTest, BoundsMayBeFractions) {
  const auto made = [](const FieldValues& fields) {
    return Attrs::FromFields(SchemaOf<RateAttrs>(), fields);
  };
  EXPECT_EQ(made({{"rate", 0.5}}).As<RateAttrs>().rate, 0.5);
  EXPECT_THAT(Refusal([&] { made({{"rate", 0.75}}); }), HasSubstr("allowed is 0 to 0.5"));
  EXPECT_THAT(Refusal([&] { made({{"rate", 1}}); }), HasSubstr("allowed is 0 to 0.5"));
  EXPECT_THAT(Refusal([&] { made({{"rate", -1e-300}}); }), HasSubstr("rate"));
  EXPECT_THAT(Refusal([&] { made({{"rate", std::nan("")}}); }), HasSubstr("rate"));
  EXPECT_THAT(Refusal([&] { made({{"count", 0}}); }), HasSubstr("at least 0.5"));
}

}  // namespace
}  // namespace tenon::attrs
