// Scans that run in a loop of a stage that reads them.
#include "tenon/te/fold.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/te/scan.h"
#include "tenon/tests/schedule/schedule_testing.h"

namespace tenon::schedule {
namespace {

using te::Cast;
using te::Compute;
using te::Expr;
using te::IfThenElse;
using te::IterVar;
using te::Placeholder;
using te::ReduceAxis;
using te::Sum;
using te::Var;
using ::testing::HasSubstr;
using ::testing::Not;

class ScanAtTest : public ::testing::TestWithParam<std::int64_t> {
 protected:
  const std::int64_t n = GetParam();
};

// Sums down the columns, for a tile of columns at a time.
TEST_P(ScanAtTest, AColumnsSumAtATileOfColumns) {
  const Tensor x = Placeholder({6, n}, Float32, "X"), state = Placeholder({6, n}, Float32, "s");
  const Tensor first = Compute(
      {1, n}, [&](const Var& t, const Var& i) { return x(t, i); }, "first");
  const Tensor next = Compute(
      {6, n}, [&](const Var& t, const Var& i) { return state(t - 1, i) + x(t, i); }, "next");
  const Tensor sum = te::Scan({first}, {next}, {state}, "sum")[0];
  const Tensor d = Compute(
      {6, n}, [&](const Var& t, const Var& i) { return sum(t, i) * 2.0F; }, "D");
  Schedule s(d);
  const auto [outer, inner] = s[d].Split(d.axis(1), 4);
  s[d].Reorder({outer, d.axis(0), inner}).Parallel(outer);
  s[sum].ComputeAt(s[d], outer);
  s[first].ComputeAt(s[d], outer);
  s[next].Vectorize(next.axis(1));
  ExpectRight(s, {x});
  // Of the last step's reader, two steps are kept.
  const Tensor last = Compute(
      {n}, [&](const Var& i) { return sum(5, i) + 1.0F; }, "L");
  Schedule late(last);
  const auto [block, lane] = late[last].Split(last.axis(0), 8);
  late[sum].ComputeAt(late[last], block);
  late[first].ComputeInline();
  ExpectRight(late, {x});
  if (n == 33) {
    EXPECT_THAT(LoopsOf(late, {x, last}), HasSubstr("allocate sum: float32[2, 8]"));
  }
}

// Each step reads the whole state before: so does a part of it.
TEST_P(ScanAtTest, AStepThatReadsAllOfTheStateComputesAllOfIt) {
  const Tensor x = Placeholder({5, n}, Float32, "X"), w = Placeholder({n, n}, Float32, "W"),
               state = Placeholder({5, n}, Float32, "s");
  const Tensor first = Compute(
      {1, n}, [&](const Var& t, const Var& i) { return x(t, i); }, "first");
  const IterVar k = ReduceAxis(0, n, "k");
  const Tensor product = Compute(
      {5, n},
      [&](const Var& t, const Var& i) { return Sum(state(t - 1, k.var) * w(i, k.var), {k}); },
      "product");
  const Tensor next = Compute(
      {5, n}, [&](const Var& t, const Var& i) { return te::Tanh(product(t, i) + x(t, i)); },
      "next");
  const Tensor scan = te::Scan({first}, {next}, {state}, "scan")[0];
  const Tensor d = Compute(
      {n}, [&](const Var& i) { return scan(4, i) * 2.0F; }, "D");
  Schedule s(d);
  const auto [outer, inner] = s[d].Split(d.axis(0), 4);
  s[scan].ComputeAt(s[d], outer);
  ExpectRight(s, {x, w});
}

// A state that nobody reads is not computed.
TEST_P(ScanAtTest, StatesOfDifferentShapesGiveWhatIsRead) {
  const Tensor x = Placeholder({4, n}, Float32, "X");
  const Tensor a = Placeholder({4, n}, Float32, "a"), b = Placeholder({4, n, 3}, Float32, "b"),
               c = Placeholder({4}, Float32, "c");
  const auto zeros = [](std::vector<Expr> shape, const char* name) {
    return Compute(
        std::move(shape), [](const std::vector<Var>&) { return Expr(1.0F); }, name);
  };
  const Tensor a0 = zeros({1, n}, "a0"), b0 = zeros({1, n, 3}, "b0"), c0 = zeros({1}, "c0");
  const Tensor twice = Compute(
      {4}, [&](const Var& t) { return c(t - 1) * 2.0F; }, "twice");
  const Tensor a1 = Compute(
      {4, n}, [&](const Var& t, const Var& i) { return a(t - 1, i) + x(t, i); }, "a1");
  const Tensor b1 = Compute(
      {4, n, 3},
      [&](const Var& t, const Var& i, const Var& j) {
        return b(t - 1, i, 2 - j) * 0.5F + a1(t, i) * Cast(Float32, j);
      },
      "b1");
  const Tensor c1 = Compute(
      {4}, [&](const Var& t) { return twice(t) + 1.0F; }, "c1");
  const std::vector<Tensor> scan = te::Scan({a0, b0, c0}, {a1, b1, c1}, {a, b, c}, "scan");
  const Tensor d = Compute(
      {n, 3}, [&](const Var& i, const Var& j) { return scan[1](3, i, j) + 1.0F; }, "D");
  Schedule s(d);
  const auto [outer, inner] = s[d].Split(d.axis(0), 4);
  s[scan[0]].ComputeAt(s[d], outer);
  for (const Tensor& init : {a0, b0, c0}) s[init].ComputeInline();
  ExpectRight(s, {x});
  EXPECT_THAT(LoopsOf(s, {x, d}), Not(HasSubstr("scan.v2")));
}

// A reduction of values of different shapes, a tile of rows at a time.
TEST_P(ScanAtTest, AFoldAtATileOfRows) {
  const Tensor x = Placeholder({n, 5}, Float32, "X"), v = Placeholder({5, 3}, Float32, "V");
  const te::Folded f =
      te::Fold({{.shape = {n},
                 .start = [](const std::vector<Var>&) { return Expr(-9.0F); },
                 .join =
                     [&](const te::FoldStep& step, const std::vector<Var>& i) {
                       return te::Max(step.Before(0, {i[0]}), x(i[0], step.term()));
                     }},
                {.shape = {n, 3},
                 .start = [](const std::vector<Var>&) { return Expr(0.0F); },
                 .join =
                     [&](const te::FoldStep& step, const std::vector<Var>& i) {
                       const Expr scale = te::Exp(step.Before(0, {i[0]}) - step.Now(0, {i[0]}));
                       const Expr weight = te::Exp(x(i[0], step.term()) - step.Now(0, {i[0]}));
                       return step.Before(1, {i[0], i[1]}) * scale + weight * v(step.term(), i[1]);
                     }}},
               5);
  const Tensor out = Compute(
      {n, 3}, [&](const Var& i, const Var& j) { return f.results[1](i, j) + f.results[0](i); },
      "out");
  Schedule s(out);
  const auto [outer, inner] = s[out].Split(out.axis(0), 4);
  s[out].Parallel(outer);
  for (const Tensor& result : f.results) s[result].ComputeInline();
  for (const Tensor& start : f.start) s[start].ComputeInline();
  s[f.scan[0]].ComputeAt(s[out], outer);
  ExpectRight(s, {x, v});
}

INSTANTIATE_TEST_SUITE_P(Sizes, ScanAtTest, ::testing::Values(1, 2, 4, 7, 16, 17, 33));

// Attention by blocks of keys: m has the greatest score of a query so far, l the sum of weights and
// o that of weighted values, in terms of m.
struct OnlineAttention {
  OnlineAttention(std::int64_t tokens, std::int64_t depth, std::int64_t block)
      : q(Placeholder({tokens, depth}, Float32, "Q")),
        k(Placeholder({tokens, depth}, Float32, "K")),
        v(Placeholder({tokens, depth}, Float32, "V")) {
    const std::int64_t blocks = (tokens + block - 1) / block, steps = blocks + 1;
    const auto key = [=](const Expr& t, const Expr& j) { return (t - 1) * block + j; };
    const auto is_key = [=](const Expr& t, const Expr& j) {
      return key(t, j) >= 0 && key(t, j) < tokens;
    };
    const IterVar d = ReduceAxis(0, depth, "d");
    products = Compute(
        {steps, tokens, block},
        [&](const Var& t, const Var& i, const Var& j) {
          return Sum(IfThenElse(is_key(t, j), q(i, d.var) * k(key(t, j), d.var), Expr(0.0F)), {d});
        },
        "products");
    scores = Compute(
        {steps, tokens, block},
        [&](const Var& t, const Var& i, const Var& j) {
          return te::Select(is_key(t, j), products(t, i, j), loop::FloatImm(Float32, -HUGE_VAL));
        },
        "scores");
    const IterVar of_top = ReduceAxis(0, block, "j"), of_sum = ReduceAxis(0, block, "j"),
                  of_value = ReduceAxis(0, block, "j");
    top = Compute(
        {steps, tokens},
        [&](const Var& t, const Var& i) { return te::Max(scores(t, i, of_top.var), {of_top}); },
        "top");
    const Tensor m = Placeholder({steps, tokens}, Float32, "m"),
                 l = Placeholder({steps, tokens}, Float32, "l"),
                 o = Placeholder({steps, tokens, depth}, Float32, "o");
    m0 = Compute(
        {1, tokens}, [](const Var&, const Var&) { return loop::FloatImm(Float32, -HUGE_VAL); },
        "m0");
    l0 = Compute(
        {1, tokens}, [](const Var&, const Var&) { return Expr(0.0F); }, "l0");
    o0 = Compute(
        {1, tokens, depth}, [](const Var&, const Var&, const Var&) { return Expr(0.0F); }, "o0");
    const Tensor m1 = Compute(
        {steps, tokens},
        [&](const Var& t, const Var& i) { return te::Max(m(t - 1, i), top(t, i)); }, "m1");
    const Tensor scale = Compute(
        {steps, tokens},
        [&](const Var& t, const Var& i) { return te::Exp(m(t - 1, i) - m1(t, i)); }, "scale");
    weights = Compute(
        {steps, tokens, block},
        [&](const Var& t, const Var& i, const Var& j) {
          return te::Exp(scores(t, i, j) - m1(t, i));
        },
        "weights");
    const Tensor sum = Compute(
        {steps, tokens},
        [&](const Var& t, const Var& i) { return Sum(weights(t, i, of_sum.var), {of_sum}); },
        "sum");
    values = Compute(
        {steps, tokens, depth},
        [&](const Var& t, const Var& i, const Var& c) {
          return Sum(
              IfThenElse(is_key(t, of_value.var),
                         weights(t, i, of_value.var) * v(key(t, of_value.var), c), Expr(0.0F)),
              {of_value});
        },
        "values");
    const Tensor l1 = Compute(
        {steps, tokens},
        [&](const Var& t, const Var& i) { return l(t - 1, i) * scale(t, i) + sum(t, i); }, "l1");
    const Tensor o1 = Compute(
        {steps, tokens, depth},
        [&](const Var& t, const Var& i, const Var& c) {
          return o(t - 1, i, c) * scale(t, i) + values(t, i, c);
        },
        "o1");
    scan = te::Scan({m0, l0, o0}, {m1, l1, o1}, {m, l, o}, "scan");
    out = Compute(
        {tokens, depth},
        [&](const Var& i, const Var& c) { return scan[2](blocks, i, c) / scan[1](blocks, i); },
        "out");
  }

