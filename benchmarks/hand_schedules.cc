// What the automatic schedule makes of an operator against a schedule that is written by hand. A
// ratio below 100 % says what the automatic one leaves.
#include <memory>

#include "tenon/benchmarks/compiled_graph.h"
#include "tenon/benchmarks/families.h"
#include "tenon/schedule/lower.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::benchmarks {
namespace {

// Rows in turn: maximum, exponentials, their sum and the quotients of a row while it is in the
// cache, all by vectors.
jit::Kernel SoftmaxByHand(std::int64_t rows, std::int64_t columns) {
  const te::Tensor x = te::Placeholder({rows, columns}, Float32, "x");
  const te::IterVar of_max = te::ReduceAxis(0, columns), of_sum = te::ReduceAxis(0, columns);
  const te::Tensor max = te::Compute(
      {rows}, [&](te::Var i) { return te::Max(x(i, of_max.var), {of_max}); }, "max");
  const te::Tensor e = te::Compute(
      {rows, columns}, [&](te::Var i, te::Var j) { return te::Exp(x(i, j) - max(i)); }, "e");
  const te::Tensor sum = te::Compute(
      {rows}, [&](te::Var i) { return te::Sum(e(i, of_sum.var), {of_sum}); }, "sum");
  const te::Tensor out = te::Compute(
      {rows, columns}, [&](te::Var i, te::Var j) { return e(i, j) / sum(i); }, "out");
  schedule::Schedule s(out);
  const te::IterVar row = out.axis(0);
  s[out].Parallel(row);
  s[out].Vectorize(s[out].Split(out.axis(1), 16).second);
  for (const te::Tensor& part : {max, e, sum}) s[part].ComputeAt(s[out], row);
  s[e].Vectorize(s[e].Split(e.axis(1), 16).second);
  return ValueOrThrow(jit::Compile(schedule::Lower(s, {x, out}, "softmax")));
}

Contestants PrepareSoftmax(std::int64_t rows, std::int64_t columns, int threads) {
  const Tensor x = RandomArray({rows, columns});
  const auto ours = std::make_shared<CompiledGraph>(
      Parse(StrCat("fn (%x: Tensor[(", rows, ", ", columns, "), float32]) { nn.softmax(%x) }")),
      runtime::Inputs{{"x", x}}, CompileOptions{.threads = threads});
  ours->Call();
  const auto by_hand = std::make_shared<jit::Kernel>(SoftmaxByHand(rows, columns));
  const Tensor y = Tensor::Zeros({rows, columns}, Float32);
  const auto call = [=] {
    const absl::Status status = (*by_hand)(x, y);
    if (!status.ok()) throw FromStatus(status);
  };
  call();
  RequireClose(y, ours->result(), 1e-5);
  return {{Role::kTenon, "automatic schedule", [=] { ours->Call(); }},
          {Role::kPeer, "schedule by hand", call}};
}

}  // namespace

void AddHandSchedules(std::vector<Race>& races) {
  for (const auto& [rows, columns] : {std::pair{333, 333}, {1024, 1000}}) {
    for (const int threads : {1, 2}) {
      races.push_back({.table = "choice",
                       .name = StrCat("softmax of ", rows, " x ", columns, " by hand"),
                       .threads = threads,
                       .aim = {.of_peer = 0.97},
                       .prepare = [rows = rows, columns = columns, threads] {
                         return PrepareSoftmax(rows, columns, threads);
                       }});
    }
  }
}

}  // namespace tenon::benchmarks
