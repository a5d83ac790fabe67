// Checked types: forward, backward, and all errors of a module in one run.
#include "tenon/passes/infer_type.h"

#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/registry.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::Module;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kVersion[] = "#[version = \"0.0.5\"]\n";

Module Inferred(std::string_view text) { return InferType(Parse(text)); }
Error InferError(std::string_view text) {
  return ErrorOf([&] { Inferred(text); });
}
// The checked type of the function @main.
std::string TypeOfMain(std::string_view text) {
  return ir::ToString(Inferred(text).Get("main").checked_type());
}

// A type comment after every call, and the return type, once they are known.
TEST(InferTypeTest, SX_04_SX_10_WritesTypesAfterCallsAndTheReturnType) {
  EXPECT_EQ(Print(Inferred("def @main(%x: Tensor[(1, 10), float32], %y: Tensor[(10), float32]) {\n"
                           "  %0 = add(%x, %y);\n"
                           "  %1 = (%0, %x);\n"
                           "  nn.softmax(%1.0)\n"
                           "}")),
            std::string(kVersion) +
                "def @main(%x: Tensor[(1, 10), float32], %y: Tensor[(10), float32]) -> "
                "Tensor[(1, 10), float32] {\n"
                "  %0 = add(%x, %y) /* ty=Tensor[(1, 10), float32] */;\n"
                "  %1 = (%0, %x);\n"
                "  %2 = %1.0;\n"
                "  nn.softmax(%2) /* ty=Tensor[(1, 10), float32] */\n"
                "}\n");
}

// No type comment before types are inferred.
TEST(InferTypeTest, SX_04_NothingIsCommentedBefore) {
  EXPECT_EQ(Print(Parse("def @main(%x: Tensor[(2), float32]) { add(%x, 1f) }")),
            std::string(kVersion) +
                "def @main(%x: Tensor[(2), float32]) {\n"
                "  add(%x, 1f)\n"
                "}\n");
}

TEST(InferTypeTest, KnownTypesStayNodeForNode) {
  const Module once = Inferred(
      "def @f(%x: Tensor[(2), float32]) { let %y = exp(%x); (%y, 1f) }\n"
      "def @main(%x: Tensor[(2), float32]) { @f(%x).0 }");
  EXPECT_EQ(InferType(once), once);
}

TEST(InferTypeTest, KeepsSpansAndStructure) {
  const Module untyped = Parse("def @main(%x: Tensor[(2), float32]) {\n  exp(%x)\n}");
  const Module typed = InferType(untyped);
  EXPECT_TRUE(ir::StructuralEqual(typed, untyped));
  EXPECT_EQ(typed.Main().body.span(), untyped.Main().body.span());
  EXPECT_EQ(typed.Main().body.span().line, 2);
}

struct Row {
  const char* name;
  const char* text;
  const char* type;  // of @main
  friend void PrintTo(const Row& t, std::ostream* out) { *out << t.name; }
};
class InferTypeRowTest : public ::testing::TestWithParam<Row> {};

TEST_P(InferTypeRowTest, GivesTheTypeOfMain) {
  EXPECT_EQ(TypeOfMain(GetParam().text), GetParam().type);
}

