// What registrations tell passes: lowering, precision, layouts, scales and channels.
#include "tenon/ops/pass_rules.h"

#include "tenon/ir/text_format.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/layout/layout_columns.h"
#include "tenon/ops/matmul/dense_pack_attrs.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/layout/alter_op_layout.h"
#include "tenon/passes/layout/convert_layout.h"
#include "tenon/passes/precision/to_mixed_precision.h"
#include "tenon/passes/precision/widen_half_floats.h"
#include "tenon/strategies/register_op.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

std::string StartupErrors() {
  const absl::Status status = CatchErrors([] { ops::OpRegistry::Global().ThrowStartupErrors(); });
  return std::string(status.message());
}

// x * factor + 1 in other operators.
TEST(PassRulesTest, AnOperatorThatIsWrittenInOthersNeedsNoCompute) {
  OpRegistration("my.rules_lowered")
      .Argument("data", "Tensor", "input")
      .Argument("factor", "Tensor", "a number")
      .TypeRelation([](ops::TypeCall& call) { call.LearnResult(call.input(0)); })
      .Lower([](const ops::LoweringCall& call) {
        EXPECT_EQ(ir::ToString(call.args.at(0).checked_type()), "Tensor[(3, 2), float32]");
        EXPECT_NE(call.args.at(1).As<ir::ConstantNode>(), nullptr);
        return ops::Add(ops::Multiply(call.args[0], call.args[1]), ops::Scalar(1));
      });
  EXPECT_EQ(StartupErrors(), "");
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(3, 2), float32]) { my.rules_lowered(my.rules_lowered(%x, 2f), 3f) }");
  const runtime::Inputs inputs = RandomInputs(module, 1);
  const Executable exe = ValueOrThrow(Compile(module));
  EXPECT_EQ(exe.num_kernel_calls(), 1);
  ExpectClose(ValueOrThrow(exe.Run(inputs)),
              Interpreted(Parsed("def @main(%x: Tensor[(3, 2), float32]) { "
                                 "add(multiply(add(multiply(%x, 2f), 1f), 3f), 1f) }"),
                          inputs));
}

TEST(PassRulesTest, ALoweringToAnotherTypeIsRefused) {
  const auto lowered = [](const std::string& name, const ir::Expr& result) {
    OpRegistration(name)
        .Argument("data", "Tensor", "input")
        .TypeRelation(ops::Identity)
        .Lower([result](const ops::LoweringCall&) { return result; });
    const absl::Status status =
        Compile(Parsed(StrCat("def @main(%x: Tensor[(3), float32]) { ", name, "(%x) }"))).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_THAT(lowered("my.rules_scalar", ops::Scalar(1)),
              HasSubstr("my.rules_scalar: its lowering gives float32; the call is "
                        "Tensor[(3), float32]"));
  EXPECT_THAT(lowered("my.rules_free", ir::Var::Make("w", ir::TensorType({3}, Float32))),
              HasSubstr("its lowering gives an expression of %w, which is none of its arguments"));
  EXPECT_THAT(lowered("my.rules_null", ir::Expr()), HasSubstr("its lowering gives null"));
  OpRegistration("my.rules_no_lowering").Lower(nullptr);
  EXPECT_THAT(StartupErrors(), HasSubstr("its lowering is no function"));
}

TEST(PassRulesTest, MixedPrecisionFollowsWhatTheRegistrationSays) {
  const auto registered = [](const std::string& name, ops::PrecisionRule rule) {
    OpRegistration(name)
        .Argument("data", "Tensor", "input")
        .TypeRelation(ops::Identity)
        .MixedPrecision(rule)
        .Elementwise([](te::Expr x) { return x + x; });
  };
  registered("my.rules_follows", ops::PrecisionRule::kFollow);
  registered("my.rules_never", ops::PrecisionRule::kNever);
  EXPECT_EQ(StartupErrors(), "");
  const auto low = [](const std::string& op) {
    const ir::Module module = passes::InferType(Parsed(
        StrCat("def @main(%x: Tensor[(4, 4), float32], %w: Tensor[(4, 4), float32]) { nn.dense(",
               op, "(nn.dense(%x, %w)), %w) }")));
    return ir::PrintModule(passes::ToMixedPrecision(module, {.type = BFloat16}));
  };
  EXPECT_THAT(low("my.rules_follows"),
              HasSubstr("my.rules_follows(%3) /* ty=Tensor[(4, 4), bfloat16]"));
  EXPECT_THAT(low("my.rules_never"), HasSubstr("my.rules_never(%2) /* ty=Tensor[(4, 4), float32]"));
  registered("my.rules_always", ops::PrecisionRule::kAlways);
  EXPECT_THAT(StartupErrors(), HasSubstr("it has no attribute out_dtype"));
}

struct RuleImageAttrs {
  std::string layout = "NCHW";
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("layout", &RuleImageAttrs::layout, "of the data"));
  }
};