  Tensor q, k, v, products, scores, top, m0, l0, o0, weights, values, out;
  std::vector<Tensor> scan;
};

Tensor ThreePassAttention(const OnlineAttention& online) {
  const std::int64_t tokens = online.q.shape()[0].As<loop::IntImmNode>()->value,
                     depth = online.q.shape()[1].As<loop::IntImmNode>()->value;
  const IterVar d = ReduceAxis(0, depth, "d"), a = ReduceAxis(0, tokens, "a"),
                b = ReduceAxis(0, tokens, "b"), c = ReduceAxis(0, tokens, "c");
  const Tensor scores = Compute(
      {tokens, tokens},
      [&](const Var& i, const Var& j) { return Sum(online.q(i, d.var) * online.k(j, d.var), {d}); },
      "scores");
  const Tensor most = Compute(
      {tokens}, [&](const Var& i) { return te::Max(scores(i, a.var), {a}); }, "most");
  const Tensor weights = Compute(
      {tokens, tokens}, [&](const Var& i, const Var& j) { return te::Exp(scores(i, j) - most(i)); },
      "weights");
  const Tensor sum = Compute(
      {tokens}, [&](const Var& i) { return Sum(weights(i, b.var), {b}); }, "sum");
  const Tensor values = Compute(
      {tokens, depth},
      [&](const Var& i, const Var& j) { return Sum(weights(i, c.var) * online.v(c.var, j), {c}); },
      "values");
  return Compute(
      {tokens, depth}, [&](const Var& i, const Var& j) { return values(i, j) / sum(i); }, "out");
}

class OnlineAttentionTest : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(OnlineAttentionTest, IsOneKernelByTilesAndGivesWhatThreePassesDo) {
  const std::int64_t tokens = GetParam();
  const OnlineAttention p(tokens, 12, 8);
  Schedule s(p.out);
  const auto [outer, inner] = s[p.out].Split(p.out.axis(0), 4);
  s[p.out].Parallel(outer);
  s[p.scan[0]].ComputeAt(s[p.out], outer);
  for (const Tensor& init : {p.m0, p.l0, p.o0}) s[init].ComputeInline();
  const IterVar time = p.scan[0].axis(0);
  for (const Tensor& tensor : {p.products, p.scores, p.top})
    s[tensor].ComputeAt(s[p.scan[0]], time);
  s[p.values].Reorder({p.values.reduce_axis(0), p.values.axis(2)}).Vectorize(p.values.axis(2));
  ExpectRight(s, {p.q, p.k, p.v});
  // No memory grows with the number of keys.
  const std::string loops = LoopsOf(s, {p.q, p.k, p.v, p.out});
  if (tokens > 8) {
    EXPECT_THAT(loops, HasSubstr("allocate scan.v2: float32[2, 4, 12]"));
    EXPECT_THAT(loops, HasSubstr("allocate products: float32[1, 4, 8]"));
  }

  std::vector<std::pair<Tensor, NDArray>> given;
  std::vector<NDArray> arrays;
  int seed = 5;
  for (const Tensor& input : {p.q, p.k, p.v}) {
    arrays.push_back(RandomFloats({tokens, 12}, seed++));
    given.emplace_back(input, arrays.back());
  }
  const NDArray expected = te::Interpret({ThreePassAttention(p)}, given)[0];
  arrays.push_back(NDArray::Empty({tokens, 12}, Float32));
  const auto kernel = jit::Compile(Lower(s, {p.q, p.k, p.v, p.out}, "attention"));
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  ASSERT_TRUE(kernel->Run(arrays).ok());
  for (std::int64_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(arrays[3].data<float>()[i], expected.data<float>()[i], 1e-5F) << i;
}

INSTANTIATE_TEST_SUITE_P(Tokens, OnlineAttentionTest, ::testing::Values(1, 3, 8, 9, 17, 40));

}  // namespace
}  // namespace tenon::schedule
