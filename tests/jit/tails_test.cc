// Vectorised loops whose extent is no multiple of the vector's: the last block runs under a mask,
// gives what the interpreter gives, and touches nothing outside of the arrays.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/kernel.h"
#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/schedule/lower.h"
#include "tenon/support/strings.h"
#include "tenon/te/interpret.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/jit/guarded_array.h"

namespace tenon::jit {
namespace {

using loop::Expr;
using schedule::Schedule;
using te::Placeholder;
using te::Tensor;
using te::Var;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kExtents[] = {0, 1, 2, 15, 16, 17, 31, 33, 63, 65, 1000, 1023};

struct Graph {
  std::vector<Tensor> inputs;
  Tensor out;
};
using MakeGraph = std::function<Graph(DataType)>;
using MakeSchedule = std::function<void(Schedule&, const Tensor&)>;

// The interpreter has no bfloat16; small whole numbers are the same in float32.
NDArray Widened(const NDArray& array) {
  NDArray wide = NDArray::Empty(array.shape(), Float32);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    wide.data<float>()[i] = std::bit_cast<float>(
        static_cast<std::uint32_t>(static_cast<std::uint16_t*>(array.raw())[i]) << 16);
  }
  return wide;
}

NDArray Interpreted(const MakeGraph& make, DataType type, const std::vector<NDArray>& arrays) {
  const bool widened = type == BFloat16;
  const Graph graph = make(widened ? Float32 : type);
  std::vector<std::pair<Tensor, NDArray>> given;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    given.emplace_back(graph.inputs[i], widened ? Widened(arrays[i]) : arrays[i]);
  return te::Interpret({graph.out}, given)[0];
}

// Runs a scheduled graph on guarded arrays and compares every element with the interpreter's.
void ExpectAsInterpreted(const MakeGraph& make, const MakeSchedule& make_schedule, DataType type,
                         const std::vector<Shape>& shapes, const Shape& result,
                         const std::string& features) {
  const Graph graph = make(type);
  Schedule schedule(graph.out);
  make_schedule(schedule, graph.out);
  std::vector<Tensor> args = graph.inputs;
  args.push_back(graph.out);
  const loop::Function function = schedule::Lower(schedule, args, "kernel");
  const absl::StatusOr<Kernel> kernel = Compile(function, {.target = HostTarget(features)});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  for (const Place place : {Place::kAtTheEnd, Place::kAtTheStart}) {
    std::vector<NDArray> arrays;
    for (std::size_t i = 0; i < shapes.size(); ++i)
      arrays.push_back(GuardedNumbers(shapes[i], type, place, static_cast<unsigned>(i + 1)));
    const NDArray wanted = Interpreted(make, type, arrays);
    NDArray got = Guarded(result, type, place);
    arrays.push_back(got);
    const absl::Status status = kernel->Run(arrays);
    ASSERT_TRUE(status.ok()) << status;
    if (type == BFloat16) got = Widened(got);
    ASSERT_EQ(got.bytes(), wanted.bytes());
    if (got.bytes() == 0) continue;
    EXPECT_EQ(std::memcmp(got.raw(), wanted.raw(), got.bytes()), 0) << loop::Print(function);
  }
}

std::string NameOf(const ::testing::TestParamInfo<std::tuple<DataType, const char*>>& info) {
  const std::string features = std::get<1>(info.param);
  return StrCat(std::get<0>(info.param).ToString(), features.empty()         ? "Host"
                                                    : features == "-avx512f" ? "Avx2"
                                                                             : "Sse");
}

class TailTest : public ::testing::TestWithParam<std::tuple<DataType, const char*>> {
 protected:
  DataType type() const { return std::get<0>(GetParam()); }
  std::string features() const { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Types, TailTest,
                         ::testing::Combine(::testing::Values(Float32, Float64, Int8, UInt8, Int32,
                                                              Int64, Bool, Float16, BFloat16),
                                            ::testing::Values("", "-avx512f",
                                                              "-avx512f,-avx2,-avx")),
                         NameOf);

Expr Joined(const Expr& a, const Expr& b) {
  return a.dtype().is_bool() ? a && !b : loop::Select(a < b, a + b, a - b);
}

MakeSchedule Lanes(int lanes) {
  return [lanes](Schedule& s, const Tensor& out) {
    s[out].Vectorize(s[out].Split(out.axis(0), lanes).second);
  };
}

TEST_P(TailTest, ElementsOfEveryExtent) {
  for (const std::int64_t n : kExtents) {
    SCOPED_TRACE(n);
    const auto graph = [&](DataType t) {
      const Tensor a = Placeholder({n}, t, "A"), b = Placeholder({n}, t, "B");
      return Graph{{a, b},
                   te::Compute(
                       {n}, [&](Var i) { return Joined(a(i), b(i)); }, "C")};
    };
    ExpectAsInterpreted(graph, Lanes(16), type(), {{n}, {n}}, {n}, features());
  }
}

// Halves of vectors lie outside whatever the row is.
TEST_P(TailTest, ImagesWithMarginsWiderThanHalfAVector) {
  constexpr std::int64_t kRows = 3, kColumns = 21, kMargin = 9, kWidth = 48;
  for (const auto& [step, unrolled] :
       {std::pair{1, true}, std::pair{2, true}, std::pair{1, false}, std::pair{2, false}}) {
    SCOPED_TRACE(StrCat("step ", step, unrolled ? " unrolled" : ""));
    const auto graph = [&, step = step](DataType t) {
      const Tensor a = Placeholder({kRows, kColumns}, t, "A");
      const auto padded = [&](Var i, Var j) {
        const Expr row = i - 1, column = j * step - kMargin;
        return te::IfThenElse(row >= 0 && row < kRows && column >= 0 && column < kColumns,
                              a(row, column), te::Cast(t, 0));
      };
      return Graph{{a}, te::Compute({kRows + 2, kWidth}, padded, "C")};
    };
    const auto schedule = [unrolled = unrolled](Schedule& s, const Tensor& c) {
      const auto [blocks, lane] = s[c].Split(c.axis(1), 16);
      s[c].Parallel(c.axis(0)).Vectorize(lane);
      if (unrolled) s[c].Unroll(blocks);
    };
    ExpectAsInterpreted(graph, schedule, type(), {{kRows, kColumns}}, {kRows + 2, kWidth},
                        features());
  }
}

// Whole vectors and the masked one are told apart as the kernel runs.
TEST_P(TailTest, ElementsOfASymbolicExtentInAParallelLoop) {
  for (const std::int64_t size : {0, 1, 16, 33, 1000}) {
    SCOPED_TRACE(size);
    const Var n("n");
    const auto graph = [&](DataType t) {
      const Tensor a = Placeholder({n}, t, "A"), b = Placeholder({n}, t, "B");
      return Graph{{a, b},
                   te::Compute(
                       {n}, [&](Var i) { return Joined(b(i), a(i)); }, "C")};
    };
    const auto schedule = [](Schedule& s, const Tensor& c) {
      const auto [blocks, lane] = s[c].Split(c.axis(0), 16);
      s[c].Vectorize(lane).Parallel(blocks);
    };
    ExpectAsInterpreted(graph, schedule, type(), {{size}, {size}}, {size}, features());
  }
}

// What lies near each other is read by whole vectors, none of which reaches beyond the array.
TEST_P(TailTest, ElementsThatLieNearEachOtherInAnyOrder) {
  using Place = std::function<Expr(std::int64_t n, const Expr& i)>;
  const std::pair<const char*, Place> places[] = {
      {"every third", [](std::int64_t, const Expr& i) { return i * 3; }},
      {"every fourth", [](std::int64_t, const Expr& i) { return i * 4; }},
      {"backwards", [](std::int64_t n, const Expr& i) { return Expr(n - 1) - i; }},
      {"each twice", [](std::int64_t, const Expr& i) { return te::FloorDiv(i, 2); }},
      {"each three times", [](std::int64_t, const Expr& i) { return te::FloorDiv(i, 3); }},
      {"each four times", [](std::int64_t, const Expr& i) { return te::FloorDiv(i, 4); }},
      {"neighbours swapped",
       [](std::int64_t n, const Expr& i) {
         return te::Min(te::FloorDiv(i, 2) * 2 + 1 - te::FloorMod(i, 2), Expr(n - 1));
       }},
      {"windows of four",
       [](std::int64_t, const Expr& i) { return te::FloorDiv(i, 4) + te::FloorMod(i, 4); }},
      {"windows of four further on",
       [](std::int64_t, const Expr& i) { return te::FloorDiv(i, 4) + te::FloorMod(i, 4) + 5; }},
      {"a ring", [](std::int64_t, const Expr& i) { return te::FloorMod(i * 5, 16); }},
      {"two rows put into each other",
       [](std::int64_t n, const Expr& i) {
         return te::FloorMod(i, 2) * (3 * n + 40) + te::FloorDiv(i, 2);
       }},
      {"four rows put into each other, backwards",
       [](std::int64_t n, const Expr& i) {
         return (3 - te::FloorMod(i, 4)) * (n + 70) + te::FloorDiv(i, 4);
       }},
  };
  for (const auto& [name, place] : places) {
    for (const std::int64_t n : {1, 16, 17, 64, 131}) {
      for (const int lanes : {8, 16, 64}) {
        SCOPED_TRACE(StrCat(name, " of ", n, " by ", lanes));
        std::int64_t size = 1;
        for (std::int64_t i = 0; i < n; ++i) {
          const Expr at = loop::Simplify(place(n, i));
          size = std::max(size, at.As<loop::IntImmNode>()->value + 1);
        }
        const auto graph = [&](DataType t) {
          const Tensor a = Placeholder({size}, t, "A");
          return Graph{{a},
                       te::Compute(
                           {n}, [&](Var i) { return Joined(a(place(n, i)), a(0)); }, "C")};
        };
        ExpectAsInterpreted(graph, Lanes(lanes), type(), {{size}}, {n}, features());
      }
    }
  }
}

// The place that the elements are counted from is known as the kernel runs, and lies after them.
TEST_P(TailTest, ElementsThatLieNearEachOtherBeforeAPlace) {
  constexpr std::int64_t kRows = 4, kColumns = 16;
  for (const int times : {2, 3, 4}) {
    SCOPED_TRACE(times);
    const std::int64_t reach = (kColumns - 1) / times + 1, size = (kRows - 2) * 8 + reach;
    const auto graph = [&](DataType t) {
      const Tensor a = Placeholder({size}, t, "A");
      const auto picked = [&](Var i, Var j) {
        return te::IfThenElse(i >= 1, Joined(a(i * 8 + te::FloorDiv(j, times) - 8), a(0)),
                              te::Cast(t, 1));
      };
      return Graph{{a}, te::Compute({kRows, kColumns}, picked, "C")};
    };
    const auto schedule = [&](Schedule& s, const Tensor& c) { s[c].Vectorize(c.axis(1)); };
    ExpectAsInterpreted(graph, schedule, type(), {{size}}, {kRows, kColumns}, features());
  }
}

// Lanes are left out by what is known when the kernel is compiled, and by what is not.
TEST_P(TailTest, ElementsThatLieNearEachOtherUnderAMask) {
  constexpr std::int64_t kRows = 3, kColumns = 37;
  for (const int times : {1, 2, 3, 4, 5}) {
    for (const bool unrolled : {true, false}) {
      SCOPED_TRACE(StrCat("each ", times, " times", unrolled ? ", unrolled" : ""));
      const std::int64_t size = (kColumns - 5 + times - 1) / times + 2;
      const auto graph = [&](DataType t) {
        const Tensor a = Placeholder({kRows, size}, t, "A");
        const auto picked = [&](Var i, Var j) {
          const Expr near = te::FloorDiv(j - 3, times);
          return te::IfThenElse(j >= i + 3 && j < kColumns - 2,
                                Joined(a(i, near), a(i, size - 1 - near)), te::Cast(t, 1));
        };
        return Graph{{a}, te::Compute({kRows, kColumns}, picked, "C")};
      };
      const auto schedule = [&](Schedule& s, const Tensor& c) {
        const auto [blocks, lane] = s[c].Split(c.axis(1), 16);
        s[c].Vectorize(lane);
        if (unrolled) s[c].Unroll(blocks).Unroll(c.axis(0));
      };
      ExpectAsInterpreted(graph, schedule, type(), {{kRows, size}}, {kRows, kColumns}, features());
    }
  }
}

TEST_P(TailTest, RowsPutIntoEachOtherUnderAMask) {
  constexpr std::int64_t kRows = 3, kColumns = 37, kRow = 90;
  for (const int count : {2, 3, 4}) {
    SCOPED_TRACE(count);
    const std::int64_t size = (count - 1) * kRow + (kColumns - 4) / count + 1;
    const auto graph = [&](DataType t) {
      const Tensor a = Placeholder({kRows, size}, t, "A");
      const auto picked = [&](Var i, Var j) {
        const Expr at = te::FloorMod(j - 3, count) * kRow + te::FloorDiv(j - 3, count);
        return te::IfThenElse(j >= i + 3 && j < kColumns - i, a(i, at), te::Cast(t, 1));
      };
      return Graph{{a}, te::Compute({kRows, kColumns}, picked, "C")};
    };
    const auto schedule = [&](Schedule& s, const Tensor& c) {
      s[c].Vectorize(s[c].Split(c.axis(1), 16).second);
    };
    ExpectAsInterpreted(graph, schedule, type(), {{kRows, size}}, {kRows, kColumns}, features());
  }
}

// The distance of the rows is known as the kernel runs.
TEST_P(TailTest, RowsAtADistanceOfTheRunPutIntoEachOther) {
  constexpr std::int64_t kRows = 5, kColumns = 37;
  for (const int count : {2, 3, 4, 5}) {
    for (const bool masked : {false, true}) {
      SCOPED_TRACE(StrCat(count, masked ? " under a mask" : ""));
      const std::int64_t size = (count - 1) * (kRows + 20) + kColumns / count + 1;
      const auto graph = [&](DataType t) {
        const Tensor a = Placeholder({size}, t, "A");
        const auto picked = [&](Var i, Var j) {
          const Expr read = a(te::FloorMod(j, count) * (i + 20) + te::FloorDiv(j, count));
          if (!masked) return read;
          return te::IfThenElse(j >= i + 1 && j < kColumns - i, read, te::Cast(t, 1));
        };
        return Graph{{a}, te::Compute({kRows, kColumns}, picked, "C")};
      };
      const auto schedule = [&](Schedule& s, const Tensor& c) {
        s[c].Vectorize(s[c].Split(c.axis(1), 16).second);
      };
      ExpectAsInterpreted(graph, schedule, type(), {{size}}, {kRows, kColumns}, features());
    }
  }
}

// A load that some lanes must not make.
TEST_P(TailTest, PaddingIsLoadedUnderAMask) {
  for (const std::int64_t n : {1, 15, 16, 40}) {
    SCOPED_TRACE(n);
    const auto graph = [&](DataType t) {
      const Tensor a = Placeholder({n}, t, "A");
      const auto padded = [&](Var i) {
        return loop::IfThenElse(i >= 3 && i < n + 3, a(i - 3), loop::Constant(t, 1));
      };
      return Graph{{a}, te::Compute({n + 5}, padded, "C")};
    };
    ExpectAsInterpreted(graph, Lanes(16), type(), {{n}}, {n + 5}, features());
  }
}

TEST_P(TailTest, ColumnReductionsKeepAMaskedVectorOfResults) {
  for (const std::int64_t n : {1, 15, 17, 63}) {
    SCOPED_TRACE(n);
    const auto graph = [&](DataType t) {
      const Tensor a = Placeholder({6, n}, t, "A");
      const te::IterVar k = te::ReduceAxis(0, 6);
      const auto column = [&](Var i) {
        return t.is_bool() ? te::Any(a(k.var, i), {k}) : te::Sum(a(k.var, i), {k});
      };
      return Graph{{a}, te::Compute({n}, column, "C")};
    };
    const auto schedule = [](Schedule& s, const Tensor& c) {
      const auto [blocks, lane] = s[c].Split(c.axis(0), 16);
      s[c].Reorder({blocks, c.reduce_axis(0), lane});
      s[c].Vectorize(lane);
    };
    ExpectAsInterpreted(graph, schedule, type(), {{6, n}}, {n}, features());
  }
}

loop::Function Added(std::int64_t n) {
  const Tensor a = Placeholder({n}, Float32, "A");
  const Tensor c = te::Compute(
      {n}, [&](Var i) { return a(i) + 1.0F; }, "C");
  Schedule s(c);
  s[c].Vectorize(s[c].Split(c.axis(0), 16).second);
  return schedule::Lower(s, {a, c}, "added");
}

TEST(TailCodeTest, TheLastBlockOfAThousandRunsOnceUnderAMask) {
  EXPECT_EQ(loop::Print(Added(1000).body),
            "for ax0.outer in [0, 62) {\n"
            "  C[ramp((ax0.outer * 16), 1, 16)] = (A[ramp((ax0.outer * 16), 1, 16)] + x16(1f))\n"
            "}\n"
            "C[ramp(992, 1, 16)] = (A[ramp(992, 1, 16) where (ramp(992, 1, 16) < x16(1000))] + "
            "x16(1f)) where (ramp(992, 1, 16) < x16(1000))\n");
}

TEST(TailCodeTest, AMultipleOfTheVectorNeedsNoMask) {
  EXPECT_THAT(loop::Print(Added(1024).body), Not(HasSubstr("where")));
}

TEST(TailCodeTest, MaskedAccessesAreMaskedInLlvm) {
  const Kernel kernel = Compile(Added(1000)).value();
  EXPECT_THAT(kernel.LlvmIr(false), HasSubstr("call void @llvm.masked.store.v16f32"));
  // Loads of more lanes than a register holds are cut.
  EXPECT_THAT(kernel.LlvmIr(false), HasSubstr("@llvm.masked.load.v"));
}

TEST(TailCodeTest, NoElementIsLoadedByItselfThatLiesNearOthers) {
  const auto code = [](const std::function<Expr(const Expr&)>& place) {
    const Tensor a = Placeholder({256}, Float32, "A");
    const Tensor c = te::Compute(
        {64}, [&](Var i) { return a(place(i)); }, "C");
    Schedule s(c);
    Lanes(HostTarget().vector_bytes / 4)(s, c);
    return Compile(schedule::Lower(s, {a, c}, "picked")).value().LlvmIr(false);
  };
  // Eight lanes of every third element take as many loads as a gather.
  const bool is_wide = HostTarget().vector_bytes == 64;
  for (const int step : is_wide ? std::vector{-1, 2, 3, 4} : std::vector{-1, 2})
    EXPECT_THAT(code([&](const Expr& i) { return i * step + (step < 0 ? 63 : 0); }),
                Not(HasSubstr("masked.gather")))
        << step;
  EXPECT_THAT(code([](const Expr& i) { return te::FloorDiv(i, 2); }),
              Not(HasSubstr("masked.gather")));
  // Two rows put into each other are two loads.
  EXPECT_THAT(code([](const Expr& i) { return te::FloorMod(i, 2) * 128 + te::FloorDiv(i, 2); }),
              Not(HasSubstr("masked.gather")));
  // As many loads as a gather makes.
  EXPECT_THAT(code([](const Expr& i) { return te::FloorMod(i * 37, 256); }),
              HasSubstr("masked.gather"));
}

TEST(TailCodeTest, RowsAtADistanceOfTheRunAreALoadEach) {
  const auto code = [](int count) {
    const Tensor a = Placeholder({512}, Float32, "A");
    const Tensor c = te::Compute(
        {4, 64},
        [&](Var i, Var j) { return a(te::FloorMod(j, count) * (i + 64) + te::FloorDiv(j, count)); },
        "C");
    Schedule s(c);
    s[c].Vectorize(s[c].Split(c.axis(1), HostTarget().vector_bytes / 4).second);
    return Compile(schedule::Lower(s, {a, c}, "rows")).value().LlvmIr(false);
  };
  EXPECT_THAT(code(2), Not(HasSubstr("masked.gather")));
  EXPECT_THAT(code(4), Not(HasSubstr("masked.gather")));
  EXPECT_THAT(code(8), HasSubstr("masked.gather"));
}

// The mask of a row is known as the kernel runs. LLVM would move its bits one by one.
TEST(TailCodeTest, MasksOfElementsThatLieNearOthersAreComparedAndNotTakenApart) {
  const auto code = [](const std::function<Expr(const Expr&)>& place) {
    const Tensor a = Placeholder({4, 256}, Float32, "A");
    const Tensor c = te::Compute(
        {4, 64},
        [&](Var i, Var j) {
          return te::IfThenElse(j < i * 9 + 5, a(i, place(j)), te::Cast(Float32, 0));
        },
        "C");
    Schedule s(c);
    s[c].Vectorize(s[c].Split(c.axis(1), HostTarget().vector_bytes / 4).second);
    return Compile(schedule::Lower(s, {a, c}, "picked")).value().LlvmIr(false);
  };
  for (const std::string& ir : {code([](const Expr& j) { return te::FloorDiv(j, 2); }),
                                code([](const Expr& j) { return j * 2; })}) {
    EXPECT_THAT(ir, HasSubstr("@llvm.masked.load"));
    EXPECT_THAT(ir, Not(::testing::ContainsRegex("shufflevector <[0-9]+ x i1>")));
  }
}

// Of an array that is long enough at a place that is known.
TEST(TailCodeTest, WindowsAreOneLoad) {
  const auto loads = [](std::int64_t size) {
    const Tensor a = Placeholder({size}, UInt8, "A");
    const Tensor c = te::Compute(
        {64}, [&](Var i) { return a(te::FloorDiv(i, 4) + te::FloorMod(i, 4) + 5); }, "C");
    Schedule s(c);
    Lanes(64)(s, c);
    const std::string ir = Compile(schedule::Lower(s, {a, c}, "picked")).value().LlvmIr(false);
    std::size_t count = 0;
    for (std::size_t at = ir.find("= load <"); at != std::string::npos;
         at = ir.find("= load <", at + 1))
      ++count;
    return count;
  };
  // One for each register that the lanes fill.
  const std::size_t registers = 64 / HostTarget().vector_bytes;
  EXPECT_EQ(loads(24), registers + 1);
  EXPECT_EQ(loads(32), registers);
}

// exp(0) of the lanes that do not run is computed and thrown away.
TEST(TailCodeTest, VectorMathRunsOnMaskedLanes) {
  const std::int64_t n = 21;
  const Tensor a = Placeholder({n}, Float32, "A");
  const Tensor c = te::Compute(
      {n}, [&](Var i) { return te::Exp(a(i)); }, "C");
  Schedule s(c);
  s[c].Vectorize(s[c].Split(c.axis(0), 16).second);
  const Kernel kernel = Compile(schedule::Lower(s, {a, c}, "exps")).value();
  const NDArray x = GuardedNumbers({n}, Float32, Place::kAtTheEnd, 3);
  const NDArray y = Guarded({n}, Float32, Place::kAtTheEnd);
  ASSERT_TRUE(kernel(x, y).ok());
  for (std::int64_t i = 0; i < n; ++i)
    EXPECT_NEAR(y.data<float>()[i] / std::exp(x.data<float>()[i]), 1, 1e-6) << i;
}

}  // namespace
}  // namespace tenon::jit
