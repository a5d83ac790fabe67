#include "tenon/tune/floors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/tests/testing/graph_testing.h"

namespace tenon::tune {
namespace {

// Round numbers: 100 operations, and 10, 5 and 1 bytes a second.
MachineSpeed Machine() {
  return {.threads = 1,
          .operations_per_s = 100,
          .copied_per_s = {10, 5, 1},
          .read_per_s = {20, 10, 2},
          .fitting_bytes = {1000, 10000, std::numeric_limits<double>::infinity()}};
}

TEST(FloorOfTest, TheSlowerOfArithmeticAndMovingCounts) {
  const Floor arithmetic =
      FloorOf({.operations = 1000, .bytes_read = 10, .bytes_written = 10}, Machine());
  EXPECT_EQ(arithmetic.seconds, 10);
  EXPECT_EQ(NameOf(arithmetic.bound), "arithmetic");
  const Floor moving =
      FloorOf({.operations = 1000, .bytes_read = 100, .bytes_written = 100}, Machine());
  EXPECT_EQ(moving.seconds, 20);
  EXPECT_EQ(NameOf(moving.bound), "L2");
}

TEST(FloorOfTest, BytesAreMovedInTheNearestMemoryThatHoldsThem) {
  EXPECT_EQ(NameOf(FloorOf({.bytes_read = 500, .bytes_written = 501}, Machine()).bound), "L3");
  const Floor memory = FloorOf({.bytes_read = 10000, .bytes_written = 10000}, Machine());
  EXPECT_EQ(NameOf(memory.bound), "memory");
  EXPECT_EQ(memory.seconds, 20000);
}

TEST(FloorOfTest, WhereLittleIsWrittenReadingCounts) {
  EXPECT_EQ(FloorOf({.bytes_read = 990, .bytes_written = 10}, Machine()).seconds, 50);
}

TEST(FloorOfTest, NarrowOperandsAreMultipliedFaster) {
  EXPECT_EQ(FloorOf({.operations = 1000, .products_per_float = 4}, Machine()).seconds, 2.5);
}

TEST(WorkOfTest, CountsArgumentsResultsAndTheTypeOfOperands) {
  const Lowered lowered =
      Lower(testing_graphs::Parsed(
                "def @main(%x: Tensor[(7, 5), float32], %w: Tensor[(3, 5), float32]) {\n"
                "  nn.dense(%x, %w)\n}"))
          .value();
  ASSERT_EQ(lowered.kernels.size(), 1U);
  const Work work = WorkOf(lowered.kernels[0].function, Target::Host());
  EXPECT_EQ(work.operations, 2 * 7 * 5 * 3);
  EXPECT_EQ(work.bytes_read, 4 * (7 * 5 + 3 * 5));
  EXPECT_EQ(work.bytes_written, 4 * 7 * 3);
  EXPECT_EQ(work.products_per_float, 1);
}

TEST(MeasureMachineTest, EverySpeedIsANumberThatAMachineCanHave) {
  const MachineSpeed machine = MeasureMachine(Target::Host(), 1);
  EXPECT_EQ(machine.threads, 1);
  EXPECT_GT(machine.operations_per_s, 1e8);
  EXPECT_LT(machine.operations_per_s, 1e13);
  for (const auto& speeds : {machine.copied_per_s, machine.read_per_s}) {
    for (const double speed : speeds) {
      EXPECT_GT(speed, 1e7);
      EXPECT_LT(speed, 1e13);
    }
  }
}

}  // namespace
}  // namespace tenon::tune
