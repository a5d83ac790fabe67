// Counts of 0: the code that is made for all counts takes them, and saved programs do, too. Results
// are those of the interpreter.
#include <algorithm>
#include <string>
#include <vector>

#include "tenon/compiler/save_executable.h"
#include "tenon/runtime/saved_executable.h"
#include "tenon/tests/compiler/control/counts.h"
#include "tenon/tests/testing/c_library.h"

namespace tenon {
namespace {

using jit::ScopedFolder;
using testing_counts::ExpectRuns;
using testing_counts::Interpreted;
using testing_counts::Rows;
using testing_counts::WithCounts;
using testing_graphs::ExpectClose;
using testing_graphs::Parsed;

// %k has as many rows of %x as %n says, %y four.
struct EmptyCase {
  const char* name;
  const char* body;
};
void PrintTo(const EmptyCase& c, std::ostream* out) { *out << c.name; }

const EmptyCase kCases[] = {
    {"sums", "(sum(%k, axis=[0]), mean(%k), prod(%k, axis=[0], keepdims=True), sum(exp(%k)))"},
    {"extrema", "(max(%k, axis=[0]), min(%k), nn.relu(max(%k, axis=[0])))"},
    {"softmax", "(nn.softmax(%k), nn.softmax(%k, axis=0), nn.log_softmax(%k))"},
    {"norms",
     "nn.layer_norm(%k, ones(shape=[4], dtype=\"float32\"), "
     "zeros(shape=[4], dtype=\"float32\"))"},
    {"extents", "(shape_of(%k, dtype=\"int64\"), add(ndarray_size(%k, dtype=\"int64\"), 1i64))"},
    {"joins", "(concatenate((%k, %y), axis=0), concatenate((exp(%y), tanh(%k), %k), axis=0))"},
    {"joins_of_reshapes",
     "concatenate((reshape(exp(%k), newshape=[-1]), reshape(transpose(%y), newshape=[-1])))"},
    {"borders",
     "(nn.pad(%k, 7f, pad_width=[[1, 2], [0, 1]]), nn.relu(nn.pad(tanh(%k), 0f, "
     "pad_width=[[0, 1], [0, 0]])))"},
    {"products", "nn.dense(transpose(%k), transpose(%k))"},
    {"products_of_empty_rows", "nn.dense(%k, %y)"},
    {"less_the_mean",
     "(multiply(subtract(%k, mean(%k, axis=[0], keepdims=True)), 2f), "
     "add(%y, sum(%k, axis=[0])))"},
    {"cumulative", "cumsum(%k, axis=0)"},
    {"padded_images",
     "%i = reshape(%k, newshape=[1, 1, -1, 4]); "
     "(nn.conv2d(%i, ones(shape=[2, 1, 3, 3], dtype=\"float32\"), padding=[2, 1]), "
     "nn.avg_pool2d(%i, pool_size=[2, 2], padding=[1, 1], count_include_pad=True))"},
    {"scattered",
     "scatter_elements(%y, zeros_like(cast(%k, dtype=\"int64\")), %k, axis=0, reduction=\"add\")"},
    {"scattered_slices",
     "scatter_nd(%y, zeros_like(cast(strided_slice(transpose(%k), begin=[0], end=[1], axes=[0]), "
     "dtype=\"int64\")), %k, mode=\"add\")"},
    {"gathered",
     "(take(%y, cast(strided_slice(%k, begin=[0], end=[1], axes=[1]), "
     "dtype=\"int64\"), axis=0, mode=\"clip\"), take(%k, zeros_like(cast(%k, "
     "dtype=\"int64\")), axis=1))"},
    {"suppressed",
     "vision.all_class_non_max_suppression(expand_dims(%k, axis=0), "
     "expand_dims(expand_dims(sum(%k, axis=[1]), axis=0), axis=0), 5i64, 0.5f, 0f)"},
    {"sorted", "(argsort(%k, axis=0), sort(%k, axis=0))"},
    {"steps", "sum(nn.relu(%k), axis=[1])"},
};

class EmptyCountsTest : public ::testing::TestWithParam<EmptyCase> {
 protected:
  static std::string Text() {
    return "def @main(%x: Tensor[(9, 4), float32], %y: Tensor[(4, 4), float32], "
           "%n: Tensor[(1), int64]) { %k = take_first(%x, %n); " +
           std::string(GetParam().body) + " }";
  }
  static std::vector<runtime::Inputs> Runs() {
    return WithCounts({{"x", Rows(9, 4)}, {"y", Rows(4, 4)}}, {0, 3, 1, 9, 0});
  }
};

TEST_P(EmptyCountsTest, ACountOf0MakesNoCode) {
  ExpectRuns(Text(), Runs());
  int made = 0;
  const Executable exe = ValueOrThrow(Compile(
      Parsed(Text()), {.loop_observer = [&](const auto& step) { made += step.name == "Nests"; }}));
  const int before = made;
  ExpectClose(ValueOrThrow(exe.Run(Runs()[0])), Interpreted(Parsed(Text()), Runs()[0]));
  EXPECT_EQ(made, before);
}

TEST_P(EmptyCountsTest, SavedProgramsTakeACountOf0WithTheSameCode) {
  const ScopedFolder folder;
  const LoweredProgram lowered = ValueOrThrow(LowerProgram(Parsed(Text())));
  for (const auto& of_part : lowered.program.parts) {
    for (const auto& of_case : of_part.cases)
      EXPECT_FALSE(std::ranges::any_of(of_case.known, [](const auto& v) { return v.second == 0; }));
  }
  ASSERT_EQ(SaveExecutable(lowered, folder / "net"), absl::OkStatus());
  const Executable loaded = ValueOrThrow(runtime::LoadExecutable(folder / "net")).executable;
  for (const runtime::Inputs& inputs : Runs())
    ExpectClose(ValueOrThrow(loaded.Run(inputs)), Interpreted(Parsed(Text()), inputs));
}

INSTANTIATE_TEST_SUITE_P(Operators, EmptyCountsTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon
