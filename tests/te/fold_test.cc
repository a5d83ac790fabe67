#include "tenon/te/fold.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"
#include "tenon/te/interpret.h"
#include "tenon/te/math.h"

namespace tenon::te {
namespace {

using ::testing::HasSubstr;

// A maximum and the sum of weights of a row, and the weighted sum of vectors: one reduction.
TEST(FoldTest, ValuesOfDifferentShapes) {
  for (const std::int64_t terms : {0, 1, 2, 9}) {
    const Tensor x = Placeholder({3, terms}, Float64, "x"),
                 v = Placeholder({terms, 4}, Float64, "v");
    const auto scale = [](const FoldStep& s, const Expr& i) {
      return Exp(s.Before(0, {i}) - s.Now(0, {i}));
    };
    const auto weight = [&](const FoldStep& s, const Expr& i) {
      return Exp(x(i, s.term()) - s.Now(0, {i}));
    };
    const Folded f = Fold({{.shape = {3},
                            .start = [](const std::vector<Var>&) { return Expr(-1000.0); },
                            .join =
                                [&](const FoldStep& s, const std::vector<Var>& i) {
                                  return loop::Max(s.Before(0, {i[0]}), x(i[0], s.term()));
                                }},
                           {.shape = {3},
                            .start = [](const std::vector<Var>&) { return Expr(0.0); },
                            .join =
                                [&](const FoldStep& s, const std::vector<Var>& i) {
                                  return s.Before(1, {i[0]}) * scale(s, i[0]) + weight(s, i[0]);
                                }},
                           {.shape = {3, 4},
                            .start = [](const std::vector<Var>&) { return Expr(0.0); },
                            .join =
                                [&](const FoldStep& s, const std::vector<Var>& i) {
                                  return s.Before(2, {i[0], i[1]}) * scale(s, i[0]) +
                                         weight(s, i[0]) * v(s.term(), i[1]);
                                }}},
                          terms);
    NDArray xs = NDArray::Empty({3, terms}, Float64), vs = NDArray::Empty({terms, 4}, Float64);
    for (std::int64_t k = 0; k < xs.size(); ++k)
      xs.data<double>()[k] = std::sin(static_cast<double>(k)) * 3;
    for (std::int64_t k = 0; k < vs.size(); ++k)
      vs.data<double>()[k] = std::cos(static_cast<double>(k));
    const std::vector<NDArray> results = Interpret(f.results, {{x, xs}, {v, vs}});
    for (std::int64_t i = 0; i < 3; ++i) {
      double most = -1000, sum = 0;
      for (std::int64_t t = 0; t < terms; ++t)
        most = std::max(most, xs.data<double>()[i * terms + t]);
      for (std::int64_t t = 0; t < terms; ++t)
        sum += std::exp(xs.data<double>()[i * terms + t] - most);
      EXPECT_EQ(results[0].data<double>()[i], most);
      EXPECT_NEAR(results[1].data<double>()[i], sum, 1e-12);
      for (std::int64_t j = 0; j < 4; ++j) {
        double of_v = 0;
        for (std::int64_t t = 0; t < terms; ++t)
          of_v += std::exp(xs.data<double>()[i * terms + t] - most) * vs.data<double>()[t * 4 + j];
        EXPECT_NEAR(results[2].data<double>()[i * 4 + j], of_v, 1e-12);
      }
    }
  }
}

TEST(FoldTest, MisuseIsRefusedInWords) {
  const auto zero = [](const std::vector<Var>&) { return Expr(0.0F); };
  const auto refusal = [&](const auto& join) {
    try {
      Fold({{.shape = {3}, .start = zero, .join = join}}, 5);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(
      refusal([](const FoldStep& s, const std::vector<Var>& i) { return s.Now(0, {i[0]}); }),
      HasSubstr("fold: value 0 is read after the term; there are 0 such values"));
  EXPECT_THAT(
      refusal([](const FoldStep& s, const std::vector<Var>& i) { return s.Before(1, {i[0]}); }),
      HasSubstr("fold: value 1 is read before the term; there are 1 such values"));
  EXPECT_THAT(
      refusal([](const FoldStep&, const std::vector<Var>&) { return Expr(1); }),
      HasSubstr("scan fold.scan: update fold.step0 has the type int64; state fold.state0 has "
                "float32"));
  EXPECT_THAT(refusal(std::function<Expr(const FoldStep&, const std::vector<Var>&)>()),
              HasSubstr("fold fold: value 0 has no function that joins a term"));
  try {
    Fold({}, 5);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "fold fold: there is no value");
  }
}

}  // namespace
}  // namespace tenon::te
