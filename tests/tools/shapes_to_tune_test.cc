#include "tenon/tools/shapes_to_tune.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/compiler/symbolic/named_extents.h"
#include "tenon/ir/parser.h"
#include "tenon/ops/registry.h"
#include "tenon/support/error.h"

namespace tenon::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Values = Dim::Values;

ir::Module Parsed(const std::string& text) {
  return ValueOrThrow(ir::ParseModule(text, ops::OpRegistry::Global().Resolver(), "test"));
}

const ir::Module& Picture() {
  static const ir::Module module = Parsed(
      "def @main(%x: Tensor[(n, 3, h, w), float32], %mask: Tensor[(n, 2 * h), float32]) { %x }");
  return module;
}

std::string ErrorOf(const std::vector<std::string>& texts) {
  return std::string(
      CatchErrors([&] { return ShapesToTune(Picture(), texts); }).status().message());
}

TEST(ShapesToTuneTest, ARangeStandsForFiveValuesFromOneEndToTheOther) {
  EXPECT_THAT(
      ShapesToTune(Picture(), {"x=2,3,32,1..9"}),
      ElementsAre(Values{{"h", 32}, {"n", 2}, {"w", 1}}, Values{{"h", 32}, {"n", 2}, {"w", 3}},
                  Values{{"h", 32}, {"n", 2}, {"w", 5}}, Values{{"h", 32}, {"n", 2}, {"w", 7}},
                  Values{{"h", 32}, {"n", 2}, {"w", 9}}));
}

TEST(ShapesToTuneTest, ShapesWithoutARangeAreOne) {
  EXPECT_THAT(ShapesToTune(Picture(), {"x=2,3,32,64"}),
              ElementsAre(Values{{"h", 32}, {"n", 2}, {"w", 64}}));
}

TEST(ShapesToTuneTest, EachRangeHasAllOfItsValuesAndTheyDoNotGrowTogether) {
  const tune::Shapes shapes = ShapesToTune(Picture(), {"x=1..5,3,32..160:32,320..640:32"});
  std::set<std::int64_t> n, h, w;
  for (const Values& values : shapes) {
    n.insert(values.at("n"));
    h.insert(values.at("h"));
    w.insert(values.at("w"));
  }
  EXPECT_THAT(n, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(h, ElementsAre(32, 64, 96, 128, 160));
  EXPECT_THAT(w, ElementsAre(320, 384, 480, 544, 640));
  EXPECT_LT(shapes[4].at("n"), 5);  // h is greatest there
}

TEST(ShapesToTuneTest, AShortRangeHasNoShapeTwice) {
  EXPECT_EQ(ShapesToTune(Picture(), {"x=1..2,3,32,64"}).size(), 2U);
}

TEST(ShapesToTuneTest, TheEndsOfIntegersDoNotOverflow) {
  const tune::Shapes shapes = ShapesToTune(Picture(), {"x=1,3,32,1..9223372036854775807"});
  EXPECT_EQ(shapes.back().at("w"), 9223372036854775807);
}

TEST(ShapesToTuneTest, UnnamedExtentsTakeTheNamesThatCompilingGives) {
  const ir::Module module =
      compiler::NameExtents(Parsed("def @main(%x: Tensor[(?, 4), float32]) { %x }"));
  EXPECT_THAT(ShapesToTune(module, {"x=7,4"}), ElementsAre(Values{{"x_0", 7}}));
}

TEST(ShapesToTuneTest, WhatIsWrongIsNamed) {
  EXPECT_THAT(ErrorOf({"y=1"}), HasSubstr("no input y; it has mask, x"));
  EXPECT_THAT(ErrorOf({"x=1,3,4"}), HasSubstr("x has 4 axes, not 3"));
  EXPECT_THAT(ErrorOf({"x=1,4,4,4"}), HasSubstr("axis 1 of x is 3, which"));
  EXPECT_THAT(ErrorOf({"mask=1,8"}), HasSubstr("no values: h, w"));
  EXPECT_THAT(ErrorOf({"x=1,3,4,4", "mask=2,8"}), HasSubstr("axis 0 of mask is n, which has"));
  EXPECT_THAT(ErrorOf({"x=1,3,4,4", "mask=1,9"}), HasSubstr("axis 1 of mask is 2*h, here 8"));
  for (const char* text : {"", "0", "a", "4..", "..4", "4..2", "1..4:0", "1..4:", "1...4", "-1"})
    EXPECT_THAT(ErrorOf({std::string("x=1,3,4,") + text}), HasSubstr("neither an extent")) << text;
}

}  // namespace
}  // namespace tenon::tools
