#include <cmath>

#include "tenon/passes/pattern/pattern.h"
#include "tenon/passes/pattern/pattern_match.h"
#include "tenon/tests/relax/relax_text.h"

namespace tenon::relax {
namespace {

using ir::Expr;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kImage[] = "x: R.Tensor((1, 8, 5, 5), dtype=\"float32\")";
constexpr char kRow[] = "x: R.Tensor((2, 3), dtype=\"float32\")";

constexpr char kNotebook[] = R"py(
@tvm.script.ir_module
class Conv2dReLU:
    @R.function
    def main(
        data: R.Tensor((1, 64, 56, 56), "float32"),
        weight1: R.Tensor((64, 64, 3, 3), "float32"),
    ):
        with R.dataflow():
            conv1 = R.nn.relu(R.nn.conv2d(data, weight1, padding=(1, 1)))
            R.output(conv1)

        return conv1
)py";

const ir::CallNode& CallOf(const Expr& e) { return *e.As<ir::CallNode>(); }
std::string TypeOf(const Expr& e) { return ir::ToString(e.checked_type()); }

TEST(ReadTest, S000_01_S000_24_TheNotebooksModuleHasTypesAndFullAttributes) {
  const ir::Module module = Read(kNotebook);
  ASSERT_EQ(module.functions().size(), 1U);
  EXPECT_EQ(module.operator_names(), ir::OperatorNames::kRelax);
  const ir::FunctionNode& main = module.Main();
  ASSERT_EQ(main.params.size(), 2U);
  EXPECT_EQ(ir::Var(main.params[0]).name(), "data");
  EXPECT_EQ(CallOf(main.body).op()->name, "nn.relu");
  const Expr conv = CallOf(main.body).args[0];
  EXPECT_EQ(CallOf(conv).attrs.ToJson(),
            R"({"strides":[1,1],"padding":[1,1,1,1],"dilation":[1,1],"groups":1,)"
            R"("channels":null,"kernel_size":null,"data_layout":"NCHW","kernel_layout":"OIHW",)"
            R"("out_layout":"","out_dtype":""})");
  for (const Expr& e : {conv, main.body}) EXPECT_EQ(TypeOf(e), "Tensor[(1, 64, 56, 56), float32]");
  EXPECT_EQ(ir::ToString(main.ret_type), "Tensor[(1, 64, 56, 56), float32]");
  ExpectRoundTrip(module);
}

TEST(ReadTest, PatternsOfRelaxNamesMatch) {
  const ir::Module module = Read(kNotebook);
  const passes::Pattern conv =
      passes::IsOp("relax.nn.conv2d")(passes::Wildcard(), passes::Wildcard());
  const Expr& main = module.Get("main");
  EXPECT_TRUE(passes::Matcher(main).Match(passes::IsOp("relax.nn.relu")(conv), module.Main().body));
}

TEST(ReadTest, ExpressionsNest) {
  const Expr e = ReadExpr(kRow, "R.add(R.multiply(x, x), R.const(2.5, \"float32\"))");
  EXPECT_EQ(CallOf(e).op()->name, "add");
  EXPECT_EQ(*CallOf(e).args[1].As<ir::ConstantNode>()->data.data<float>(), 2.5F);
}

TEST(ReadTest, OperatorsOfPythonHaveItsPrecedence) {
  const Expr e = ReadExpr(kRow, "x + x * x - -x / (x + x)");
  EXPECT_EQ(CallOf(e).op()->name, "subtract");
  EXPECT_EQ(CallOf(CallOf(e).args[0]).op()->name, "add");
  EXPECT_EQ(CallOf(CallOf(e).args[1]).op()->name, "divide");
  EXPECT_EQ(CallOf(CallOf(CallOf(e).args[1]).args[0]).op()->name, "negative");
}

TEST(ReadTest, TuplesAndTheirItems) {
  const Expr e = ReadExpr(kRow, "(x, (x, R.abs(x)))[1][1]");
  EXPECT_EQ(TypeOf(e), "Tensor[(2, 3), float32]");
  EXPECT_EQ(e.As<ir::TupleGetItemNode>()->index, 1);
  EXPECT_EQ(TypeOf(ReadExpr(kRow, "R.tuple(x)")), "(Tensor[(2, 3), float32],)");
  EXPECT_EQ(TypeOf(ReadExpr(kRow, "()")), "()");
}

TEST(ReadTest, ATupleIsUnpacked) {
  const ir::Module module = Read(Main(kRow,
                                      "    a, b, c = R.split(x, 3, axis=1)\n"
                                      "    return R.add(a, c)\n"));
  EXPECT_EQ(TypeOf(module.Main().body), "Tensor[(2, 1), float32]");
}

TEST(ReadTest, ALaterBindingOfANameReplacesTheEarlierOne) {
  const ir::Module module = Read(Main(kRow,
                                      "    y = R.abs(x)\n"
                                      "    y = R.exp(y)\n"
                                      "    return y\n"));
  EXPECT_EQ(CallOf(module.Main().body).op()->name, "exp");
  EXPECT_EQ(CallOf(CallOf(module.Main().body).args[0]).op()->name, "abs");
}

TEST(ReadTest, FunctionsOfTheModuleAreCalledBeforeAndAfterTheyAreDefined) {
  const ir::Module module = Read(R"py(
from tvm.script import ir as I

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")):
        cls = Module
        # later_one has no result type, so it is read first
        y = cls.later_one(x)
        return Module.public_one(y)

    @R.function(private=True)
    def later_one(x: R.Tensor((2, 3), dtype="float32")):
        R.func_attr({"Composite": "a.b", "Primitive": True, "n": [1, 2.0, None, "t"]})
        return R.exp(x)

    @R.function
    def public_one(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        return x
)py");
  EXPECT_EQ(TypeOf(module.Main().body), "Tensor[(2, 3), float32]");
  const auto& later = *module.Get("later_one").As<ir::FunctionNode>();
  EXPECT_EQ(later.attrs.size(), 3U);
  EXPECT_TRUE(later.is_primitive());
  EXPECT_EQ(attrs::ToText(later.attrs.at("n")), R"([1, 2f, None, "t"])");
  EXPECT_EQ(module.Get("public_one").As<ir::FunctionNode>()->attrs.at("global_symbol"),
            attrs::Value("public_one"));
  EXPECT_THAT(module.Main().attrs, IsEmpty());
  ExpectRoundTrip(module);
}

TEST(ReadTest, AFunctionInsideAFunctionReadsWhatIsAroundIt) {
  const ir::Module module = Read(R"py(
@R.function
def main(x: R.Tensor((2, 3), dtype="float32")):
    y = R.abs(x)
    @R.function
    def local_func(z: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        R.func_attr({"Composite": "a.b"})
        with R.dataflow():
            gv = R.add(z, y)
            R.output(gv)
        return gv
    output: R.Tensor((2, 3), dtype="float32") = local_func(x)
    return output
)py");
  const auto& function = *CallOf(module.Main().body).callee.As<ir::FunctionNode>();
  EXPECT_EQ(function.attrs.size(), 1U);
  EXPECT_EQ(CallOf(function.body).op()->name, "add");
  ExpectRoundTrip(module);
}

TEST(ReadTest, ExtentsMayBeVariables) {
  const ir::Module module = Read(R"py(
@R.function
def main(x: R.Tensor(("n", 4), dtype="float32"), y: R.Tensor(("n * 2 + 1", "T.max(n // 3, 7)"), dtype="float32")):
    n = T.int64()
    z: R.Tensor((n, 4), dtype="float32") = R.exp(x)
    return (z, y)
)py");
  EXPECT_EQ(ir::ToString(ir::Var(module.Main().params[1]).type_annotation()),
            "Tensor[(2*n + 1, max(7, floordiv(n, 3))), float32]");
  ExpectRoundTrip(module);
}

TEST(ReadTest, ExtentsThatAreNotKnownAreANumberOfAxes) {
  const ir::Module module =
      Read(Main("x: R.Tensor(dtype=\"float32\", ndim=2)", "    return R.exp(x)\n"));
  EXPECT_EQ(TypeOf(module.Main().body), "Tensor[(?, ?), float32]");
  ExpectRoundTrip(module);
}

TEST(ReadTest, ABlocksNamesAreKnownAfterItWhenItOutputsThem) {
  EXPECT_THAT(
      RefusalOf(Main(kRow,
                     "    with R.dataflow():\n"
                     "        a = R.abs(x)\n"
                     "        b = R.exp(a)\n"
                     "        R.output(b)\n"
                     "    return a\n")),
      HasSubstr("a belongs to a block that has ended; R.output(a) at its end makes it known "
                "here"));
}

TEST(ReadTest, ABlockMayOutputANameTwice) {
  EXPECT_EQ(RefusalOf(Main("x: R.Tensor((2,), \"float32\")",
                           "    with R.dataflow():\n        y = R.exp(x)\n"
                           "        R.output(y, y)\n    return y\n")),
            "");
}

TEST(ReadTest, ErrorsShowTheLine) {
  EXPECT_EQ(RefusalOf(Main(kRow, "    return R.nn.rleu(x)\n")),
            "test.py:3:12: there is no operator R.nn.rleu; did you mean R.nn.relu?\n"
            "  note: \n"
            "        return R.nn.rleu(x)\n"
            "               ^^^^^^^^^");
}

struct Refusal {
  const char* name;
  const char* body;
  const char* words;
  friend void PrintTo(const Refusal& r, std::ostream* out) { *out << r.name; }
};

class ReadRefusalTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(ReadRefusalTest, IsSaidInWords) {
  const std::string refusal = RefusalOf(Main(kImage, GetParam().body));
  EXPECT_THAT(refusal, HasSubstr(GetParam().words));
  EXPECT_THAT(refusal, AllOf(HasSubstr("test.py:"), HasSubstr("^")));
}

INSTANTIATE_TEST_SUITE_P(
    Words, ReadRefusalTest,
    ::testing::Values(
        Refusal{"Unindented", "return x\n", "expected an indented block after \"def main\""},
        Refusal{"TooFarIndented", "    y = R.abs(x)\n      return y\n",
                "this line is indented by 6 blanks, but no block begins here; the block around it "
                "is indented by 4"},
        Refusal{
            "BetweenTwoIndentations",
            "    with R.dataflow():\n        y = R.abs(x)\n        R.output(y)\n      return y\n",
            "this line is indented by 6 blanks; no block around it is (0, 4)"},
        Refusal{"Tab", "\treturn x\n", "a tab stands at the start of a line"},
        Refusal{"EmptyBlock", "    with R.dataflow():\n    return x\n",
                "expected an indented block after R.dataflow()"},
        Refusal{"UnknownOperator", "    return R.nn.conv2\n", "R.nn.conv2 is named but not called"},
        Refusal{"TooFewInputs", "    return R.add(x)\n", "R.add takes 2 inputs, not 1"},
        Refusal{"TooManyArguments", "    return R.nn.relu(x, x)\n",
                "R.nn.relu takes at most 1 arguments by position"},
        Refusal{"UnknownArgument", "    return R.nn.softmax(x, axes=1)\n",
                "R.nn.softmax has no argument axes; did you mean axis?"},
        Refusal{"ArgumentTwice", "    return R.nn.softmax(x, 1, axis=1)\n",
                "the argument axis is given twice"},
        Refusal{"PositionAfterName", "    return R.nn.softmax(axis=1, x)\n",
                "arguments by position come before those by name"},
        Refusal{"UndefinedVariable", "    data = R.abs(x)\n    return dta\n",
                "the variable dta is not defined; did you mean data?"},
        Refusal{"ElementType",
                "    y: R.Tensor((1, 8, 5, 5), dtype=\"flot32\") = R.abs(x)\n"
                "    return y\n",
                "'flot32' is not an element type; types are bool"},
        Refusal{"AnnotatedExtent",
                "    y: R.Tensor((1, 8, 5, 6), dtype=\"float32\") = R.abs(x)\n"
                "    return y\n",
                "the type of y does not hold: its value is Tensor[(1, 8, 5, 5), float32]"},
        Refusal{"AnnotatedType",
                "    y: R.Tensor((1, 8, 5, 5), dtype=\"int8\") = R.abs(x)\n"
                "    return y\n",
                "the type of y does not hold"},
        Refusal{"AnnotatedRank", "    y: R.Tensor(ndim=3) = R.abs(x)\n    return y\n",
                "the type of y does not hold"},
        Refusal{"UnknownExtentVariable", "    y: R.Tensor((1, 8, 5, n)) = x\n    return y\n",
                "the variable n of an extent is not known; declare it first: n = T.int64()"},
        Refusal{"Types", "    return R.add(x, R.reshape(x, (200,)))\n", "add: "},
        Refusal{"NumberAsTensor", "    return R.add(x, 1.0)\n",
                "a number is no tensor; write R.const(1.0, \"float32\")"},
        Refusal{"PrimValueAsTensor", "    y = R.prim_value(1)\n    return y\n",
                "y is the number 1, which is no tensor"},
        Refusal{"PrimValueOfNoType", "    return R.add(x, R.prim_value(T.flot32(1)))\n",
                "T.flot32 is no element type"},
        Refusal{"PrimValueOutOfRange", "    return R.add(x, R.prim_value(T.int8(300)))\n",
                "300 is not a value of int8"},
        Refusal{"NoAxisToExpand", "    return R.expand_dims(x, [])\n", "is given no axis"},
        Refusal{"AnAxisToExpandTwice", "    return R.expand_dims(x, [0, -6])\n",
                "R.expand_dims is given an axis twice"},
        Refusal{"AnAxisToExpandOutside", "    return R.expand_dims(x, [0, 6])\n",
                "axis 6 is not within the 6 axes of the result"},
        Refusal{"TooManyParts", "    return R.split(x, 4, axis=2)\n",
                "R.split: 4 parts of 2 elements are more than the 5 of the axis"},
        Refusal{"CallTir", "    return R.call_tir(x, x)\n",
                "R.call_tir calls code that the module"},
        Refusal{"CallDpsPacked",
                "    return R.call_dps_packed(\"f\", x, R.Tensor((1,), \"float32\"))\n",
                "R.call_dps_packed calls code that the module does not hold as operators"},
        Refusal{"ShapeOf", "    return R.shape_of(x)\n",
                "R.shape_of is no tensor; it may stand where an operator takes a value"},
        Refusal{"NoReturn", "    y = R.abs(x)\n", "the function ends without \"return\""},
        Refusal{"AfterReturn", "    return x\n    y = x\n",
                "expected the end of the function after \"return\""},
        Refusal{"ReturnInABlock", "    with R.dataflow():\n        return x\n",
                "\"return\" cannot stand in a dataflow block"},
        Refusal{"OutputOfAnother",
                "    with R.dataflow():\n        y = R.abs(x)\n        R.output(z)\n    return y\n",
                "the variable z is not defined in this block"},
        Refusal{"UnknownFunction", "    return cls.f(x)\n", "the variable cls is not defined"},
        Refusal{"ItemOfATensor", "    return x[0]\n", "which has no fields; only tuples have"},
        Refusal{"ItemTooFar", "    return (x, x)[2]\n", "the tuple has 2 fields, from 0 on"},
        Refusal{"OpenBracket", "    return (x\n", "this bracket is never closed"},
        Refusal{"OtherBracket", "    return (x]\n", "expected ')', which closes '('"},
        Refusal{"OpenString", "    y: R.Tensor(\"float32) = x\n    return y\n",
                "this string is never closed"},
        Refusal{"Escape", "    R.func_attr({\"a\\q\": 1})\n    return x\n",
                "this escape is not known"},
        Refusal{"AttributeTwice", "    R.func_attr({\"a\": 1, \"a\": 1})\n    return x\n",
                "the attribute a is given twice"},
        Refusal{"ConstantOutOfRange", "    return R.const(300, \"uint8\")\n",
                "300 is not a value of uint8"},
        Refusal{"RealOutOfRange", "    return R.const(1e39, \"float32\")\n",
                "1e39 is not a value of float32"},
        Refusal{"AttributeOutOfRange", "    return R.clip(x, 0, 1e400)\n",
                "'1e400' is beyond the numbers of float64"},
        Refusal{"NoMetadata", "    return metadata[\"relax.expr.Constant\"][0]\n",
                "the text has no metadata"},
        Refusal{"Nested", "", "expected an indented block"},
        Refusal{"Training", "    return R.nn.batch_norm(x, x, x, x, x, axis=1, training=True)\n",
                "R.nn.batch_norm with training=True is not supported"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ReadTest, APrivateMainIsRefused) {
  EXPECT_THAT(RefusalOf("@R.function(private=True)\n"
                        "def main(x: R.Tensor((2,), \"float32\")):\n    return x\n"),
              HasSubstr("main is what runs, and so public"));
}

TEST(ReadTest, ADeepExpressionIsRefused) {
  const std::string deep(100000, '(');
  EXPECT_THAT(
      RefusalOf(Main(kRow, StrCat("    return ", deep, "x", std::string(100000, ')'), "\n"))),
      HasSubstr("nested more than 200 deep"));
}

TEST(ReadTest, AParameterNeedsAType) {
  EXPECT_THAT(RefusalOf(Main("x", "    return x\n")), HasSubstr("the parameter x has no type"));
  EXPECT_THAT(RefusalOf(Main("x: R.Tensor(dtype=\"float32\")", "    return x\n")),
              HasSubstr("the shape is missing"));
  EXPECT_THAT(RefusalOf(Main("x: R.Shape([1])", "    return x\n")),
              HasSubstr("R.Shape is a value that Tenon has no type for"));
}

TEST(ReadTest, AResultThatDoesNotHoldIsRefused) {
  EXPECT_THAT(RefusalOf("@R.function\ndef main(x: R.Tensor((2,), \"int8\")) -> R.Tensor((3,), "
                        "\"int8\"):\n    return x\n"),
              HasSubstr("the result type of main does not hold: the result is Tensor[(2), int8]"));
}

TEST(ReadTest, FunctionsThatCallEachOtherWithoutAResultTypeAreRefused) {
  EXPECT_THAT(RefusalOf("@I.ir_module\nclass Module:\n"
                        "    @R.function\n    def main(x: R.Tensor((2,), \"int8\")):\n"
                        "        return Module.f(x)\n"
                        "    @R.function\n    def f(x: R.Tensor((2,), \"int8\")):\n"
                        "        return Module.f(x)\n"),
              HasSubstr("f is called while its result is not known; write it"));
}

// Found by relax_fuzz, which waited for the bracket that never came.
TEST(ReadTest, BracketsOfADecoratorMustMatch) {
  EXPECT_THAT(RefusalOf("@I.ir_module(]\nclass Module:\n    pass\n"),
              HasSubstr("expected ')', which closes '('"));
}

TEST(ReadTest, AByteOrderMarkIsSkippedAndNotCounted) {
  const std::string text = Main(kRow, "    return R.nn.relu(x)\n");
  EXPECT_TRUE(ir::StructuralEqual(Read("\xEF\xBB\xBF" + text), Read(text)));
  EXPECT_TRUE(LooksLikeRelax("\xEF\xBB\xBF" + text));
  EXPECT_THAT(RefusalOf("\xEF\xBB\xBF"
                        "def main"),
              HasSubstr("test.py:1:"));
  EXPECT_EQ(RefusalOf("\xEF\xBB\xBF"
                      "x"),
            RefusalOf("x"));
}

TEST(ReadTest, ANumberIsTheNearestThatItsTypeHolds) {
  const auto value = [](const char* text) {
    return ReadExpr(kRow, text).As<ir::ConstantNode>()->data;
  };
  EXPECT_EQ(value("R.const(1e-50, \"float32\")").ToVector<float>()[0], 0);
  EXPECT_EQ(value("R.const(1e-400, \"float64\")").ToVector<double>()[0], 0);
  EXPECT_EQ(value("R.const(1e-45, \"float32\")").ToVector<float>()[0], std::ldexp(1.0F, -149));
}

TEST(ReadTest, OtherTextIsRecognised) {
  EXPECT_TRUE(LooksLikeRelax(kNotebook));
  EXPECT_TRUE(LooksLikeRelax("# from tvm.script import relax as R\n\n@R.function\n"));
  EXPECT_TRUE(LooksLikeRelax("metadata = tvm.ir.load_json(\"\"\""));
  EXPECT_FALSE(LooksLikeRelax("#[version = \"0.0.5\"]\ndef @main() { 1 }"));
  EXPECT_FALSE(LooksLikeRelax("def @main() { 1 }"));
  EXPECT_FALSE(LooksLikeRelax(""));
}

TEST(ReadTest, AFunctionsVariablesStandForTheExtentsOfTheArguments) {
  const ir::Module module = Read(
      "@I.ir_module\nclass Module:\n"
      "    @R.function(private=True)\n"
      "    def f(x: R.Tensor((\"n\", \"k\"), \"float32\")) -> R.Tensor((\"n * k\",), "
      "\"float32\"):\n"
      "        n = T.int64()\n        k = T.int64()\n        return R.reshape(x, (n * k,))\n"
      "    @R.function\n"
      "    def main(x: R.Tensor((\"n\", \"k\"), \"float32\"), q: R.Tensor((4, 3), \"float32\")):\n"
      "        cls = Module\n        c = cls.f(q)\n"
      "        return (x, R.zeros(R.shape_of(c), \"float32\"))\n");
  EXPECT_EQ(TypeOf(module.Main().body), "(Tensor[(n, k), float32], Tensor[(12), float32])");
}

}  // namespace
}  // namespace tenon::relax
