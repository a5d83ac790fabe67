#include "tenon/ops/builders.h"
#include "tenon/passes/infer_type.h"
#include "tenon/tests/relax/relax_text.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::relax {
namespace {

using ::testing::HasSubstr;

TEST(PrintTest, S000_01_S000_25_AModulePrintsAsTheReferenceDoes) {
  EXPECT_EQ(PrintRelax(Read(R"py(
@I.ir_module
class Conv2dReLU:
    @R.function
    def main(data: R.Tensor((1, 64, 56, 56), "float32"), weight1: R.Tensor((64, 64, 3, 3), "float32")):
        with R.dataflow():
            conv1 = R.nn.relu(R.nn.conv2d(data, weight1, padding=(1, 1)))
            R.output(conv1)
        return conv1
)py")),
            R"py(# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(data: R.Tensor((1, 64, 56, 56), dtype="float32"), weight1: R.Tensor((64, 64, 3, 3), dtype="float32")) -> R.Tensor((1, 64, 56, 56), dtype="float32"):
        with R.dataflow():
            lv: R.Tensor((1, 64, 56, 56), dtype="float32") = R.nn.conv2d(data, weight1, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype="void")
            gv: R.Tensor((1, 64, 56, 56), dtype="float32") = R.nn.relu(lv)
            R.output(gv)
        return gv
)py");
}

// Modules that came from Relay text, in their normal form.
class PrintRoundTripTest : public ::testing::TestWithParam<NamedText> {};

TEST_P(PrintRoundTripTest, GivesAnEqualModule) {
  ExpectRoundTrip(passes::InferType(Parse(GetParam().text)));
}

INSTANTIATE_TEST_SUITE_P(
    Modules, PrintRoundTripTest,
    ::testing::Values(
        NamedText{"CallsOfAFunctionOfItsOwnExtents",
                  "def @f(%x: Tensor[(n), float32]) -> Tensor[(n), float32] { negative(%x) }\n"
                  "def @main(%x: Tensor[(n), float32], %z: Tensor[(m), float32], %w: Tensor[(4), "
                  "float32]) { (@f(%x), @f(%z), @f(%w)) }"},
        NamedText{"Parameter", "def @main(%x: Tensor[(2), float32]) { %x }"},
        NamedText{"SharedCall",
                  "def @main(%x: Tensor[(2), float32]) { %0 = exp(%x); add(%0, %0) }"},
        NamedText{"TwoCopies", "def @main(%x: Tensor[(2), float32]) { add(exp(%x), exp(%x)) }"},
        NamedText{"Tuples",
                  "def @main(%x: Tensor[(2), float32]) { %0 = (%x, exp(%x)); ((%0, %0.1), ()) }"},
        NamedText{"SharedTuple",
                  "def @main(%x: Tensor[(2), float32]) { %0 = (%x, %x); "
                  "add(concatenate(%0), concatenate(%0)) }"},
        NamedText{"TupleOfOne", "def @main(%x: Tensor[(2), float32]) { concatenate((%x,)) }"},
        NamedText{"Scalars",
                  "def @main() { (1, 1i64, 1i16, -0.5f, 1e-30f, 0.1f64, 0.1f16, True, False) }"},
        NamedText{
            "OtherNames",
            "def @main(%x: Tensor[(2, 3), float32]) { cast(nn.leaky_relu(transpose("
            "concatenate((%x, reverse(%x, axis=1)), axis=1)), alpha=0.5f), dtype=\"int8\") }"},
        NamedText{"NoRow",
                  "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) "
                  "{ nn.dense(%x, %w, units=4) }"},
        NamedText{"NameOfAnother",
                  "def @main(%x: Tensor[(2, 3), float32]) { variance(%x, mean(%x, axis=[1], "
                  "keepdims=True), axis=[1]) }"},
        NamedText{"ArgmaxOf32Bits",
                  "def @main(%x: Tensor[(2, 3), float32]) { argmax(%x, axis=[1]) }"},
        NamedText{"MatmulWithAttributes",
                  "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) "
                  "{ (nn.matmul(%x, %w, transpose_b=True), nn.matmul(%x, transpose(%w))) }"},
        NamedText{"Pad",
                  "def @main(%x: Tensor[(2, 3), float32]) { nn.pad(%x, 0f, pad_width=[[1, 2], "
                  "[0, 0]]) }"},
        NamedText{"GlobalFunctions",
                  "def @main(%x: Tensor[(2), float32]) { @f(@g(%x)) }\n"
                  "def @f(%x: Tensor[(2), float32], Primitive=1, t=\"a\\\"\\\\\") { exp(%x) }\n"
                  "def @g(%x: Tensor[(2), float32], global_symbol=\"g\") { exp(%x) }\n"
                  "def @h(%x: Tensor[(2), float32], global_symbol=\"other\") { exp(%x) }"},
        NamedText{"LineUsedInsideAndOutsideOfALiteral",
                  "def @main(%x: Tensor[(2), float32]) { %0 = exp(%x); "
                  "%1 = fn (%y: Tensor[(2), float32], Primitive=1) { add(%y, %0) }; "
                  "add(%1(%0), %1(%x)) }"},
        NamedText{"LiteralInALiteral",
                  "def @main(%x: Tensor[(2), float32]) { fn (%y: Tensor[(2), float32]) { "
                  "fn (%z: Tensor[(2), float32]) { add(%z, %y) }(%y) }(%x) }"},
        NamedText{"LiteralAsResult", "def @main() { fn (%y: Tensor[(2), float32]) { exp(%y) } }"},
        NamedText{"Symbols",
                  "def @main(%x: Tensor[(n, 3), float32], %y: Tensor[(2*n + 1, m), float32]) "
                  "{ (exp(%x), nn.relu(%y)) }"},
        NamedText{"UnknownExtents", "def @main(%x: Tensor[(?, ?), float32]) { exp(%x) }"},
        NamedText{"WordsOfPythonAsNames",
                  "def @main(%lambda: Tensor[(2), float32], %R: Tensor[(2), float32], "
                  "%cls: Tensor[(2), float32], %lv: Tensor[(2), float32]) { "
                  "add(add(add(%lambda, %R), %cls), %lv) }"},
        NamedText{"FunctionAttributes",
                  "def @main(%x: Tensor[(2), float32], a=True, b=1.5f, c=[1, [\"x\"], None], "
                  "d=-7, e=2.0f, f=\"line\\n\") { %x }"}),
    [](const auto& info) { return std::string(info.param.name); });

// In Relax, no axis means the flattened array.
TEST(PrintTest, RepeatNamesTheFirstAxisWhereRelayHasNone) {
  const ir::Module module =
      Parse("def @main(%x: Tensor[(2, 3), float32]) { repeat(%x, repeats=2) }");
  EXPECT_THAT(PrintRelax(passes::InferType(module)), HasSubstr("R.repeat(x, repeats=2, axis=0)"));
}

TEST(PrintTest, LetsAreBindings) {
  const ir::Module module = Parse(
      "def @main(%x: Tensor[(2), float32]) { let %y = exp(%x); let %z = add(%y, %y); "
      "add(%z, %y) }");
  const ir::Module flat =
      Parse("def @main(%x: Tensor[(2), float32]) { %y = exp(%x); %z = add(%y, %y); add(%z, %y) }");
  EXPECT_EQ(PrintRelax(module), PrintRelax(flat));
}

TEST(PrintTest, ConstantsAreMetadata) {
  const ir::Module module = Read(PrintRelax(ir::Module::FromExpr(
      ops::Add(ir::Constant::Make(NDArray::FromVector<float>({2}, {1.5F, -0.0F})),
               ir::Constant::Make(NDArray::Scalar<float>(HUGE_VALF))))));
  const std::string text = PrintRelax(module);
  EXPECT_THAT(text, HasSubstr("metadata = tvm.ir.load_json(\"\"\"{"));
  EXPECT_THAT(text, HasSubstr("R.add(metadata[\"relax.expr.Constant\"][0], "
                              "metadata[\"relax.expr.Constant\"][1])"));
  ExpectRoundTrip(module);
  EXPECT_THAT(PrintRelax(module, {.metadata = false}),
              HasSubstr("# The metadata, which holds the constants, is left out.\n"));
}

TEST(PrintTest, ReadingGivesTheNormalFormOfWindows) {
  const ir::Module module = passes::InferType(
      Parse("def @main(%x: Tensor[(1, 8, 5, 5), float32], %w: Tensor[(8, 8, 3, 3), float32]) "
            "{ nn.conv2d(%x, %w, padding=[1, 2], out_layout=\"NCHW\") }"));
  const ir::Module normal = Read(PrintRelax(module));
  EXPECT_THAT(Print(normal), HasSubstr("nn.conv2d(%x, %w, padding=[1, 2, 1, 2])"));
  ExpectRoundTrip(normal);
}

TEST(PrintTest, WhatTheTextCannotExpressIsRefusedInWords) {
  EXPECT_THAT(
      ErrorOf([] { PrintRelax(Parse("def @main(%x: Tensor[(?, 2), float32]) { %x }")); }).message(),
      HasSubstr("(?, 2); give the others names"));
  EXPECT_THAT(
      ErrorOf([] { PrintRelax(Parse("def @a.b(%x: Tensor[(2), float32]) { %x }")); }).message(),
      HasSubstr("@a.b is no name in Relax text"));
}

TEST(PrintTest, AResultOfWhichSomeExtentsAreKnownIsInferredAgain) {
  ExpectRoundTrip(
      Read("@R.function\n"
           "def main(x: R.Tensor(dtype=\"float32\", ndim=2)):\n"
           "    return R.concat((x, R.zeros((2, 3), \"float32\")), axis=1)\n"));
}

TEST(PrintTest, StringsOfAnyBytesReadBack) {
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  bytes += "\xc3\xa4\xed\xb2\x80";
  const ir::Module module = passes::InferType(ir::Module::FromExpr(
      ir::Function::Make({}, ops::Scalar(1), ir::Type(), {{"bytes", attrs::Value(bytes)}})));
  ExpectRoundTrip(module);
}

TEST(PrintTest, ADeepTuplePrintsAndReads) {
  ir::Expr e = ir::Var::Make("x", ir::TensorType({2}, Float32));
  for (int i = 0; i < 300; ++i)
    e = ir::TupleGetItem::Make(ir::Tuple::Make({e, ir::Tuple::Make({e})}), 0);
  ExpectRoundTrip(passes::InferType(ir::Module::FromExpr(e)));
}

TEST(PrintTest, ADeepGraphPrintsAndReads) {
  ir::Expr e = ir::Var::Make("x", ir::TensorType({2}, Float32));
  for (int i = 0; i < 100000; ++i) e = ops::Exp(e);
  ExpectRoundTrip(passes::InferType(ir::Module::FromExpr(e)));
}

}  // namespace
}  // namespace tenon::relax
