// Equality and hashing up to the names of variables.
#include "tenon/ir/structural.h"

#include <ostream>

#include <gtest/gtest.h>

#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::ir {
namespace {

struct Pair {
  const char* name;
  const char* a;
  const char* b;
  friend void PrintTo(const Pair& t, std::ostream* out) { *out << t.name; }
};
std::string NameOf(const ::testing::TestParamInfo<Pair>& info) { return info.param.name; }

class EqualTest : public ::testing::TestWithParam<Pair> {};
TEST_P(EqualTest, AreEqualAndHashEqually) {
  const Module a = Parse(GetParam().a);
  const Module b = Parse(GetParam().b);
  EXPECT_TRUE(StructuralEqual(a, b));
  EXPECT_TRUE(StructuralEqual(b, a));
  EXPECT_EQ(StructuralHash(a.Get("main")), StructuralHash(b.Get("main")));
}

INSTANTIATE_TEST_SUITE_P(
    Pairs, EqualTest,
    ::testing::Values(Pair{"NamesOfParameters", "def @main(%x, %y) { add(%x, %y) }",
                           "def @main(%a, %b) { add(%a, %b) }"},
                      Pair{"NamesOfLets", "def @main(%x) { let %y = exp(%x); %y }",
                           "def @main(%x) { let %z = exp(%x); %z }"},
                      Pair{"NamesOfLines", "def @main(%x) { %0 = exp(%x); add(%0, %0) }",
                           "def @main(%x) { %7 = exp(%x); add(%7, %7) }"},
                      Pair{"DefaultsThatAreWritten", "def @main(%x) { nn.softmax(%x) }",
                           "def @main(%x) { nn.softmax(%x, axis=-1) }"},
                      Pair{"NotANumber", "def @main(%x) { clip(%x, a_min=nanf, a_max=0f) }",
                           "def @main(%x) { clip(%x, a_min=nanf, a_max=0f) }"},
                      Pair{"OrderOfDefinitions", "def @f(%x) { %x } def @main(%x) { @f(%x) }",
                           "def @main(%x) { @f(%x) } def @f(%x) { %x }"},
                      Pair{"Nested", "def @main(%x) { fn (%y) { add(%x, %y) } }",
                           "def @main(%y) { fn (%x) { add(%y, %x) } }"}),
    NameOf);

class DifferentTest : public ::testing::TestWithParam<Pair> {};
TEST_P(DifferentTest, AreNotEqual) {
  const Module a = Parse(GetParam().a);
  const Module b = Parse(GetParam().b);
  EXPECT_FALSE(StructuralEqual(a, b));
  EXPECT_FALSE(StructuralEqual(b, a));
}

INSTANTIATE_TEST_SUITE_P(
    Pairs, DifferentTest,
    ::testing::Values(
        Pair{"Operator", "def @main(%x) { exp(%x) }", "def @main(%x) { log(%x) }"},
        Pair{"OrderOfArguments", "def @main(%x, %y) { add(%x, %y) }",
             "def @main(%x, %y) { add(%y, %x) }"},
        Pair{"Attribute", "def @main(%x) { nn.softmax(%x, axis=0) }",
             "def @main(%x) { nn.softmax(%x, axis=1) }"},
        Pair{"Annotation", "def @main(%x: Tensor[(2), float32]) { %x }",
             "def @main(%x: Tensor[(3), float32]) { %x }"},
        Pair{"MissingAnnotation", "def @main(%x: int32) { %x }", "def @main(%x) { %x }"},
        Pair{"AnnotationOfALet", "def @main(%x) { let %y: int32 = %x; %y }",
             "def @main(%x) { let %y: int64 = %x; %y }"},
        Pair{"FunctionAttribute", "def @main(%x, A=1) { %x }", "def @main(%x, A=2) { %x }"},
        Pair{"Constant", "def @main() { 1f }", "def @main() { 2f }"},
        Pair{"TypeOfAConstant", "def @main() { 1 }", "def @main() { 1i64 }"},
        Pair{"SignOfZero", "def @main() { 0f }", "def @main() { -0f }"},
        Pair{"NumberOfParameters", "def @main(%x) { %x }", "def @main(%x, %y) { %x }"},
        Pair{"WhichParameter", "def @main(%x, %y) { %x }", "def @main(%x, %y) { %y }"},
        Pair{"Projection", "def @main(%t) { %t.0 }", "def @main(%t) { %t.1 }"},
        Pair{"Sharing", "def @main(%x) { %0 = exp(%x); add(%0, %0) }",
             "def @main(%x) { add(exp(%x), exp(%x)) }"},
        Pair{"NameOfAGlobal", "def @f(%x) { %x } def @g(%x) { %x } def @main(%x) { @f(%x) }",
             "def @f(%x) { %x } def @g(%x) { %x } def @main(%x) { @g(%x) }"},
        Pair{"NameOfAFunction", "def @f(%x) { %x } def @main(%x) { %x }",
             "def @g(%x) { %x } def @main(%x) { %x }"},
        Pair{"NumberOfFunctions", "def @main(%x) { %x }", "def @f(%x) { %x } def @main(%x) { %x }"},
        Pair{"FieldsOfATuple", "def @main(%x) { (%x, %x) }", "def @main(%x) { (%x,) }"},
        Pair{"OuterAndInnerVariable", "def @main(%x) { fn (%y) { %x } }",
             "def @main(%x) { fn (%y) { %y } }"},
        Pair{"OneVariableOrTwo", "def @main(%x, %y) { (%x, %x, %y) }",
             "def @main(%x, %y) { (%x, %y, %y) }"}),
    NameOf);

TEST(StructuralTest, FreeVariablesAreTheSameNodeUnlessMapped) {
  const Var x = Var::Make("x"), y = Var::Make("x");
  EXPECT_TRUE(StructuralEqual(ops::Exp(x), ops::Exp(x)));
  EXPECT_FALSE(StructuralEqual(ops::Exp(x), ops::Exp(y)));
  EXPECT_TRUE(StructuralEqual(ops::Exp(x), ops::Exp(y), FreeVarRule::kMapped));
  EXPECT_EQ(StructuralHash(ops::Exp(x)), StructuralHash(ops::Exp(y)));
}

TEST(StructuralTest, MappingIsOneToOne) {
  const Var x = Var::Make("x"), y = Var::Make("y"), z = Var::Make("z");
  EXPECT_TRUE(StructuralEqual(ops::Add(x, y), ops::Add(y, z), FreeVarRule::kMapped));
  EXPECT_FALSE(StructuralEqual(ops::Add(x, x), ops::Add(y, z), FreeVarRule::kMapped));
  EXPECT_FALSE(StructuralEqual(ops::Add(x, y), ops::Add(z, z), FreeVarRule::kMapped));
  const Var typed = Var::Make("x", TensorType({1}, Float32));
  EXPECT_FALSE(StructuralEqual(x, typed, FreeVarRule::kMapped));
}

TEST(StructuralTest, CheckedTypesAndSpansDoNotCount) {
  const Var x = Var::Make("x");
  const Expr exp = ops::Known().exp;
  EXPECT_TRUE(StructuralEqual(
      Call::Make(exp, {x}),
      Call::Make(exp, {x}, {}, {.source = "a", .line = 1}, TensorType({2}, Float32))));
}

TEST(StructuralTest, NullIsEqualToNullOnly) {
  EXPECT_TRUE(StructuralEqual(Expr(), Expr()));
  EXPECT_FALSE(StructuralEqual(Expr(), Var::Make("x")));
}

// Stable, so that it can name a cached kernel.
TEST(StructuralTest, HashesAreTheSameInEveryRun) {
  EXPECT_EQ(
      StructuralHash(Parse("def @main(%x: Tensor[(2), float32]) { add(%x, 1f) }").Get("main")),
      6787719102323614936U);
}

TEST(StructuralTest, HashesTellCommonDifferencesApart) {
  const auto hash = [](const char* text) { return StructuralHash(Parse(text).Get("main")); };
  EXPECT_NE(hash("def @main(%x, %y) { add(%x, %y) }"), hash("def @main(%x, %y) { add(%y, %x) }"));
  EXPECT_NE(hash("def @main(%x) { exp(%x) }"), hash("def @main(%x) { log(%x) }"));
  EXPECT_NE(hash("def @main(%x) { nn.softmax(%x, axis=0) }"),
            hash("def @main(%x) { nn.softmax(%x, axis=1) }"));
  EXPECT_NE(hash("def @main() { 1f }"), hash("def @main() { 2f }"));
  EXPECT_NE(hash("def @main() { 1 }"), hash("def @main() { 1i64 }"));
  EXPECT_NE(hash("def @main(%x: int32) { %x }"), hash("def @main(%x: int64) { %x }"));
}

TEST(StructuralTest, ChainOfAHundredThousandIsComparedAndHashed) {
  const Var x = Var::Make("x");
  Expr a = x, b = x;
  for (int i = 0; i < 100000; ++i) {
    a = ops::Exp(a);
    b = ops::Exp(b);
  }
  EXPECT_TRUE(StructuralEqual(a, b));
  EXPECT_EQ(StructuralHash(a), StructuralHash(b));
  EXPECT_FALSE(StructuralEqual(a, ops::Exp(b)));
}

// Sixty doublings are 2^60 paths over sixty nodes.
TEST(StructuralTest, SharedNodesAreVisitedOnce) {
  const Var x = Var::Make("x");
  Expr a = x, b = x;
  for (int i = 0; i < 60; ++i) {
    a = ops::Add(a, a);
    b = ops::Add(b, b);
  }
  EXPECT_TRUE(StructuralEqual(a, b));
  EXPECT_EQ(StructuralHash(a), StructuralHash(b));
}

}  // namespace
}  // namespace tenon::ir
