// Many threads at once: sessions of one executable, compiles beside runs, and models of many
// shapes. The thread sanitizer runs these (scripts/check-all).
#include <atomic>
#include <functional>
#include <thread>

#include "tenon/compiler/compile.h"
#include "tenon/compiler/dynamic_model.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/check/temporary_folder.h"

namespace tenon {
namespace {

using testing_graphs::Parsed;
using testing_graphs::Random;
using testing_graphs::RandomInputs;

// A convolution, a product and what fuses with them, of an odd number of rows.
template <typename Rows>
ir::Module Network(const Rows& rows) {
  return Parsed(StrCat("def @main(%x: Tensor[(", rows,
                       ", 3, 9, 9), float32], %w: Tensor[(16, 3, 3, 3), float32], "
                       "%v: Tensor[(5, 784), float32]) {\n"
                       "  %0 = nn.relu(nn.conv2d(%x, %w));\n"
                       "  nn.softmax(nn.dense(nn.batch_flatten(%0), %v))\n}"));
}

// Runs `body(thread)` on each of `count` threads at once.
void OnThreads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back(body, t);
  for (std::thread& thread : threads) thread.join();
}

// oneDNN may sum in another order for another team (docs/numerics.md).
bool Agree(const absl::StatusOr<std::vector<NDArray>>& results, const NDArray& expected,
           LibraryChoice library) {
  if (!results.ok()) return false;
  if (library != LibraryChoice::kLibrary) return results->at(0).SameBytes(expected);
  return !verify::FirstDifference(results->at(0), expected, 1e-5).has_value();
}

class ConcurrencyTest : public ::testing::TestWithParam<LibraryChoice> {
 protected:
  static Executable Compiled(std::int64_t rows, const std::string& cache_dir = "") {
    CompileOptions options{.threads = 2, .library = GetParam()};
    options.cache_dir = cache_dir;
    return ValueOrThrow(Compile(Network(rows), options));
  }
};

TEST_P(ConcurrencyTest, SessionsOfDifferentTeamsShareAnExecutable) {
  const Executable executable = Compiled(3);
  const runtime::Inputs inputs = RandomInputs(Network(3), 1);
  const NDArray expected = ValueOrThrow(executable.Run(inputs)).at(0);
  std::atomic<int> wrong{0};
  OnThreads(6, [&](int t) {
    runtime::Session session(executable, {.threads = 1 + t % 3});
    for (int i = 0; i < 20; ++i) {
      if (!Agree(session.Run(inputs), expected, GetParam())) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(ConcurrencyTest, CompilesBesideRunsAndShareAFolder) {
  const verify::TemporaryFolder folder;
  const Executable executable = Compiled(2);
  const runtime::Inputs inputs = RandomInputs(Network(2), 2);
  const NDArray expected = ValueOrThrow(executable.Run(inputs)).at(0);
  std::atomic<int> wrong{0};
  OnThreads(4, [&](int t) {
    for (int i = 0; i < 3; ++i) {
      // Two threads compile the same, two run; what is compiled dies at once.
      const Executable other = t < 2 ? Compiled(2, folder.path().string()) : executable;
      if (!Agree(other.Run(inputs), expected, GetParam())) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(ConcurrencyTest, AModelOfManyShapesCompilesHotOnesWhileOthersRun) {
  const DynamicModel model = ValueOrThrow(DynamicModel::Make(
      Network("n"),
      {.compile = {.threads = 1, .library = GetParam()}, .hot_after = 2, .hot_shapes = 2}));
  std::vector<runtime::Inputs> given;
  std::vector<NDArray> expected;
  for (std::int64_t rows = 1; rows <= 4; ++rows) {
    given.push_back(RandomInputs(Network(rows), 3));
    expected.push_back(ValueOrThrow(Compiled(rows).Run(given.back())).at(0));
  }
  std::atomic<int> wrong{0};
  OnThreads(4, [&](int t) {
    for (std::size_t i = 0; i < 6; ++i) {
      const std::size_t which = (i + static_cast<std::size_t>(t)) % given.size();
      // Of another compile, which may sum in another order.
      if (!Agree(model.Run(given[which]), expected[which], LibraryChoice::kLibrary)) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Libraries, ConcurrencyTest,
                         ::testing::Values(LibraryChoice::kTe, LibraryChoice::kLibrary,
                                           LibraryChoice::kAuto),
                         [](const auto& named) {
                           switch (named.param) {
                             case LibraryChoice::kTe:
                               return "Te";
                             case LibraryChoice::kLibrary:
                               return "Library";
                             default:
                               return "Auto";
                           }
                         });

}  // namespace
}  // namespace tenon
