#include "tenon/passes/infer_type.h"
#include "tenon/tests/relax/relax_text.h"
#include "tenon/tests/testing/relay_text.h"
#include "tenon/verify/draw/add_control_flow.h"
#include "tenon/verify/interpret.h"

namespace tenon::relax {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kParams[] =
    "c: R.Tensor((), dtype=\"bool\"), x: R.Tensor((3, 4), dtype=\"float32\")";

TEST(IfTest, ReadsAndPrints) {
  const ir::Module module = Read(R"py(
@I.ir_module
class Module:
    @R.function
    def main(c: R.Tensor((), dtype="bool"), x: R.Tensor((3, 4), dtype="float32")) -> R.Tensor((3, 4), dtype="float32"):
        if c:
            lv = R.add(x, x)
            y = R.nn.relu(lv)
        else:
            y = R.exp(x)
        return y
)py");
  const auto* choice = module.Main().body.As<ir::IfNode>();
  ASSERT_NE(choice, nullptr);
  EXPECT_EQ(choice->condition, module.Main().params[0]);
  EXPECT_EQ(PrintRelax(module), R"py(# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(c: R.Tensor((), dtype="bool"), x: R.Tensor((3, 4), dtype="float32")) -> R.Tensor((3, 4), dtype="float32"):
        if c:
            lv: R.Tensor((3, 4), dtype="float32") = R.add(x, x)
            gv: R.Tensor((3, 4), dtype="float32") = R.nn.relu(lv)
        else:
            gv: R.Tensor((3, 4), dtype="float32") = R.exp(x)
        return gv
)py");
  ExpectRoundTrip(module);
}

TEST(IfTest, WhatBothBranchesOrLaterCodeReadIsBoundBefore) {
  const ir::Module module = Read(Main(kParams,
                                      "    a = R.exp(x)\n"
                                      "    b = R.abs(x)\n"
                                      "    if c:\n"
                                      "        y = R.add(a, a)\n"
                                      "    else:\n"
                                      "        y = R.add(a, b)\n"
                                      "    return R.multiply(y, x)\n"));
  EXPECT_THAT(PrintRelax(module),
              HasSubstr("        lv: R.Tensor((3, 4), dtype=\"float32\") = R.exp(x)\n"
                        "        if c:\n"
                        "            lv1: R.Tensor((3, 4), dtype=\"float32\") = R.add(lv, lv)\n"
                        "        else:\n"
                        "            lv2: R.Tensor((3, 4), dtype=\"float32\") = R.abs(x)\n"
                        "            lv1: R.Tensor((3, 4), dtype=\"float32\") = R.add(lv, lv2)\n"
                        "        gv: R.Tensor((3, 4), dtype=\"float32\") = R.multiply(lv1, x)\n"
                        "        return gv\n"));
  ExpectRoundTrip(module);
}

TEST(IfTest, ABranchMayEndInANestedIf) {
  const ir::Module module = Read(Main(kParams,
                                      "    if c:\n"
                                      "        d = R.logical_not(c)\n"
                                      "        if d:\n"
                                      "            y = R.exp(x)\n"
                                      "        else:\n"
                                      "            y = R.abs(x)\n"
                                      "    else:\n"
                                      "        y = x\n"
                                      "    return y\n"));
  EXPECT_THAT(PrintRelax(module),
              HasSubstr("        if c:\n"
                        "            lv: R.Tensor((), dtype=\"bool\") = R.logical_not(c)\n"
                        "            if lv:\n"
                        "                gv: R.Tensor((3, 4), dtype=\"float32\") = R.exp(x)\n"
                        "            else:\n"
                        "                gv: R.Tensor((3, 4), dtype=\"float32\") = R.abs(x)\n"
                        "        else:\n"
                        "            gv: R.Tensor((3, 4), dtype=\"float32\") = x\n"
                        "        return gv\n"));
  ExpectRoundTrip(module);
}

TEST(IfTest, ABranchMayEndInADataflowBlockOrInNamesOfATuple) {
  ExpectRoundTrip(Read(Main(kParams,
                            "    if c:\n"
                            "        with R.dataflow():\n"
                            "            a = R.exp(x)\n"
                            "            y = R.abs(a)\n"
                            "            R.output(y)\n"
                            "    else:\n"
                            "        a, y = R.split(R.concat((x, x), axis=0), 2, axis=0)\n"
                            "    return y\n")));
}

TEST(IfTest, TheNameOfAnIfMayHaveBeenBoundBefore) {
  const ir::Module module = Read(Main(kParams,
                                      "    if c:\n"
                                      "        x = R.exp(x)\n"
                                      "    else:\n"
                                      "        x = R.abs(x)\n"
                                      "    return x\n"));
  const auto& choice = *module.Main().body.As<ir::IfNode>();
  const auto& exp = *choice.then_branch.As<ir::CallNode>();
  EXPECT_EQ(exp.args[0], module.Main().params[1]);
  ExpectRoundTrip(module);
}

TEST(IfTest, FunctionsMayCallEachOtherAndThemselvesInABranch) {
  const ir::Module module = Read(R"py(
@I.ir_module
class Module:
    @R.function
    def main(n: R.Tensor((), dtype="int64"), x: R.Tensor((4,), dtype="float32")):
        cls = Module
        return cls.loop(R.const(0, "int64"), n, x)

    @R.function(private=True)
    def loop(i: R.Tensor((), dtype="int64"), n: R.Tensor((), dtype="int64"), x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        if R.less(i, n):
            y = cls.loop(i + R.const(1, "int64"), n, x * R.const(0.5, "float32"))
        else:
            y = x
        return y
)py");
  EXPECT_TRUE(ir::StructuralEqual(
      module, passes::InferType(
                  Parse("def @main(%n: int64, %x: Tensor[(4), float32]) { @loop(0i64, %n, %x) }\n"
                        "def @loop(%i: int64, %n: int64, %x: Tensor[(4), float32]) -> "
                        "Tensor[(4), float32] { if (less(%i, %n)) { "
                        "@loop(add(%i, 1i64), %n, multiply(%x, 0.5f)) } else { %x } }"))));
  ExpectRoundTrip(module);
}

class IfRoundTripTest : public ::testing::TestWithParam<NamedText> {};

TEST_P(IfRoundTripTest, GivesAnEqualModule) {
  ExpectRoundTrip(passes::InferType(Parse(GetParam().text)));
}

INSTANTIATE_TEST_SUITE_P(
    Modules, IfRoundTripTest,
    ::testing::Values(
        NamedText{"SameValueInBothBranches",
                  "def @main(%c: bool, %x: Tensor[(2), float32]) { if (%c) { %x } else { %x } }"},
        NamedText{"Constants", "def @main(%c: bool) { if (%c) { 1f } else { 2f } }"},
        NamedText{"ConstantCondition", "def @main() { if (True) { 1f } else { 2f } }"},
        NamedText{"Tuples",
                  "def @main(%c: bool, %x: Tensor[(2), float32]) { "
                  "%0 = if (%c) { (%x, exp(%x)) } else { (exp(%x), %x) }; (%0.0, %0.1) }"},
        NamedText{"TupleAndItsField",
                  "def @main(%c: bool, %x: Tensor[(2), float32]) { %0 = (%x, exp(%x)); "
                  "%1 = if (%c) { %0 } else { (%x, %x) }; (%0, %1) }"},
        NamedText{"IfAsCondition",
                  "def @main(%c: bool, %d: bool, %x: Tensor[(2), float32]) { "
                  "if (if (%c) { %d } else { %c }) { exp(%x) } else { %x } }"},
        NamedText{"IfSharedByTwoIfs",
                  "def @main(%c: bool, %d: bool, %x: Tensor[(2), float32]) { "
                  "%0 = if (%c) { exp(%x) } else { %x }; "
                  "(if (%d) { %0 } else { %x }, if (%c) { abs(%x) } else { %0 }) }"},
        NamedText{"BothBranchesEndInIfs",
                  "def @main(%c: bool, %d: bool, %x: Tensor[(2), float32]) { "
                  "%0 = if (%c) { if (%d) { exp(%x) } else { %x } } else { "
                  "if (%d) { abs(%x) } else { negative(%x) } }; add(%0, %x) }"},
        NamedText{"Let",
                  "def @main(%c: bool, %x: Tensor[(2), float32]) { "
                  "if (%c) { %y = exp(%x); add(%y, %y) } else { %x } }"},
        NamedText{"FunctionsInBranches",
                  "def @main(%c: bool, %x: Tensor[(2), float32]) { "
                  "if (%c) { fn (%y: Tensor[(2), float32]) { add(exp(%y), %x) }(%x) } "
                  "else { %x } }"},
        NamedText{"IfInAFunction",
                  "def @main(%c: bool, %x: Tensor[(2), float32]) { "
                  "fn (%y: Tensor[(2), float32]) { if (%c) { exp(%y) } else { %x } }(%x) }"},
        NamedText{"FunctionAsValue",
                  "def @main(%c: bool, %x: Tensor[(2), float32]) { %0 = if (%c) { "
                  "fn (%y: Tensor[(2), float32]) { exp(%y) } } else { "
                  "fn (%z: Tensor[(2), float32]) { abs(%z) } }; %0(%x) }"},
        NamedText{"Symbols",
                  "def @main(%c: bool, %x: Tensor[(n, 3), float32]) { "
                  "if (%c) { exp(%x) } else { nn.relu(%x) } }"}),
    [](const auto& info) { return std::string(info.param.name); });

struct Refusal {
  const char* name;
  const char* body;
  const char* place;  // line and column
  const char* words;
  friend void PrintTo(const Refusal& r, std::ostream* out) { *out << r.name; }
};

class IfRefusalTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(IfRefusalTest, IsSaidInWordsAtItsPlace) {
  const std::string refusal = RefusalOf(Main(kParams, GetParam().body));
  EXPECT_THAT(refusal, HasSubstr(GetParam().words));
  EXPECT_THAT(refusal,
              AllOf(HasSubstr(StrCat("test.py:", GetParam().place, ": ")), HasSubstr("^")));
}

INSTANTIATE_TEST_SUITE_P(
    Words, IfRefusalTest,
    ::testing::Values(
        Refusal{"Elif", "    if c:\n        y = x\n    elif c:\n        y = x\n    return y\n",
                "5:5", "\"elif\" is not supported; write \"else:\" and an if inside of it"},
        Refusal{"NoElse", "    if c:\n        y = x\n    return y\n", "5:5",
                "expected \"else:\" after the first branch of an if, which has a value and so "
                "needs both branches, found 'return'"},
        Refusal{"ElseAlone", "    else:\n        y = x\n    return y\n", "3:5",
                "\"else\" has no if before it"},
        Refusal{"InADataflowBlock",
                "    with R.dataflow():\n        if c:\n            y = x\n        else:\n"
                "            y = x\n        R.output(y)\n    return y\n",
                "4:9", "\"if\" cannot stand in a dataflow block; end the block before it"},
        Refusal{"NoBlock", "    if c:\n    y = x\n    return y\n", "4:5",
                "expected an indented block after the condition of an if"},
        Refusal{"EmptyBranch", "    if c:\n        y = x\n    else:\n        pass\n    return y\n",
                "6:9",
                "this branch of an if binds no variable; the last one that both branches bind is "
                "what the if gives"},
        Refusal{"DifferentNames",
                "    if c:\n        y = x\n    else:\n        z = x\n    return y\n", "6:9",
                "the first branch of the if binds y last, and this one z; the last variable of "
                "both must be the same"},
        Refusal{"DifferentTypes",
                "    if c:\n        y = x\n    else:\n        y = R.sum(x)\n    return y\n", "6:9",
                "y is Tensor[(3, 4), float32] in the first branch of the if and float32 in the "
                "second; both must be of one type"},
        Refusal{"AVariableAndANumber",
                "    @R.function\n    def f(a: R.Tensor((\"n\",), \"int8\"), b: R.Tensor((1,), "
                "\"int8\")):\n        n = T.int64()\n        if c:\n            y = a\n"
                "        else:\n            y = b\n        return y\n    return x\n",
                "9:13",
                "y is Tensor[(n), int8] in the first branch of the if and Tensor[(1), "
                "int8] in the second; both must be of one type"},
        Refusal{"ConditionOfAxes",
                "    if R.less(x, x):\n        y = x\n    else:\n        y = x\n    return y\n",
                "3:8",
                "the condition of an if is Tensor[(3, 4), bool]; it must be a bool without axes"},
        Refusal{"ConditionOfNumbers",
                "    if R.sum(x):\n        y = x\n    else:\n        y = x\n    return y\n", "3:8",
                "the condition of an if is float32; it must be a bool without axes"},
        Refusal{"NoColon", "    if c\n        y = x\n    return y\n", "4:9",
                "this line is indented by 8 blanks, but no block begins here"},
        Refusal{"NoCondition", "    if :\n        y = x\n    return y\n", "3:8",
                "expected an expression, found ':'"},
        Refusal{"ReturnInABranch", "    if c:\n        return x\n    else:\n        return x\n",
                "4:9", "\"return\" cannot stand in a branch of an if"},
        Refusal{"AttributesInABranch",
                "    if c:\n        R.func_attr({\"a\": 1})\n        y = x\n    else:\n"
                "        y = x\n    return y\n",
                "4:11", "R.func_attr cannot stand in a branch of an if"},
        Refusal{"VariableOfABranch",
                "    if c:\n        z = x\n        y = z\n    else:\n        y = x\n"
                "    return z\n",
                "8:12",
                "z belongs to a branch of an if; after it only the last variable of both branches "
                "is known"},
        Refusal{"VariableOfTheOtherBranch",
                "    if c:\n        z = x\n        y = z\n    else:\n        y = z\n"
                "    return y\n",
                "7:13", "z belongs to a branch of an if"},
        Refusal{"EndedInItsBlock",
                "    if c:\n        with R.dataflow():\n            z = x\n            y = x\n"
                "            R.output(z)\n    else:\n        y = x\n    return y\n",
                "6:13",
                "y is what this branch gives, but it ends with its block; R.output(y) makes it "
                "known"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(IfTest, ErrorsShowTheLine) {
  EXPECT_EQ(RefusalOf(Main(kParams, "    if R.sum(x):\n        y = x\n")),
            "test.py:3:8: the condition of an if is float32; it must be a bool without axes: "
            "R.Tensor((), dtype=\"bool\")\n"
            "  note: \n"
            "        if R.sum(x):\n"
            "           ^");
}

// Ifs inside each other, each indented by one blank more.
std::string NestedIfs(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) StrAppend(&text, std::string(4 + i, ' '), "if c:\n");
  StrAppend(&text, std::string(4 + count, ' '), "y = R.exp(x)\n");
  for (int i = count; i-- > 0;)
    StrAppend(&text, std::string(4 + i, ' '), "else:\n", std::string(5 + i, ' '), "y = x\n");
  return Main(kParams, text + "    return y\n");
}

TEST(IfTest, NinetyMayStandInsideEachOther) {
  ExpectRoundTrip(Read(NestedIfs(90)));
  EXPECT_THAT(RefusalOf(NestedIfs(91)),
              HasSubstr("test.py:93:95: an if inside 90 others; a text may have no more"));
  std::string heads;
  for (int i = 0; i < 10000; ++i) StrAppend(&heads, std::string(4 + i, ' '), "if c:\n");
  EXPECT_THAT(RefusalOf(Main(kParams, heads)), HasSubstr("an if inside 90 others"));
}

TEST(IfTest, MoreInsideEachOtherDoNotPrint) {
  std::string text = "exp(%x)";
  for (int i = 0; i < 91; ++i) text = StrCat("if (%c) { ", text, " } else { %x }");
  const ir::Module module =
      Parse(StrCat("def @main(%c: bool, %x: Tensor[(2), float32]) { ", text, " }"));
  EXPECT_THAT(ErrorOf([&] { PrintRelax(module); }).message(),
              HasSubstr("an if stands inside 90 others; Relax text may have no more"));
}

TEST(IfTest, ManyMayFollowEachOther) {
  std::string text;
  for (int i = 0; i < 10000; ++i)
    StrAppend(&text, "    if c:\n        x = R.exp(x)\n    else:\n        x = R.abs(x)\n");
  ExpectRoundTrip(Read(Main(kParams, text + "    return x\n")));
}

TEST(IfTest, RandomModulesWithControlFlowKeepTheirValues) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    verify::Random random(seed);
    const verify::RandomModule made =
        verify::AddControlFlow(verify::MakeRandomModule(seed), random);
    // Attributes get the normal form.
    const ir::Module read = Read(PrintRelax(made.module));
    ExpectRoundTrip(read);
    const std::vector<NDArray> expected = verify::Interpret(made.module, made.inputs);
    const std::vector<NDArray> actual = verify::Interpret(read, made.inputs);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i)
      EXPECT_TRUE(actual[i].SameBytes(expected[i])) << "seed " << seed << ", result " << i;
  }
}

}  // namespace
}  // namespace tenon::relax
