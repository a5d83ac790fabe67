#include "tenon/runtime/executable.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/runtime/program.h"
#include "tenon/support/error.h"

namespace tenon::runtime {
namespace {

using ::testing::HasSubstr;

constexpr int kSize = 4;

// out = in + 1
class AddOne : public jit::Callable {
 public:
  void Call(void* const* buffers, void*) const override {
    for (int i = 0; i < kSize; ++i) {
      static_cast<float*>(buffers[1])[i] = static_cast<const float*>(buffers[0])[i] + 1;
    }
  }
  std::string implementation() const override { return "test"; }
};

Executable ChainOf(int length) {
  Executable::Parts parts;
  parts.kernels = {std::make_shared<AddOne>()};
  const Entry entry{.shape = {kSize}, .dtype = Float32};
  parts.plan.nodes.push_back({.kind = NodeKind::kInput, .name = "x", .outputs = {entry}});
  for (int i = 0; i < length; ++i) {
    parts.plan.nodes.push_back({.kind = NodeKind::kKernel,
                                .name = "add" + std::to_string(i),
                                .kernel = 0,
                                .inputs = {{i, 0}},
                                .outputs = {entry}});
  }
  parts.plan.heads = {{length, 0}};
  AssignStorage(&parts.plan);
  return Executable(std::move(parts));
}

NDArray Filled(float value) {
  return NDArray::FromVector<float>({kSize}, std::vector<float>(kSize, value));
}

TEST(ExecutableTest, RunsItsKernelsInOrder) {
  const Executable exe = ChainOf(5);
  EXPECT_EQ(exe.num_kernel_calls(), 5);
  EXPECT_EQ(exe.working_bytes(), 2U * kSize * sizeof(float));
  const auto y = exe.Run({{"x", Filled(1)}});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_TRUE((*y)[0].SameBytes(Filled(6)));
}

TEST(ExecutableTest, ResultsOfAnEarlierRunStayUnchanged) {
  const Executable exe = ChainOf(1);
  Session session(exe);
  const NDArray first = session.Run({{"x", Filled(1)}}).value()[0];
  session.Run({{"x", Filled(10)}}).value();
  EXPECT_TRUE(first.SameBytes(Filled(2)));
}

TEST(ExecutableTest, MemoryOfAResultThatWasLetGoIsTakenAgain) {
  const Executable exe = ChainOf(1);
  Session session(exe);
  std::vector<NDArray> y = session.Run({{"x", Filled(1)}}).value();
  const void* first = y[0].raw();
  y = session.Run({{"x", Filled(2)}}).value();  // while the first one is held
  EXPECT_NE(y[0].raw(), first);
  y = session.Run({{"x", Filled(3)}}).value();
  EXPECT_EQ(y[0].raw(), first);
  // A result that is the next input is held.
  y = session.Run({{"x", y[0]}}).value();
  EXPECT_TRUE(y[0].SameBytes(Filled(5)));
}

TEST(ExecutableTest, ResultsOutliveTheExecutable) {
  std::vector<NDArray> y;
  {
    const Executable exe = ChainOf(1);
    exe.Run({{"x", Filled(9)}}).value();
    y = exe.Run({{"x", Filled(1)}}).value();
  }
  EXPECT_TRUE(y[0].SameBytes(Filled(2)));
}

TEST(ExecutableTest, AnInputReturnedAsResultIsCopied) {
  const Executable exe = ChainOf(0);
  const NDArray x = Filled(3);
  const NDArray y = exe.Run({{"x", x}}).value()[0];
  EXPECT_TRUE(y.SameBytes(x));
  EXPECT_NE(y.raw(), x.raw());
}

TEST(ExecutableTest, ManyThreadsRunOneExecutable) {
  const Executable exe = ChainOf(7);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const float value = static_cast<float>(t * 1000 + i);
        if (!exe.Run({{"x", Filled(value)}}).value()[0].SameBytes(Filled(value + 7))) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ExecutableTest, ProfileNamesEachKernel) {
  Session session(ChainOf(2), {.threads = 1});
  std::vector<NodeTime> times;
  ASSERT_TRUE(session.RunProfiled({{"x", Filled(0)}}, &times).ok());
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[1].node, "add1");
  EXPECT_EQ(times[1].implementation, "test");
  EXPECT_GT(times[1].nanoseconds, 0);
}

TEST(ExecutableErrorTest, ThreadsOfASessionAreNotNegative) {
  try {
    Session(ChainOf(1), {.threads = -5});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(),
              "a session of -5 threads; it must be 1 to 1024, or 0 as the executable says");
  }
}

TEST(ExecutableErrorTest, OneThatWasMovedFromSaysSo) {
  Executable exe = ChainOf(1);
  const Executable other = std::move(exe);
  Session session(other);
  const Session moved = std::move(session);
  for (const absl::Status& status :
       {exe.Run({{"x", Filled(1)}}).status(), session.Run({{"x", Filled(1)}}).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(status.message(), "the executable has been moved from; use the one that it moved to");
  }
}

TEST(ExecutableErrorTest, WrongInputsAreNamed) {
  const Executable exe = ChainOf(1);
  const auto message = [&](const Inputs& inputs) {
    const absl::Status status = exe.Run(inputs).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_THAT(message({}), HasSubstr("input 'x' is missing; it must be float32 (4,)"));
  EXPECT_THAT(message({{"x", NDArray::Zeros({5}, Float32)}}),
              HasSubstr("'x' is float32 (5,); it must be float32 (4,)"));
  EXPECT_THAT(message({{"x", NDArray::Zeros({4}, Int32)}}), HasSubstr("'x' is int32 (4,)"));
  EXPECT_THAT(message({{"x", Filled(0)}, {"z", Filled(0)}}),
              HasSubstr("no input 'z'; the inputs are: x"));
}

// 2^62 times the bytes of an element are 0 in 64 bits, as many as those of the array.
TEST(ProgramTest, AnElementOfAnotherShapeIsNotWrittenIntoAnArrayWithoutElements) {
  const ArrayType rows{.dtype = Float32, .extents = {Dim(), Dim()}}, row{Float32, {Dim()}};
  const ArrayType place{.dtype = Int64, .extents = {}};
  Program program;
  program.functions = {{.name = "main",
                        .parameters = {rows, place, row},
                        .registers = 4,
                        .steps = {{.kind = StepKind::kWrite, .inputs = {0, 1, 2}, .outputs = {3}}},
                        .results = {3},
                        .result_types = {rows}}};
  FindFacts(&program.functions);
  const std::vector<InputInfo> inputs = {{"rows", rows.dtype, rows.extents},
                                         {"place", place.dtype, place.extents},
                                         {"row", row.dtype, row.extents}};
  const auto run = [&](const Shape& shape) {
    return RunProgram(program, inputs,
                      {{"rows", NDArray::Empty(shape, Float32)},
                       {"place", NDArray::Scalar<std::int64_t>(0)},
                       {"row", Filled(1)}},
                      nullptr);
  };
  EXPECT_THROW(run({std::int64_t{1} << 62, 0}), Error);
  EXPECT_EQ(run({1, kSize})[0].ToVector<float>(), Filled(1).ToVector<float>());
}

}  // namespace
}  // namespace tenon::runtime
