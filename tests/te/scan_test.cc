// Scans: what is refused, and the interpreter's results against plain loops.
#include "tenon/te/scan.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"
#include "tenon/te/extern.h"
#include "tenon/te/interpret.h"
#include "tenon/te/reduce.h"

namespace tenon::te {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Body>
std::string Refusal(Body body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument) << error.what();
    return error.what();
  }
  return "no error";
}

// The parts of a running sum over {5, 2}, for a test to spoil.
struct RunningSum {
  Tensor x = Placeholder({5, 2}, Float32, "x");
  Tensor state = Placeholder({5, 2}, Float32, "s");
  Tensor init = Compute(
      {1, 2}, [&](const Var& t, const Var& i) { return x(t, i); }, "init");
  Tensor update = Compute(
      {5, 2}, [&](const Var& t, const Var& i) { return state(t - 1, i) + x(t, i); }, "update");
};

TEST(ScanTest, InterpretRunsStepAfterStep) {
  const RunningSum s;
  const Tensor sum = Scan({s.init}, {s.update}, {s.state}, "sum")[0];
  const NDArray x = NDArray::FromVector<float>({5, 2}, {1, 10, 2, 20, 3, 30, 4, 40, 5, 50});
  const NDArray result = Interpret({sum}, {{s.x, x}})[0];
  EXPECT_THAT(std::vector<float>(result.data<float>(), result.data<float>() + 10),
              ElementsAre(1, 10, 3, 30, 6, 60, 10, 100, 15, 150));
}

// S001: check 37, two states that depend on each other.
TEST(ScanTest, TwoStatesSeeEachOthersEarlierSteps) {
  const Var n("n");
  const Tensor a = Placeholder({n}, Int64, "a"), b = Placeholder({n}, Int64, "b");
  const Tensor first = Placeholder({2}, Int64, "first");
  const auto begin = [&](const Var& t) { return first(t); };
  const Tensor next_a = Compute(
      {n}, [&](const Var& t) { return a(t - 1) + b(t - 2); }, "next_a");
  const Tensor next_b = Compute(
      {n}, [&](const Var& t) { return a(t - 1) * 2 - b(t - 1); }, "next_b");
  const Tensor size = Placeholder({n}, Int64, "size");
  const std::vector<Tensor> out =
      Scan({Compute({2}, begin, "ia"), Compute({2}, begin, "ib")}, {next_a, next_b}, {a, b}, "two");
  // The extent comes from an input that has it.
  const Tensor sum = Compute(
      {n}, [&](const Var& t) { return out[0](t) + out[1](t) + size(t); }, "sum");
  std::vector<std::int64_t> x = {1, 3}, y = {1, 3};
  for (std::size_t t = 2; t < 11; ++t) {
    x.push_back(x[t - 1] + y[t - 2]);
    y.push_back(x[t - 1] * 2 - y[t - 1]);
  }
  NDArray zeros = NDArray::Empty({11}, Int64);
  std::fill_n(zeros.data<std::int64_t>(), 11, 0);
  const NDArray result =
      Interpret({sum}, {{size, zeros}, {first, NDArray::FromVector<std::int64_t>({2}, {1, 3})}})[0];
  for (std::size_t t = 0; t < 11; ++t) EXPECT_EQ(result.data<std::int64_t>()[t], x[t] + y[t]) << t;
}

TEST(ScanTest, PrintsItsParts) {
  const RunningSum s;
  const Tensor sum = Scan({s.init}, {s.update}, {s.state}, "sum")[0];
  EXPECT_THAT(Print({sum}),
              HasSubstr("sum = scan(init: init; update: update; state: s)  : float32[5, 2]\n"));
}

TEST(ScanTest, StepOperationsAreThoseThatDependOnAState) {
  const RunningSum s;
  const Tensor outside = Compute(
      {5, 2}, [&](const Var& t, const Var& i) { return s.x(t, i) * 2.0F; }, "outside");
  const Tensor inside = Compute(
      {5, 2}, [&](const Var& t, const Var& i) { return s.state(t - 1, i) * 2.0F; }, "inside");
  const Tensor update = Compute(
      {5, 2}, [&](const Var& t, const Var& i) { return inside(t, i) + outside(t, i); }, "next");
  const Tensor sum = Scan({s.init}, {update}, {s.state})[0];
  std::vector<std::string> names;
  for (const Operation& op : StepOperations(*sum.op())) names.push_back(op->name);
  EXPECT_THAT(names, ElementsAre("inside", "next"));
}

TEST(ScanErrorTest, ListsMustBeOfOneLength) {
  const RunningSum s;
  EXPECT_EQ(Refusal([&] { Scan({}, {}, {}, "sum"); }), "scan sum: there is no state");
  EXPECT_EQ(Refusal([&] {
              Scan({s.init}, {s.update}, {s.state, s.x}, "sum");
            }),
            "scan sum: 1 inits, 1 updates and 2 states are given; every state needs one of each");
}

