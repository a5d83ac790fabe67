// Calls of operators by name: a name and fields make what the builder makes, and attributes are
// made by the key of their type.
#include "tenon/ops/call_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/ops/attrs_by_key.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/registry.h"
#include "tenon/support/error.h"

namespace tenon::ops {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

ir::Expr X() { return ir::Var::Make("x", ir::TensorType({1, 3, 8, 8}, Float32)); }
ir::Expr W() { return ir::Var::Make("w", ir::TensorType({4, 3, 3, 3}, Float32)); }

template <typename Make>
std::string ErrorOf(const Make& make) {
  const absl::Status status = CatchErrors([&] { (void)make(); });
  EXPECT_FALSE(status.ok());
  return std::string(status.message());
}

TEST(CallOpTest, S004_30_ANameAndFieldsMakeWhatTheBuilderMakes) {
  const ir::Expr x = X();
  const ir::Expr w = W();
  const ir::Expr built = Conv2D(x, w, {.strides = {2, 2}, .padding = {1, 1, 1, 1}});
  const ir::Expr by_fields =
      CallOp("nn.conv2d", {x, w}, {{"strides", {2, 2}}, {"padding", {1, 1, 1, 1}}});
  EXPECT_TRUE(ir::StructuralEqual(by_fields, built));
  const ir::Expr by_json =
      CallOpWithJson("nn.conv2d", {x, w}, R"({"strides": [2, 2], "padding": [1, 1, 1, 1]})");
  EXPECT_TRUE(ir::StructuralEqual(by_json, built));
  EXPECT_TRUE(ir::StructuralEqual(CallOp("nn.relu", {x}, {}), Relu(x)));
  for (const char* none : {"", "{}", " { }\n"})
    EXPECT_TRUE(ir::StructuralEqual(CallOpWithJson("nn.relu", {x}, none), Relu(x)));
}

TEST(CallOpTest, FieldsTakeTextsNumbersAndTypes) {
  const auto attrs = CallOp("nn.conv2d", {X(), W()},
                            {{"data_layout", "NHWC"}, {"groups", 2}, {"out_dtype", Int32}})
                         .As<ir::CallNode>()
                         ->attrs;
  EXPECT_EQ(attrs.As<Conv2DAttrs>().data_layout, "NHWC");
  EXPECT_EQ(attrs.As<Conv2DAttrs>().groups, 2);
  EXPECT_EQ(attrs.As<Conv2DAttrs>().out_dtype, Int32);
}

TEST(CallOpTest, S004_30_TheSignatureHasEveryTypedArgument) {
  EXPECT_EQ(SignatureOf("nn.conv2d"),
            "nn.conv2d(data: Tensor, weight: Tensor, *, strides: a list of integers = [1, 1], "
            "padding: a list of integers = [0, 0], dilation: a list of integers = [1, 1], "
            "groups: an integer = 1, channels: an integer or None = None, "
            "kernel_size: a list of integers or None = None, data_layout: a string = \"NCHW\", "
            "kernel_layout: a string = \"OIHW\", out_layout: a string = \"\", "
            "out_dtype: an element type such as \"float32\" = \"\")");
}

TEST(CallOpTest, S004_30_WrongCallsAreRefusedWithWhatIsAllowed) {
  EXPECT_THAT(ErrorOf([] {
                return CallOp("nn.conv2", {X(), W()}, {});
              }),
              HasSubstr("did you mean nn.conv2d?"));
  EXPECT_THAT(ErrorOf([] { return CallOp("nn.conv2d", {X()}, {}); }),
              AllOf(HasSubstr("nn.conv2d takes 2 arguments, not 1"),
                    HasSubstr("nn.conv2d(data: Tensor, weight: Tensor, *, strides: ")));
  EXPECT_THAT(ErrorOf([] {
                return CallOp("nn.conv2d", {X(), ir::Expr()}, {});
              }),
              HasSubstr("argument 1 is null"));
  EXPECT_THAT(ErrorOf([] {
                return CallOp("nn.conv2d", {X(), W()}, {{"stride", {1, 1}}});
              }),
              AllOf(HasSubstr("there is no field stride"), HasSubstr("did you mean strides?")));
  EXPECT_THAT(ErrorOf([] {
                return CallOp("nn.conv2d", {X(), W()}, {{"strides", "two"}});
              }),
              AllOf(HasSubstr("field strides is \"two\", a string"), HasSubstr("integers")));
  EXPECT_THAT(ErrorOf([] {
                return CallOp("nn.conv2d", {X(), W()}, {{"groups", 1}, {"groups", 2}});
              }),
              HasSubstr("the field groups is given twice"));
  EXPECT_THAT(ErrorOf([] {
                return CallOp("nn.relu", {X()}, {{"alpha", 1}});
              }),
              HasSubstr("nn.relu has no attributes; it is given alpha"));
  for (const char* text : {R"({"alpha": 1})", "[]", "null", "{"}) {
    EXPECT_THAT(ErrorOf([&] { return CallOpWithJson("nn.relu", {X()}, text); }),
                HasSubstr("nn.relu has no attributes"));
  }
  EXPECT_THAT(ErrorOf([] {
                return CallOpWithJson("nn.conv2d", {X(), W()}, "[1]");
              }),
              HasSubstr("the JSON is not an object"));
}

TEST(CallOpTest, S004_31_AttributesAreMadeByTheKeyOfTheirType) {
  const attrs::Attrs made = AttrsOfKey("relay.attrs.Conv2DAttrs", R"({"strides": [2, 1]})");
  EXPECT_EQ(made.As<Conv2DAttrs>().strides, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(AttrsOfKey(made.schema()->name, made.ToJson()), made);
  EXPECT_THAT(AttrsKeys(), Contains("relay.attrs.Conv2DAttrs"));
  EXPECT_THAT(ErrorOf([] { return AttrsOfKey("relay.attrs.Conv2dAttrs", "{}"); }),
              HasSubstr("did you mean relay.attrs.Conv2DAttrs?"));
}

TEST(CallOpTest, S004_30_EveryOperatorHasASignature) {
  EXPECT_EQ(SignatureOf("nn.relu"), "nn.relu(data: Tensor)");
  EXPECT_THAT(SignatureOf("nn.leaky_relu"), HasSubstr("alpha: a number = "));
  for (const std::string& name : OpRegistry::Global().Names())
    EXPECT_THAT(SignatureOf(name), HasSubstr(name + "("));
}

}  // namespace
}  // namespace tenon::ops
