// RFactor, a scan, Tensorize and a reducer of one's own, each on a computation where it pays. Every
// schedule runs on random inputs against the interpreter of the unscheduled computation.
#include <cstdio>

#include "tenon/loop/stmt.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/te/scan.h"
#include "tenon/te/tensor_intrinsic.h"
#include "tenon/tenon.h"
#include "tenon/verify/verify_schedule.h"

namespace jit = tenon::jit;
namespace loop = tenon::loop;
namespace te = tenon::te;
using tenon::Float32;
using tenon::Int32;
using tenon::Int8;
using tenon::Schedule;
using tenon::UInt8;

namespace {

// A dot product has no data axis that could run in parallel or in vectors, until it is factored.
absl::Status DotProduct() {
  te::Tensor A = te::Placeholder({100003}, Float32, "A"),
             B = te::Placeholder({100003}, Float32, "B");
  te::IterVar k = te::ReduceAxis(0, 100003, "k");
  te::Tensor dot = te::Compute(
      {}, [&](const std::vector<te::Var>&) { return te::Sum(A(k.var) * B(k.var), {k}); }, "dot");
  Schedule s(dot);
  auto [chunk, term] = s[dot].Split(k, 25008);
  auto [step, lane] = s[dot].Split(term, 16);
  te::Tensor lanes = s.RFactor(dot, lane)[0];  // lanes[lane]: sums over chunk and step
  te::Tensor chunks = s.RFactor(lanes, s[lanes].Loop("k.outer"))[0];  // chunks[k.outer, lane]
  s[chunks].Parallel(s[chunks].axis(0));
  s[chunks].Reorder({s[chunks].axis(0), s[chunks].reduce_axis(0), s[chunks].axis(1)});
  s[chunks].Vectorize(s[chunks].axis(1));
  return jit::Verify(s, {A, B, dot});
}

// Running sums down the rows: the columns of a step are independent of each other.
absl::Status RunningSums() {
  te::Tensor X = te::Placeholder({50, 1000}, Float32, "X");
  te::Tensor state = te::Placeholder({50, 1000}, Float32, "state");
  te::Tensor first = te::Compute(
      {1, 1000}, [&](te::Var t, te::Var i) { return X(t, i); }, "first");
  te::Tensor next = te::Compute(
      {50, 1000}, [&](te::Var t, te::Var i) { return state(t - 1, i) + X(t, i); }, "next");
  te::Tensor sums = te::Scan({first}, {next}, {state}, "sums")[0];
  te::Tensor last = te::Compute(
      {1000}, [&](te::Var i) { return sums(49, i) * 0.02F; }, "last");
  Schedule s(last);
  auto [tile, column] = s[last].Split(last.axis(0), 64);
  s[last].Parallel(tile);
  s[sums].ComputeAt(s[last], tile);  // all steps, for the 64 columns of the tile
  s[first].ComputeInline();
  s[next].Vectorize(next.axis(1));
  return jit::Verify(s, {X, last});
}

// Four products of bytes in each of 16 lanes are one instruction of AVX-512.
absl::Status ByteProduct() {
  te::Tensor A = te::Placeholder({32, 64}, UInt8, "A");
  te::Tensor B =
      te::Placeholder({4, 16, 16, 4}, Int8, "B");  // (column block, k / 4, column, k % 4)
  te::IterVar k = te::ReduceAxis(0, 16, "k"), group = te::ReduceAxis(0, 4, "group");
  te::Tensor C = te::Compute(
      {32, 4, 16},
      [&](te::Var i, te::Var block, te::Var j) {
        return te::Sum(te::Cast(Int32, A(i, k.var * 4 + group.var)) *
                           te::Cast(Int32, B(block, k.var, j, group.var)),
                       {k, group});
      },
      "C");
  Schedule s(C);
  s[C].Reorder({C.axis(0), C.axis(1), k, C.axis(2), group});
  s[C].Tensorize(C.axis(2), te::DotU8S8());  // in the place of the loops over j and group
  return jit::Verify(s, {A, B, C});
}

// The sum of exponentials without overflow, as pairs (greatest exponent, sum in terms of it).
absl::Status LogSumExp() {
  te::Tensor X = te::Placeholder({7, 1000}, Float32, "X");
  te::IterVar k = te::ReduceAxis(0, 1000, "k");
  te::Combiner log_sum =
      te::MakeCombiner("log_sum", {Float32, Float32},
                       [](const std::vector<te::Var>& a, const std::vector<te::Var>& b) {
                         te::Expr most = te::Max(a[0], b[0]);
                         return std::vector<te::Expr>{
                             most, a[1] * te::Exp(a[0] - most) + b[1] * te::Exp(b[0] - most)};
                       },
                       {te::Cast(Float32, -1e30), te::Cast(Float32, 0)});
  std::vector<te::Tensor> pair = te::ReduceTuple(
      {7},
      [&](const std::vector<te::Var>& i) {
        return te::Reduce(log_sum, {X(i[0], k.var), te::Cast(Float32, 1)}, {k});
      },
      "pair");
  te::Tensor most = pair[0], sum = pair[1];
  te::Tensor out = te::Compute(
      {7}, [&](te::Var i) { return te::Log(sum(i)) + most(i); }, "out");
  Schedule s(out);
  auto [step, lane] = s[most].Split(k, 16);
  te::Tensor lanes = s.RFactor(most, lane, 1)[0];  // both values: lanes[i, lane]
  s[lanes].Reorder({s[lanes].axis(0), s[lanes].reduce_axis(0), s[lanes].axis(1)});
  s[lanes].Vectorize(s[lanes].axis(1));
  return jit::Verify(s, {X, out});
}

}  // namespace

int main() {
  for (const absl::Status& status : {DotProduct(), RunningSums(), ByteProduct(), LogSumExp()}) {
    if (status.ok()) continue;
    std::puts(status.ToString().c_str());
    return 1;
  }
  return 0;
}