TEST(PassRulesTest, ConvertLayoutTakesTheLayoutsThatTheRegistrationOffers) {
  OpRegistration("my.rules_image")
      .Argument("data", "Tensor", "images")
      .Attrs<RuleImageAttrs>()
      .TypeRelation(ops::Identity)
      .Layout(ops::LayoutsOfWholeAxes<RuleImageAttrs>)
      .LayoutChoice(ops::ChoiceOfImage<RuleImageAttrs>())
      .Elementwise([](te::Expr x) { return x + x; });
  EXPECT_EQ(StartupErrors(), "");
  const ir::Module module = passes::InferType(
      Parsed("def @main(%x: Tensor[(1, 2, 3, 5), float32]) { my.rules_image(%x) }"));
  EXPECT_THAT(ir::PrintModule(passes::ConvertLayout(module, {{"my.rules_image", {"NHWC"}}})),
              HasSubstr("my.rules_image(%0, layout=\"NHWC\") /* ty=Tensor[(1, 3, 5, 2), float32]"));
  EXPECT_THROW(passes::ConvertLayout(module, {{"my.rules_image", {"NHW"}}}), Error);
  OpRegistration("my.rules_no_choice").LayoutChoice({});
  EXPECT_THAT(StartupErrors(), HasSubstr("its answer to a choice of layouts is no function"));
}

TEST(PassRulesTest, HalvesAreSummedInFloat32WhereTheRegistrationSaysThatTheyAreSummed) {
  const auto registered = [](const std::string& name) {
    OpRegistration registration(name);
    registration.Argument("data", "Tensor", "input")
        .TypeRelation(ops::Identity)
        .Elementwise([](te::Expr x) { return x + x; });
    return registration;
  };
  registered("my.rules_sums").SumsHalves(ops::HalfSums::kPlain);
  registered("my.rules_maps");
  EXPECT_EQ(StartupErrors(), "");
  const auto widened = [](const std::string& op) {
    return ir::PrintModule(passes::WidenHalfFloats(
        passes::InferType(Parsed(StrCat("def @main(%x: Tensor[(4), float16]) { ", op, "(%x) }")))));
  };
  EXPECT_THAT(widened("my.rules_sums"), HasSubstr("my.rules_sums(%0) /* ty=Tensor[(4), float32]"));
  EXPECT_THAT(widened("my.rules_maps"), HasSubstr("my.rules_maps(%x) /* ty=Tensor[(4), float16]"));
}

TEST(PassRulesTest, ScalesAreFoldedThroughAnOperatorThatKeepsThem) {
  const auto registered = [](const std::string& name) {
    OpRegistration registration(name);
    registration.Argument("data", "Tensor", "input")
        .TypeRelation(ops::Identity)
        .Elementwise([](te::Expr x) { return loop::Select(x > 0.0F, x * 2.0F, x * 0.5F); });
    return registration;
  };
  registered("my.rules_bends").KeepsPositiveScale();
  registered("my.rules_bends_unsaid");
  EXPECT_EQ(StartupErrors(), "");
  for (const bool is_said : {true, false}) {
    const ir::Module module = Parsed(
        StrCat("def @main(%x: Tensor[(1, 2, 5, 5), float32], %w: Tensor[(3, 2, 1, 1), float32]) { "
               "multiply(",
               is_said ? "my.rules_bends" : "my.rules_bends_unsaid",
               "(nn.conv2d(%x, cumsum(broadcast_to(0.1f, shape=[3, 2, 1, 1]), axis=0))), 3f) }"));
    const std::string fused = ir::PrintModule(ValueOrThrow(Lower(module)).module);
    EXPECT_EQ(fused.find("multiply") == std::string::npos, is_said) << fused;
    const runtime::Inputs inputs = RandomInputs(module, 1);
    ExpectClose(ValueOrThrow(ValueOrThrow(Compile(module)).Run(inputs)),
                Interpreted(module, inputs), 1e-5);
  }
}

// x w^T, of which `axes` says where the channels are.
void RegisterLinear(const std::string& name, ops::ChannelAxes axes) {
  OpRegistration(name)
      .Argument("data", "Tensor", "rows")
      .Argument("weight", "Tensor", "a row for each output")
      .TypeRelation([](ops::TypeCall& call) {
        const auto* x = call.tensor(0);
        const auto* w = call.tensor(1);
        if (x == nullptr || w == nullptr) return;
        call.LearnResult(ir::TensorType({x->shape[0], w->shape[0]}, x->dtype));
      })
      .Pattern(ops::OpPattern::kOutEWiseFusable)
      .Channels([axes](const ir::CallNode&) { return axes; })
      .Compute([](const TeCall& call) {
        const te::IterVar k = te::ReduceAxis(0, call.input(0).shape()[1]);
        return std::vector<te::Tensor>{te::Compute(call.te_shape(), [&](te::Var i, te::Var j) {
          return te::Sum(call.input(0)(i, k.var) * call.input(1)(j, k.var), {k});
        })};
      });
  EXPECT_EQ(StartupErrors(), "");
}
constexpr char kScaledLinear[] =
    "(%x, cumsum(broadcast_to(0.1f, shape=[4, 3]), axis=0)), "
    "cumsum(broadcast_to(1f, shape=[4]), axis=0)) }";