TEST(ScanErrorTest, PartsMustAgreeInTypeRankAndExtents) {
  const RunningSum s;
  const auto refuse = [&](const Tensor& init, const Tensor& update) {
    return Refusal([&] { Scan({init}, {update}, {s.state}, "sum"); });
  };
  EXPECT_EQ(refuse(Placeholder({1, 2}, Float64, "i"), s.update),
            "scan sum: init i has the type float64; state s has float32");
  EXPECT_EQ(refuse(Placeholder({1}, Float32, "i"), s.update),
            "scan sum: init i has 1 dimensions; state s has 2");
  EXPECT_EQ(refuse(Placeholder({1, 3}, Float32, "i"), s.update),
            "scan sum: dimension 1 of init i is 3; of state s it is 2");
  const Tensor longer = Compute(
      {6, 2}, [&](const Var& t, const Var& i) { return s.state(t - 1, i); }, "longer");
  EXPECT_EQ(refuse(s.init, longer),
            "scan sum: dimension 0 of update longer is 6; of state s it is 5");
  EXPECT_EQ(refuse(Placeholder({6, 2}, Float32, "i"), s.update),
            "scan sum: the inits give 6 steps of 5; at least 1 and at most all are allowed");
}

TEST(ScanErrorTest, PartsAreNotNull) {
  const RunningSum s;
  const std::string words = "a tensor is null; make it by Placeholder or Compute";
  EXPECT_EQ(Refusal([&] { Scan({Tensor()}, {s.update}, {s.state}, "sum"); }), words);
  EXPECT_EQ(Refusal([&] { Scan({s.init}, {Tensor()}, {s.state}, "sum"); }), words);
  EXPECT_EQ(Refusal([&] { Scan({s.init}, {s.update}, {Tensor()}, "sum"); }), words);
}

TEST(ScanErrorTest, StatesArePlaceholdersOfTheirOwn) {
  const RunningSum s;
  EXPECT_EQ(Refusal([&] { Scan({s.init}, {s.update}, {s.update}, "sum"); }),
            "scan sum: state update is not a placeholder");
  EXPECT_EQ(Refusal([&] {
              Scan({s.init, s.init}, {s.update, s.update}, {s.state, s.state}, "x");
            }),
            "scan x: state s is given twice");
  EXPECT_EQ(Refusal([&] { Scan({s.init}, {s.x}, {s.state}, "sum"); }),
            "scan sum: update x is a placeholder; it must be a compute");
}

TEST(ScanErrorTest, AStateIsReadAtStepsThatAreComputed) {
  const RunningSum s;
  const auto reading = [&](int offset) {
    return Compute(
        {5, 2}, [&](const Var& t, const Var& i) { return s.state(t + offset, i); }, "u");
  };
  for (const int offset : {0, 1, -2}) {
    EXPECT_THAT(Refusal([&] { Scan({s.init}, {reading(offset)}, {s.state}, "sum"); }),
                HasSubstr("u reads state s at step"))
        << offset;
  }
  EXPECT_NO_THROW(Scan({s.init}, {reading(-1)}, {s.state}, "sum"));
}

TEST(ScanErrorTest, WhatDependsOnAStateIsReadAtTheComputedStep) {
  const RunningSum s;
  const Tensor inside = Compute(
      {5, 2}, [&](const Var& t, const Var& i) { return s.state(t - 1, i); }, "inside");
  const Tensor late = Compute(
      {5, 2}, [&](const Var& t, const Var& i) { return inside(t - 1, i); }, "late");
  EXPECT_THAT(Refusal([&] { Scan({s.init}, {late}, {s.state}, "sum"); }),
              HasSubstr("late reads inside at step"));
  const Tensor narrow = Compute(
      {2, 5}, [&](const Var& i, const Var& t) { return s.state(t - 1, i); }, "narrow");
  const Tensor turned = Compute(
      {5, 2}, [&](const Var& t, const Var& i) { return narrow(i, t); }, "turned");
  EXPECT_THAT(Refusal([&] { Scan({s.init}, {turned}, {s.state}, "sum"); }),
              HasSubstr("narrow depends on a state and has 2 steps; it must have all 5"));
}

TEST(ScanErrorTest, ExternalOperationsDoNotDependOnAState) {
  const RunningSum s;
  const ExternFunction copy = ExternFunction::Named<void(const float*, float*)>("copy");
  const Tensor foreign = Extern(
      {{5, 2}}, {s.state}, {Float32},
      [&](const auto& in, const auto& to) {
        return ExternCall(copy, {in[0], to[0]});
      },
      "foreign")[0];
  const Tensor update = Compute(
      {5, 2}, [&](const Var& t, const Var& i) { return foreign(t, i); }, "u");
  EXPECT_THAT(Refusal([&] { Scan({s.init}, {update}, {s.state}, "sum"); }),
              HasSubstr("foreign, which depends on a state, is an external operation or a scan"));
}

}  // namespace
}  // namespace tenon::te