INSTANTIATE_TEST_SUITE_P(
    Backward, InferTypeRowTest,
    ::testing::Values(
        // The weight's type follows from kernel_size and channels.
        Row{"ConvolutionWeight",
            "def @main(%x: Tensor[(1, 8, 16, 16), float32], %w) {\n"
            "  nn.conv2d(%x, %w, padding=[1, 1, 1, 1], groups=2, channels=4, kernel_size=[3, 3])\n"
            "}",
            "fn (Tensor[(1, 8, 16, 16), float32], Tensor[(4, 4, 3, 3), float32]) -> "
            "Tensor[(1, 4, 16, 16), float32]"},
        Row{"DenseWeight",
            "def @main(%x: Tensor[(1, 3), float32], %w) { nn.dense(%x, %w, units=5) }",
            "fn (Tensor[(1, 3), float32], Tensor[(5, 3), float32]) -> Tensor[(1, 5), float32]"},
        Row{"MatmulOperand",
            "def @main(%x: Tensor[(3, 2), float32], %w) {\n"
            "  nn.matmul(%x, %w, units=5, transpose_a=True)\n"
            "}",
            "fn (Tensor[(3, 2), float32], Tensor[(3, 5), float32]) -> Tensor[(2, 5), float32]"},
        Row{"Bias", "def @main(%x: Tensor[(1, 3, 8), float64], %b) { nn.bias_add(%x, %b) }",
            "fn (Tensor[(1, 3, 8), float64], Tensor[(3), float64]) -> Tensor[(1, 3, 8), float64]"},
        Row{"BiasAlongTheLastAxis",
            "def @main(%x: Tensor[(1, 3, 8), float32], %b) { nn.bias_add(%x, %b, axis=-1) }",
            "fn (Tensor[(1, 3, 8), float32], Tensor[(8), float32]) -> Tensor[(1, 3, 8), float32]"},
        Row{"BatchNormParameters",
            "def @main(%x: Tensor[(1, 3, 8), float32], %g, %b, %m, %v) {\n"
            "  nn.batch_norm(%x, %g, %b, %m, %v).1\n"
            "}",
            "fn (Tensor[(1, 3, 8), float32], Tensor[(3), float32], Tensor[(3), float32], "
            "Tensor[(3), float32], Tensor[(3), float32]) -> Tensor[(3), float32]"},
        Row{"LayerNormParameters",
            "def @main(%x: Tensor[(4, 8), float32], %g, %b) { nn.layer_norm(%x, %g, %b) }",
            "fn (Tensor[(4, 8), float32], Tensor[(8), float32], Tensor[(8), float32]) -> "
            "Tensor[(4, 8), float32]"},
        Row{"PReluSlopes", "def @main(%x: Tensor[(1, 3, 8), float32], %a) { nn.prelu(%x, %a) }",
            "fn (Tensor[(1, 3, 8), float32], Tensor[(3), float32]) -> Tensor[(1, 3, 8), float32]"},
        Row{"FromTheReturnTypeThroughAChain",
            "def @main(%x) -> Tensor[(3), float32] { nn.relu(exp(%x)) }",
            "fn (Tensor[(3), float32]) -> Tensor[(3), float32]"},
        Row{"FieldsFromTheReturnType",
            "def @main(%a, %b) -> (Tensor[(3), float32], int32) { (%a, %b) }",
            "fn (Tensor[(3), float32], int32) -> (Tensor[(3), float32], int32)"},
        Row{"ATupleFromItsProjection",
            "def @main(%t: (int32, ?)) -> Tensor[(3), float32] { nn.relu(%t.1) }",
            "fn ((int32, Tensor[(3), float32])) -> Tensor[(3), float32]"},
        Row{"AnArgumentFromAGlobalFunction",
            "def @f(%x: Tensor[(3), float32]) { exp(%x) }\n"
            "def @main(%x) { @f(%x) }",
            "fn (Tensor[(3), float32]) -> Tensor[(3), float32]"},
        Row{"AParameterFromTheCallOfALiteral",
            "def @main(%x: Tensor[(2), float32]) {\n"
            "  %0 = fn (%y) { exp(%y) };\n"
            "  %0(%x)\n"
            "}",
            "fn (Tensor[(2), float32]) -> Tensor[(2), float32]"},
        Row{"AVariableFromALaterUse",
            "def @main(%x: Tensor[(1, 3), float32], %b) {\n"
            "  %0 = exp(%b);\n"
            "  nn.bias_add(%x, %0)\n"
            "}",
            "fn (Tensor[(1, 3), float32], Tensor[(3), float32]) -> Tensor[(1, 3), float32]"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Forward, InferTypeRowTest,
    ::testing::Values(
        Row{"Let", "def @main(%x: Tensor[(2), float32]) { let %y = exp(%x); (%y, %x) }",
            "fn (Tensor[(2), float32]) -> (Tensor[(2), float32], Tensor[(2), float32])"},
        Row{"NestedTuples", "def @main(%x: int32) { %0 = ((%x,), ()); (%0.0.0, %0.1) }",
            "fn (int32) -> (int32, ())"},
        Row{"FunctionAsValue",
            "def @main(%x: Tensor[(2), float32]) {\n"
            "  let %f = fn (%y: Tensor[(2), float32]) { exp(%y) };\n"
            "  (%f, %f(%x))\n"
            "}",
            "fn (Tensor[(2), float32]) -> (fn (Tensor[(2), float32]) -> Tensor[(2), float32], "
            "Tensor[(2), float32])"},
        Row{"GlobalDefinedLater",
            "def @main(%x: Tensor[(2), float32]) { @f(%x) }\n"
            "def @f(%x: Tensor[(2), float32]) { (%x, %x) }",
            "fn (Tensor[(2), float32]) -> (Tensor[(2), float32], Tensor[(2), float32])"},
        Row{"RecursionWithAReturnType",
            "def @main(%x: Tensor[(3), float32]) -> Tensor[(3), float32] { @main(%x) }",
            "fn (Tensor[(3), float32]) -> Tensor[(3), float32]"},
        Row{"SymbolicExtents", "def @main(%x: Tensor[(n, 3), float32]) { exp(%x) }",
            "fn (Tensor[(n, 3), float32]) -> Tensor[(n, 3), float32]"},
        Row{"UnknownExtentMeetsAKnownOne",
            "def @main(%x: Tensor[(?, 3), float32], %y: Tensor[(4, 3), float32]) { add(%x, %y) }",
            "fn (Tensor[(?, 3), float32], Tensor[(4, 3), float32]) -> Tensor[(4, 3), float32]"},
        Row{"Scalars", "def @main(%x: float32) { add(%x, 1f) }", "fn (float32) -> float32"}),
    [](const auto& info) { return info.param.name; });

struct Refused {
  const char* name;
  const char* text;
  const char* message;
  int line, column;
  friend void PrintTo(const Refused& t, std::ostream* out) { *out << t.name; }
};
class InferTypeErrorTest : public ::testing::TestWithParam<Refused> {};

TEST_P(InferTypeErrorTest, SaysWhatIsWrongAndWhere) {
  const Error error = InferError(GetParam().text);
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(error.message(), HasSubstr(GetParam().message));
  EXPECT_EQ(error.span().source, "test.relay");
  EXPECT_EQ(error.span().line, GetParam().line);
  EXPECT_EQ(error.span().column, GetParam().column);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, InferTypeErrorTest,
    ::testing::Values(
        Refused{"Operator", "def @main(%x: Tensor[(2), float32]) {\n  nn.softmax(%x, axis=2)\n}",
                "nn.softmax: axis is 2; a tensor of rank 1 has the axes -1 to 0", 2, 3},
        Refused{"LetAgainstItsAnnotation",
                "def @main(%x: Tensor[(2), float32]) {\n"
                "  let %y: Tensor[(3), float32] = exp(%x);\n"
                "  %y\n"
                "}",
                "the variable %y cannot have both types: the type Tensor[(3), float32] is not "
                "Tensor[(2), float32]",
                2, 7},
        Refused{"BodyAgainstTheReturnType",
                "def @main(%x: Tensor[(2), float32]) -> Tensor[(3), float32] {\n  exp(%x)\n}",
                "cannot have both types: the type Tensor[(2), float32] is not Tensor[(3), float32]",
                2, 3},
        Refused{"WeightAgainstItsOperator",
                "def @main(%x: Tensor[(1, 3), float32],\n"
                "          %b: Tensor[(4), float32]) {\n"
                "  nn.bias_add(%x, %b)\n"
                "}",
                "nn.bias_add: the variable %b cannot have both types: the type Tensor[(4), "
                "float32] is not Tensor[(3), float32]",
                2, 11},
        Refused{"NumberOfArguments",
                "def @f(%x: int32) { %x }\n"
                "def @main(%x: int32) {\n"
                "  @f(%x, %x)\n"
                "}",
                "a function of 1 parameters is called with 2", 3, 3},
        Refused{"ArgumentOfAFunction",
                "def @f(%x: Tensor[(2), float32]) { %x }\n"
                "def @main(%y: Tensor[(3), float32]) { @f(%y) }",
                "the variable %y cannot have both types", 2, 11},
        Refused{"CallOfATensor", "def @main(%x: int32) { %x(%x) }",
                "a value of type int32 is called", 1, 24},
        Refused{"ProjectionOutOfRange", "def @main(%t: (int32,)) { %t.1 }",
                "field 1 of a tuple of 1", 1, 27},
        Refused{"ProjectionOfATensor", "def @main(%x: int32) { %x.0 }",
                "field 0 of a value of type int32, which is not a tuple", 1, 24},
        Refused{"TupleForATensor", "def @main(%t: (int32,)) { exp(%t) }",
                "exp: argument 0 must be a tensor, not (int32,)", 1, 27},
        Refused{"TensorForATuple", "def @main(%x: Tensor[(2), int32]) { concatenate(%x) }",
                "concatenate: argument 0 must be a tuple of tensors, not Tensor[(2), int32]", 1,
                37},
        Refused{"TwoUsesOfAFunction",
                "def @f(%y) { exp(%y) }\n"
                "def @main(%a: float32, %b: float64) { (@f(%a), @f(%b)) }",
                "cannot have both types: the type float64 is not float32", 2, 24},
        Refused{"VariableWithoutAnnotation", "def @main(%x: int32,\n          %free) { %x }",
                "the type of the variable %free cannot be inferred; annotate it", 2, 11},
        Refused{"ResultThatContainsItsFunction", "def @main(%x: int32) { (%x, @main) }",
                "a type nests more than 100 deep; a value that contains itself has no type", 1, 5},
        Refused{"RecursionWithoutAReturnType",
                "def @main(%x: Tensor[(3), float32]) {\n  @main(%x)\n}",
                "the result type of @main, which calls itself, cannot be inferred; annotate it (-> "
                "type)",
                1, 5}),
    [](const auto& info) { return info.param.name; });

// Types are trees, which such values would make as large as one likes.
TEST(InferTypeErrorTest, AValueThatDoublesAtEachStepIsRefused) {
  std::string text = "def @main(%x: int32) {\n  %0 = (%x, %x);\n";
  for (int i = 1; i < 40; ++i) StrAppend(&text, "  %", i, " = (%", i - 1, ", %", i - 1, ");\n");
  EXPECT_THAT(InferError(text + "  %39\n}").what(),
              HasSubstr("a type has more than 1000000 parts"));
}
TEST(InferTypeErrorTest, ManyReadersOfALargeTupleAreRefused) {
  std::string text = "def @main(%x: int32) {\n  %0 = (%x, %x);\n";
  for (int i = 1; i < 18; ++i) StrAppend(&text, "  %", i, " = (%", i - 1, ", %", i - 1, ");\n");
  for (int i = 18; i < 218; ++i)
    StrAppend(&text, "  %", i, " = %17.0;\n  let %v", i, " = %", i, ";\n");
  EXPECT_THAT(InferError(text + "  %x\n}").what(),
              HasSubstr("the types of all values together have more than 4000000 parts"));
}
TEST(InferTypeErrorTest, AValueThatNestsWithoutEndIsRefused) {
  std::string text = "def @main(%x: int32) {\n  %0 = (%x,);\n";
  for (int i = 1; i < 100'000; ++i) StrAppend(&text, "  %", i, " = (%", i - 1, ",);\n");
  EXPECT_THAT(InferError(text + "  %99999\n}").what(), HasSubstr("nests more than 100 deep"));
}

TEST(InferTypeErrorTest, NamesTheInputTypes) {
  const Error error = InferError(
      "def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(2), float32]) { add(%x, %y) }");
  EXPECT_THAT(error.notes(),
              ElementsAre("input types: Tensor[(2, 3), float32], Tensor[(2), float32]"));
}

TEST(InferTypeErrorTest, AllErrorsOfAModuleComeTogether) {
  const Error error = InferError(
      "def @f(%x: Tensor[(2, 3), float32]) {\n"
      "  nn.softmax(%x, axis=2)\n"
      "}\n"
      "def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(2), float32],\n"
      "          %z: Tensor[(2, 3), int32]) {\n"
      "  %0 = add(%x, %y);\n"
      "  %1 = add(%x, %z);\n"
      "  (%0, %1, @f(%x))\n"
      "}");
  EXPECT_EQ(error.message(), "there are 3 type errors");
  EXPECT_THAT(
      error.notes(),
      ElementsAre(
          AllOf(HasSubstr("test.relay:2:3: nn.softmax: axis is 2"),
                HasSubstr("input types: Tensor[(2, 3), float32]")),
          AllOf(HasSubstr("test.relay:6:8: add: the shapes do not broadcast: extent 3 against 2"),
                HasSubstr("input types: Tensor[(2, 3), float32], Tensor[(2), float32]")),
          AllOf(HasSubstr("test.relay:7:8: add: the element types differ: float32 and int32"),
                HasSubstr("input types: Tensor[(2, 3), float32], Tensor[(2, 3), int32]"))));
}

TEST(InferTypeErrorTest, AFailureDoesNotBlameItsConsumers) {
  const Error error = InferError(
      "def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(2), float32]) {\n"
      "  exp(tanh(add(%x, %y)))\n"
      "}");
  EXPECT_THAT(error.message(), HasSubstr("add: the shapes do not broadcast"));
}

TEST(InferTypeErrorTest, VariablesAreNamedInTheOrderOfTheText) {
  std::string text = "def @main(";
  std::string body;
  std::vector<::testing::Matcher<std::string>> expected;
  for (int i = 0; i < 12; ++i) {
    StrAppend(&text, i == 0 ? "" : ", ", "%v", i);
    StrAppend(&body, i == 0 ? "" : ", ", "%v", i);
    expected.push_back(HasSubstr(StrCat("the variable %v", i, " ")));
  }
  const Error error = InferError(StrCat(text, ") { (", body, ") }"));
  EXPECT_THAT(error.notes(), ::testing::ElementsAreArray(expected));
}

TEST(InferTypeErrorTest, UndefinedGlobalIsNamed) {
  const Module module = Module().With(
      "main", ir::Function::Make({}, ir::Call::Make(ir::GlobalVar::Make("missing"), {})));
  EXPECT_THAT(ErrorOf([&] { InferType(module); }).message(),
              HasSubstr("@missing is used but not defined"));
}

TEST(InferTypeErrorTest, WrongNumberOfArgumentsIsRefused) {
  const Expr x = ir::Var::Make("x", ir::TensorType({2}, Float32));
  const Module module = Module::FromExpr(ir::Call::Make(ops::OpRegistry::Global().Get("add"), {x}));
  EXPECT_THAT(ErrorOf([&] { InferType(module); }).message(),
              HasSubstr("add takes 2 arguments, not 1"));
}

TEST(InferTypeTest, ExpressionKeepsItsFreeVariables) {
  const ir::Var x = ir::Var::MakeChecked("x", ir::TensorType({2}, Float32), {});
  const Expr typed = InferType(ops::Exp(x));
  EXPECT_EQ(typed.As<ir::CallNode>()->args[0], x);
  EXPECT_EQ(ir::ToString(typed.checked_type()), "Tensor[(2), float32]");
}

TEST(InferTypeTest, CallOverCheckedArgumentsGetsItsType) {
  const ir::Var x = ir::Var::MakeChecked("x", ir::TensorType({2}, Float32), {});
  const ir::Var y = ir::Var::MakeChecked("y", ir::TensorType({3}, Float32), {});
  EXPECT_EQ(ir::ToString(InferCall(ops::Add(x, x)).checked_type()), "Tensor[(2), float32]");
  EXPECT_THAT(ErrorOf([&] { InferCall(ops::Add(x, y)); }).message(),
              HasSubstr("add: the shapes do not broadcast: extent 2 against 3"));
}

// Learning from the end of a chain to its start takes one step a call.
TEST(InferTypeTest, BackwardThroughTenThousandCalls) {
  std::string text = "def @main(%x) -> Tensor[(4), float32] {\n  %0 = exp(%x);\n";
  for (int i = 1; i < 10000; ++i) StrAppend(&text, "  %", i, " = exp(%", i - 1, ");\n");
  EXPECT_EQ(TypeOfMain(text + "  %9999\n}\n"), "fn (Tensor[(4), float32]) -> Tensor[(4), float32]");
}

TEST(InferTypeTest, ChainOfAHundredThousandLets) {
  std::string text = "def @main(%x: Tensor[(4), float32]) {\n";
  for (int i = 0; i < 100000; ++i) text += "  let %x = exp(%x);\n";
  EXPECT_EQ(TypeOfMain(text + "  %x\n}\n"), "fn (Tensor[(4), float32]) -> Tensor[(4), float32]");
}

TEST(InferTypeTest, OneCallMustHaveAsManyArgumentsAsItsOperatorTakes) {
  const Expr x = ir::Var::MakeChecked("x", ir::TensorType({2}, Float32), {});
  const Expr add = ops::OpRegistry::Global().Get("add");
  for (const std::vector<Expr>& args : {std::vector<Expr>{}, {x}, {x, x, x}})
    EXPECT_EQ(ErrorOf([&] { InferCall(ir::Call::Make(add, args)); }).message(),
              StrCat("add takes 2 arguments, not ", args.size()));
}

TEST(InferTypeTest, AnOperatorWithoutATypeRelationIsRefusedInOneCallToo) {
  ops::OpRegistry registry;
  registry.Register("half.done").Argument("x", "Tensor", "");
  const Expr x = ir::Var::MakeChecked("x", ir::TensorType({2}, Float32), {});
  EXPECT_EQ(ErrorOf([&] { InferCall(ir::Call::Make(registry.Get("half.done"), {x})); }).message(),
            "half.done is registered without a type relation");
}

TEST(InferTypeTest, ARelationThatAsksForAnArgumentTooManyIsRefused) {
  using Relation = void (*)(ops::TypeCall&);
  const Relation relations[] = {[](ops::TypeCall& call) { call.LearnInput(5, call.input(0)); },
                                [](ops::TypeCall& call) { call.LearnResult(call.input(5)); },
                                [](ops::TypeCall& call) { call.tensor(5); },
                                [](ops::TypeCall& call) { call.tensors(5); }};
  for (const Relation relation : relations) {
    ops::OpRegistry registry;
    registry.Register("reaches.far").Argument("x", "Tensor", "").TypeRelation(relation);
    const Expr x = ir::Var::MakeChecked("x", ir::TensorType({2}, Float32), {});
    const Expr call = ir::Call::Make(registry.Get("reaches.far"), {x});
    EXPECT_THAT(ErrorOf([&] { InferCall(call); }).message(),
                HasSubstr("the type relation asks for argument 5 of 1"));
    EXPECT_THAT(ErrorOf([&] { InferType(call); }).message(),
                HasSubstr("the type relation asks for argument 5 of 1"));
  }
}

TEST(InferTypeTest, AValueWhoseBytesCannotBeCountedIsRefusedWhereItIsMade) {
  EXPECT_THAT(InferError("def @main(%x: Tensor[(1), float32]) {\n"
                         "  broadcast_to(%x, shape=[4611686018427387905])\n}")
                  .what(),
              AllOf(HasSubstr("test.relay:2:3"), HasSubstr("too many bytes")));
  EXPECT_THAT(
      InferError("def @main(%x: Tensor[(1099511627776, 1099511627776), int8]) { %x }").message(),
      HasSubstr("too many elements"));
}

TEST(InferTypeTest, ATensorHasAtMost64Axes) {
  const std::string widened = "expand_dims(%x, axis=0, num_newaxis=63)";
  Inferred("def @main(%x: Tensor[(n), float32]) {\n  " + widened + "\n}");
  EXPECT_THAT(InferError("def @main(%x: Tensor[(n, m), float32]) {\n  " + widened + "\n}").what(),
              AllOf(HasSubstr("test.relay:2:3"), HasSubstr("a tensor of 65 axes")));
}

TEST(InferTypeTest, WhatATypeRelationMakesManyOfIsBounded) {
  EXPECT_THAT(InferError("def @main(%x: Tensor[(0), float32]) {\n"
                         "  split(%x, indices_or_sections=1099511627776, axis=0)\n}")
                  .message(),
              HasSubstr("at most 65536 are supported"));
  EXPECT_THAT(InferError("def @main(%x: Tensor[(2), float32]) {\n"
                         "  expand_dims(%x, axis=0, num_newaxis=100000000000)\n}")
                  .message(),
              HasSubstr("num_newaxis"));
}

}  // namespace
}  // namespace tenon::passes
