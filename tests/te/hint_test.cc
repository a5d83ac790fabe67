// Hints are told apart by their texts, which keys of kernels hold.
#include "tenon/te/hint.h"

#include <set>

#include <gtest/gtest.h>

#include "tenon/te/tensor.h"

namespace tenon::te {
namespace {

TEST(HintTest, DifferentHintsHaveDifferentTexts) {
  std::vector<Hint> hints = {Hint(), ReadsRepeatedly{}, Stored{}, WrittenOut{}, RecurrentSums{}};
  for (const auto rows :
       {TileRows::kEven, TileRows::kUneven, TileRows::kTall, TileRows::kOfReader}) {
    for (const auto sum : {TileSum::kPlain, TileSum::kDot, TileSum::kWordDot})
      hints.emplace_back(RegisterTile{rows, sum});
  }
  hints.emplace_back(RegisterTile{.terms_at_once = 64});
  for (const auto form :
       {TileInputForm::kLines, TileInputForm::kSteps, TileInputForm::kAlignedSteps,
        TileInputForm::kCopies, TileInputForm::kVectors, TileInputForm::kPanel})
    hints.emplace_back(TileInput{form});
  for (const auto part : {WinogradPart::kWeights, WinogradPart::kImage, WinogradPart::kTiles,
                          WinogradPart::kProduct, WinogradPart::kResults})
    hints.emplace_back(WinogradStage{part});
  std::set<std::string> texts;
  for (const Hint& hint : hints) texts.insert(ToString(hint));
  EXPECT_EQ(texts.size(), hints.size());
  EXPECT_EQ(ToString(RegisterTile{TileRows::kTall, TileSum::kDot}),
            "register tile (rows: tall, sum: dot)");
  EXPECT_EQ(ToString(RegisterTile{.terms_at_once = 64}),
            "register tile (rows: even, sum: plain, terms at once: 64)");
  EXPECT_EQ(ToString(Hint()), "");
}

TEST(HintTest, AComputeHasAClassAHintOrBoth) {
  const auto made = [](const Label& label) {
    return Compute(
               {4}, [](Var) { return Expr(1.0F); }, "ones", label)
        .op()
        ->label;
  };
  EXPECT_EQ(made({}).tag, "");
  EXPECT_EQ(made("injective").tag, "injective");
  EXPECT_EQ(ToString(made(Stored{}).hint), "stored");
  EXPECT_EQ(made({"pool", ReadsRepeatedly{}}).tag, "pool");
  EXPECT_EQ(ToString(made({"pool", ReadsRepeatedly{}}).hint), "reads repeatedly");
}

}  // namespace
}  // namespace tenon::te