TEST(PassRulesTest, ScalesAreFoldedIntoTheWeightOfAnOperatorThatSaysWhereItsChannelsAre) {
  RegisterLinear("my.rules_linear", {.data = {1}, .result = {1}, .inputs = {1}, .outputs = {0}});
  const ir::Module module = Parsed(
      StrCat("def @main(%x: Tensor[(5, 3), float32]) { multiply(my.rules_linear", kScaledLinear));
  const std::string fused = ir::PrintModule(ValueOrThrow(Lower(module)).module);
  EXPECT_EQ(fused.find("multiply"), std::string::npos) << fused;
  const runtime::Inputs inputs = RandomInputs(module, 1);
  ExpectClose(ValueOrThrow(ValueOrThrow(Compile(module)).Run(inputs)), Interpreted(module, inputs),
              1e-5);
}

// A product by a matrix, which AlterOpLayout replaces by one of blocks.
TEST(PassRulesTest, AlterOpLayoutAsksWhatTheRegistrationSays) {
  const auto dense = ops::OpRegistry::Global().Get("nn.contrib_dense_pack");
  OpRegistration("my.rules_product")
      .Argument("data", "Tensor", "(m, k)")
      .Argument("weight", "Tensor", "(n, k)")
      .TypeRelation([](ops::TypeCall& call) {
        const auto* x = call.tensor(0);
        const auto* w = call.tensor(1);
        if (x == nullptr || w == nullptr) return;
        call.LearnResult(ir::TensorType({x->shape[0], w->shape[0]}, x->dtype));
      })
      .Pattern(ops::OpPattern::kOutEWiseFusable)
      .Layout([](const ops::LayoutQuestion& q) {
        return ops::LayoutAnswer{{"NC", "NC"}, "NC", q.attrs};
      })
      .AlterLayout([dense](const ir::CallNode& call) -> std::optional<ops::LayoutAlteration> {
        const Shape weight = ir::StaticShape(call.args[1].checked_type(), "weight");
        if (weight[0] % 4 != 0) return std::nullopt;
        return ops::LayoutAlteration{
            dense,
            {{"NC", "NC4n"},
             "NC",
             attrs::Attrs::Make(ops::DensePackAttrs{.units = weight[0], .weight_layout = "NC4n"})}};
      });
  EXPECT_EQ(StartupErrors(), "");
  for (const int columns : {8, 6}) {
    const ir::Module module = passes::AlterOpLayout(
        passes::InferType(Parsed(StrCat("def @main(%x: Tensor[(3, 5), float32], %w: Tensor[(",
                                        columns, ", 5), float32]) { my.rules_product(%x, %w) }"))));
    EXPECT_THAT(ir::PrintModule(module),
                HasSubstr(columns == 8 ? "nn.contrib_dense_pack(" : "my.rules_product("));
  }
  OpRegistration("my.rules_no_layout").AlterLayout([](const ir::CallNode&) {
    return std::optional<ops::LayoutAlteration>();
  });
  EXPECT_THAT(StartupErrors(), HasSubstr("call .AlterLayout after .Layout"));
  OpRegistration("my.rules_null_layout").AlterLayout(nullptr);
  EXPECT_THAT(StartupErrors(), HasSubstr("its change of layouts is no function"));
}

TEST(PassRulesTest, ChannelsThatAreNotThereAreRefused) {
  RegisterLinear("my.rules_misplaced", {.data = {1}, .result = {1}, .inputs = {2}, .outputs = {0}});
  RegisterLinear("my.rules_grouped",
                 {.data = {1}, .result = {1}, .inputs = {1}, .outputs = {0}, .groups = 2});
  const auto error = [](const std::string& op) {
    const absl::Status status =
        Compile(
            Parsed(StrCat("def @main(%x: Tensor[(5, 3), float32]) { multiply(", op, kScaledLinear)))
            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_THAT(error("my.rules_misplaced"),
              HasSubstr("the axes of channels of the weight's inputs are [2]; it has 2 axes"));
  EXPECT_THAT(error("my.rules_grouped"),
              HasSubstr("the weight is for 6 channels where there are 3"));
  OpRegistration("my.rules_no_channels").Channels(nullptr);
  EXPECT_THAT(StartupErrors(), HasSubstr("its rule of channels is no function"));
}

}  // namespace
}  // namespace tenon::strategies
