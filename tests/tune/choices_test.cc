// Every choice of a schedule gives right results.
#include <algorithm>
#include <string>
#include <vector>

#include "tenon/passes/bind_params.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/tests/tune/choices_testing.h"

namespace tenon::tune {
namespace {

using ::testing::IsSupersetOf;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

TEST_F(ChoiceTest, EveryTileOfAConvolutionIsRight) {
  ir::Module module = Parsed(
      "def @main(%x: Tensor[(2, 5, 11, 13), float32], %w: Tensor[(33, 5, 3, 3), float32]) {\n"
      "  nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=33, kernel_size=[3, 3])\n}");
  const runtime::Inputs all = RandomInputs(module, 5);
  const auto expected = Interpreted(module, all);
  module = passes::BindParams(module, "main", {{"w", all.at("w")}});
  for (const char* text :
       {"te.conv2d.tiled pixels=5 vectors=1", "te.conv2d.tiled pixels=13 vectors=2",
        "te.conv2d.tiled pixels=7 vectors=3", "te.conv2d.plain"}) {
    const Record record = Won(module, text);
    const CompileOptions options = OptionsBy({record});
    const strategies::Choice choice = ChoiceIn(module, options);
    EXPECT_EQ(RowOf(record.choice), choice.implementation) << choice.Explanation();
    ExpectClose(Compile(module, options).value().Run({{"x", all.at("x")}}).value(), expected);
  }
}

// Compiles a kernel with each value of each choice of its row, which has the choices `names`, and
// maybe others. `row`: the row to take where it is not the default.
class SpaceTest : public ChoiceTest {
 protected:
  void ExpectRight(const std::string& text, const std::vector<std::string>& names = {},
                   const std::string& row = "") {
    SCOPED_TRACE(text);
    const ir::Module module = Parsed(text);
    const runtime::Inputs inputs = RandomInputs(module, 5);
    const auto expected = Interpreted(module, inputs);
    const CompileOptions usual_options =
        row.empty() ? CompileOptions{.threads = 1} : OptionsBy({Won(module, row)});
    const strategies::Choice usual = ChoiceIn(module, usual_options);
    ASSERT_TRUE(row.empty() || usual.implementation == row) << usual.Explanation();
    const std::vector<strategies::Config::Choice> choices = usual.config.choices();
    ASSERT_FALSE(choices.empty()) << usual.Explanation();
    std::vector<std::string> found;
    for (const strategies::Config::Choice& choice : choices) {
      found.push_back(choice.name);
      EXPECT_GT(choice.values.size(), 1U) << choice.name;
      const std::vector<std::int64_t>& all = choice.values;
      for (const std::int64_t value : {all.front(), all[all.size() / 2], all.back()}) {
        const std::string tile = StrCat(usual.implementation, " ", choice.name, "=", value);
        SCOPED_TRACE(tile);
        CompileOptions options = OptionsBy({Won(module, tile)});
        options.check_bounds = true;
        const strategies::Choice chosen = ChoiceIn(module, options);
        EXPECT_EQ(chosen.implementation, usual.implementation) << chosen.Explanation();
        EXPECT_EQ(chosen.config.Values().at(choice.name), value) << chosen.Explanation();
        ExpectClose(Compile(module, options).value().Run(inputs).value(), expected);
      }
    }
    EXPECT_THAT(found, IsSupersetOf(names));
  }
};

TEST_F(SpaceTest, TilesOfALayerAreRight) {
  for (const char* text :
       {"def @main(%x: Tensor[(1, 4, 3, 90), float32], %w: Tensor[(4, 1, 5, 5), float32]) {\n"
        "  nn.conv2d(%x, %w, groups=4, padding=[2, 2])\n}",
        "def @main(%x: Tensor[(1, 4, 28, 31), float32], %w: Tensor[(4, 1, 3, 3), float32]) {\n"
        "  nn.conv2d(%x, %w, groups=4, padding=[1, 1])\n}",
        "def @main(%x: Tensor[(1, 4, 13, 13), float32], %w: Tensor[(4, 1, 7, 7), float32]) {\n"
        "  nn.conv2d(%x, %w, groups=4, padding=[3, 3])\n}",
        "def @main(%x: Tensor[(1, 4, 23, 37), float32], %w: Tensor[(4, 1, 5, 5), float32]) {\n"
        "  nn.conv2d(%x, %w, groups=4, padding=[2, 2], strides=[2, 2])\n}",
        "def @main(%x: Tensor[(5, 3, 111), float32], %w: Tensor[(111, 37), float32],\n"
        "          %b: Tensor[(111), float32], %n: Tensor[(3), int64],\n"
        "          %h: Tensor[(3, 37), float32]) {\n  nn.gru(%x, %w, %b, %n, %h)\n}"})
    ExpectRight(text);
  // Of channels last, oneDNN is the default.
  ExpectRight(
      "def @main(%x: Tensor[(1, 9, 11, 40), float32], %w: Tensor[(40, 1, 3, 3), float32]) {\n"
      "  nn.conv2d(%x, %w, groups=40, padding=[1, 1], data_layout=\"NHWC\")\n}",
      {}, "te.conv2d.depthwise_channels_last");
}

TEST_F(SpaceTest, TilesOfTranspositionsAreRight) {
  const auto transposed = [](const std::string& type, const std::string& axes) {
    return StrCat("def @main(%x: Tensor[", type, "]) { transpose(%x, axes=", axes, ") }");
  };
  const std::vector<std::string> all = {"transpose.source", "transpose.result",
                                        "transpose.source_first"};
  // In the caches and past them, of whole tiles and with rests, of other widths.
  for (const char* type : {"(37, 113), float32", "(128, 64), float32", "(509, 301), float32",
                           "(150, 201), int64", "(130, 222), uint8"})
    ExpectRight(transposed(type, "[1, 0]"), all);
  ExpectRight(transposed("(2, 67, 9, 13), float32", "[0, 2, 3, 1]"), all);
  // As large as what is stored non-temporally.
  std::vector<std::string> streamed = all;
  streamed.emplace_back("transpose.streams");
  ExpectRight(transposed("(640, 705), float32", "[1, 0]"), streamed);
}

TEST_F(SpaceTest, TilesOfRowsOfPixelsAreRight) {
  const auto convolved = [](const std::string& image, const std::string& filters,
                            const std::string& more) {
    return StrCat("def @main(%x: Tensor[(", image, "), float32], %w: Tensor[(", filters,
                  "), float32]) {\n  nn.conv2d(%x, %w", more, ")\n}");
  };
  const std::string row = "te.conv2d.row_tiled";
  ExpectRight(convolved("2, 5, 6, 32", "6, 5, 3, 3", ", padding=[1, 1]"), {"filters", "vectors"},
              row);
  ExpectRight(convolved("1, 40, 8, 16", "12, 40, 1, 1", ""),
              {"filters", "vectors", "packed", "filters_first"}, row);
  ExpectRight(convolved("1, 300, 8, 8", "72, 300, 1, 1", ""), {"filters", "vectors"}, row);
}

TEST_F(SpaceTest, PiecesOfLongReductionsAreRight) {
  for (const char* text : {"def @main(%x: Tensor[(700001), int32]) { sum(%x) }",
                           "def @main(%x: Tensor[(90, 6000), float32]) { sum(%x) }",
                           "def @main(%x: Tensor[(40000, 20), int32]) { sum(%x, axis=[0]) }"})
    ExpectRight(text, {"sum.pieces"});
  ExpectRight("def @main(%x: Tensor[(3, 250000), float32]) { max(%x, axis=[1]) }", {"max.pieces"});
}

}  // namespace
}  // namespace tenon::tune
