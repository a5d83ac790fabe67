// Exported programs whose arrays have other sizes in each run, against the executables in this
// process: the same bits in a library, and close results of the source.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "tenon/compiler/export.h"
#include "tenon/tests/compiler/control/counts.h"
#include "tenon/tests/testing/c_library.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using jit::CLibrary;
using jit::FailureOf;
using jit::ReadText;
using jit::ScopedFolder;
using runtime::Inputs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_counts::Count;
using testing_counts::WithCounts;
using testing_graphs::Parsed;
using testing_graphs::Random;

using RunFunction = std::int32_t (*)(const void* const*, const std::int64_t* const*, void**,
                                     std::int64_t* const*);

const CompileOptions kGenerated = {.threads = 1, .library = LibraryChoice::kTe};

NDArray Integer(std::int64_t value) { return NDArray::Scalar<std::int64_t>(value); }

struct Example {
  std::string text;
  std::vector<Inputs> runs;
};

Example AnIfOverVariables() {
  Example example{R"(
def @main(%c: bool, %x: Tensor[(n, 3), float32], %y: Tensor[(2*n + 1), float32]) {
  %0 = exp(%x);
  %1 = if (%c) { (add(%0, %x), %x) } else { (multiply(%0, negative(%x)), %0) };
  (%1.0, nn.softmax(%1.1), %y, sum(%y))
})",
                  {}};
  for (const std::int64_t n : {1, 2, 17, 40})
    example.runs.push_back({{"c", NDArray::Scalar(n % 2 == 0)},
                            {"x", Random({n, 3}, 1)},
                            {"y", Random({2 * n + 1}, 2)}});
  return example;
}

// A row is added in each turn, and all rows are read.
Example AGrowingLoop() {
  Example example{R"(
def @loop(%i: int64, %n: int64, %x: Tensor[(#c, 4), float32], %w: Tensor[(4, 4), float32]) -> Tensor[(#rows, 4), float32] {
  if (less(%i, %n)) {
    %0 = tanh(nn.dense(sum(%x, axis=[0], keepdims=True), %w));
    @loop(add(%i, 1i64), %n, concatenate((%x, %0), axis=0), %w)
  } else {
    take_first(%x, reshape(take(shape_of(%x, dtype="int64"), 0i64, axis=0), newshape=[1]), extent="#rows", keeps_name=True)
  }
}
def @main(%n: int64, %x: Tensor[(3, 4), float32], %w: Tensor[(4, 4), float32]) {
  %0 = @loop(0i64, %n, %x, %w);
  (exp(%0), sum(%0, axis=[0]))
})",
                  {}};
  for (const std::int64_t n : {0, 1, 2, 7, 40})
    example.runs.push_back({{"n", Integer(n)}, {"x", Random({3, 4}, 3)}, {"w", Random({4, 4}, 4)}});
  return example;
}

// Calls that wait have variables of their own.
Example ARecursionOfHalves() {
  return {R"(
def @halve(%x: Tensor[(#c), float32]) -> float32 {
  %0 = take(shape_of(%x, dtype="int64"), 0i64, axis=0);
  if (less(%0, 2i64)) { sum(%x) } else {
    %1 = take_first(%x, reshape(floor_divide(%0, 2i64), newshape=[1]), extent="#half");
    add(multiply(@halve(%1), 0.5f), max(%x))
  }
}
def @main(%x: Tensor[(n), float32], %y: Tensor[(21), float32]) {
  (@halve(concatenate((%x, %y), axis=0)), @halve(%y), @halve(%x))
})",
          {{{"x", Random({9}, 3)}, {"y", Random({21}, 4)}},
           {{"x", Random({1}, 5)}, {"y", Random({21}, 6)}}}};
}

// Rows as they lie together, and columns, which are copied. No column is cut to two and to one.
Example Cuts() {
  return {R"(
def @main(%x: Tensor[(9, 4), float32], %y: Tensor[(4, 4), float32], %n: Tensor[(1), int64]) {
  %k = take_first(%x, %n, extent="#k");
  %t = take_first(transpose(%x), %n, axis=1, extent="#k");
  (nn.softmax(%k), add(transpose(%t), %k), sum(%k, axis=[0]), mean(%t), concatenate((exp(%y), %k), axis=0),
   nn.dense(transpose(%k), %t), shape_of(%k, dtype="int64"), %x)
})",
          WithCounts({{"x", Random({9, 4}, 1)}, {"y", Random({4, 4}, 2)}}, {3, 0, 1, 9, 12, -3})};
}

Example ResultsOfUnknownExtent() {
  Example example{R"(
def @main(%x: Tensor[(n, 5), float32]) {
  %0 = argwhere(greater(%x, 0.2f));
  (%0, unique(reshape(cast(multiply(%x, 3f), dtype="int64"), newshape=[-1]), sorted=True), nn.relu(%x))
})",
                  {}};
  for (const std::int64_t n : {1, 3, 50}) example.runs.push_back({{"x", Random({n, 5}, 7)}});
  example.runs.push_back({{"x", NDArray::Zeros({4, 5}, Float32)}});
  return example;
}

Example NumbersBelowAValue() {
  Example example{R"(
def @main(%n: Tensor[(1), int64], %x: Tensor[(6), float32]) {
  %0 = count_up(%n, extent="#n");
  (multiply(%0, 3i64), take(%x, %0, axis=0, mode="wrap"))
})",
                  {}};
  for (const std::int64_t n : {0, 1, 2, 100})
    example.runs.push_back({{"n", Count(n)}, {"x", Random({6}, 8)}});
  return example;
}

Example AWriteOfVariableRows() {
  Example example{R"(
def @fill(%i: int64, %n: int64, %x: Tensor[(m, 2), float32]) -> Tensor[(m, 2), float32] {
  if (less(%i, %n)) {
    %0 = reshape(%i, newshape=[1]);
    @fill(add(%i, 1i64), %n, scatter_nd(%x, %0, multiply(take(%x, %i, axis=0), 2f)))
  } else { %x }
}
def @main(%n: int64, %x: Tensor[(m, 2), float32]) { (@fill(0i64, %n, %x), %x) })",
                  {}};
  for (const std::int64_t n : {1, 4, 6})
    example.runs.push_back({{"n", Integer(n)}, {"x", Random({n + 2, 2}, 5)}});
  return example;
}

// What a run gives: a status and, if it is 0, the results.
struct Outcome {
  std::int32_t status = 0;
  std::vector<NDArray> results;
};

Outcome Ran(RunFunction run, const LoweredProgram& program, const Inputs& inputs) {
  std::vector<const void*> in;
  std::vector<const std::int64_t*> shapes;
  for (const runtime::Node& node : program.whole.plan.nodes) {
    in.push_back(inputs.at(node.name).raw());
    shapes.push_back(inputs.at(node.name).shape().data());
  }
  const std::vector<runtime::ArrayType>& types = program.program.functions[0].result_types;
  const std::size_t count = types.size() - program.program.extents.size();
  std::vector<void*> out(count, &in);
  std::vector<Shape> out_shapes;
  std::vector<std::int64_t*> places;
  for (std::size_t k = 0; k < count; ++k) out_shapes.emplace_back(types[k].extents.size(), -1);
  for (Shape& shape : out_shapes) places.push_back(shape.data());
  Outcome outcome;
  outcome.status = run(in.data(), shapes.data(), out.data(), places.data());
  for (std::size_t k = 0; k < count; ++k) {
    EXPECT_EQ(out[k] == nullptr, outcome.status != 0);
    if (out[k] == nullptr) continue;
    outcome.results.push_back(
        NDArray::View(out_shapes[k], types[k].dtype, out[k], nullptr).Clone());
    free(out[k]);  // NOLINT: it is from malloc
  }
  return outcome;
}

class ExportVariablesTest : public ::testing::TestWithParam<Example (*)()> {};

TEST_P(ExportVariablesTest, ALibraryGivesTheBitsOfTheExecutable) {
  const Example example = GetParam()();
  const ir::Module module = Parsed(example.text);
  const LoweredProgram program = ValueOrThrow(LowerProgram(module, kGenerated));
  const Executable exe = ValueOrThrow(Compile(module, kGenerated));
  const ScopedFolder folder;
  ASSERT_EQ(ExportSharedLibrary(program, folder / "net.so"), absl::OkStatus());
  void* const handle = dlopen((folder / "net.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  const auto run = reinterpret_cast<RunFunction>(dlsym(handle, "net_run"));
  for (const Inputs& inputs : example.runs) {
    const std::vector<NDArray> wanted = ValueOrThrow(exe.Run(inputs));
    const NDArray x = inputs.at("x").Clone();
    const Outcome got = Ran(run, program, inputs);
    ASSERT_EQ(got.status, 0);
    ASSERT_EQ(got.results.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(got.results[i].shape(), wanted[i].shape()) << "result " << i;
      EXPECT_TRUE(got.results[i].SameBytes(wanted[i])) << "result " << i;
    }
    EXPECT_TRUE(inputs.at("x").SameBytes(x));
  }
  dlclose(handle);
}

TEST_P(ExportVariablesTest, TheSourceIsStrictCAndCpp) {
  const Example example = GetParam()();
  const ir::Module module = Parsed(example.text);
  const LoweredProgram program = ValueOrThrow(LowerProgram(module, kGenerated));
  const Executable exe = ValueOrThrow(Compile(module, kGenerated));
  const std::string source = ValueOrThrow(CSource(program));
  for (const char* compiler :
       {jit::kStrictC,
        "g++ -x c++ -std=c++17 -Wall -Wextra -Werror -shared -fPIC -O1 -fsanitize=undefined"}) {
    const CLibrary library(source, compiler);
    ASSERT_EQ(library.failure(), "");
    const auto run = library.Find<RunFunction>("model_run");
    for (const Inputs& inputs : example.runs) {
      const Outcome got = Ran(run, program, inputs);
      ASSERT_EQ(got.status, 0);
      testing_graphs::ExpectClose(got.results, ValueOrThrow(exe.Run(inputs)), 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, ExportVariablesTest,
                         ::testing::Values(AnIfOverVariables, AGrowingLoop, ARecursionOfHalves,
                                           Cuts, ResultsOfUnknownExtent, NumbersBelowAValue,
                                           AWriteOfVariableRows));

// A program of its own, whose memory the address sanitizer watches.
TEST(ExportVariablesTest, NothingIsLostAndNothingIsReadThatWasFreed) {
  const LoweredProgram program =
      ValueOrThrow(LowerProgram(Parsed(AGrowingLoop().text), kGenerated));
  const ScopedFolder folder;
  jit::WriteText(folder / "model.c", ValueOrThrow(CSource(program)));
  jit::WriteText(folder / "main.c", R"(
#include <stdint.h>
#include <stdlib.h>
int32_t model_run(const void* const*, const int64_t* const*, void**, int64_t* const*);
int main(void) {
  const int64_t n = 20, x_shape[] = {3, 4}, w_shape[] = {4, 4};
  const int64_t* shapes[] = {NULL, x_shape, w_shape};
  int64_t shape0[2], shape1[1];
  int64_t* const output_shapes[] = {shape0, shape1};
  void* outputs[2];
  float x[12] = {1}, w[16] = {0.5f};
  const void* inputs[] = {&n, x, w};
  int status = model_run(inputs, shapes, outputs, output_shapes);
  if (shape0[0] != 23 || shape0[1] != 4 || shape1[0] != 4) status = 9;
  free(outputs[0]);
  free(outputs[1]);
  return status;
})");
  ASSERT_EQ(
      FailureOf(StrCat("gcc -std=c99 -g -O1 -fsanitize=address,undefined ", folder / "model.c", " ",
                       folder / "main.c", " -lm -o ", folder / "main"),
                folder),
      "");
  EXPECT_EQ(FailureOf(folder / "main", folder), "");
}

TEST(ExportVariablesTest, ShapesAndValuesThatDoNotFitAreRefused) {
  const std::string text = R"(
def @main(%x: Tensor[(n, 4), float32], %y: Tensor[(n), float32], %z: Tensor[(9), int64], %a: Tensor[(1), int64], %b: Tensor[(1), int64]) {
  %0 = count_up(%a, extent="#m");
  (add(sum(%x, axis=[1]), %y), add(%0, take_first(%z, %b, extent="#m")))
})";
  const LoweredProgram program = ValueOrThrow(LowerProgram(Parsed(text), kGenerated));
  const Executable exe = ValueOrThrow(Compile(Parsed(text), kGenerated));
  const CLibrary library(ValueOrThrow(CSource(program)));
  ASSERT_EQ(library.failure(), "");
  const auto run = library.Find<RunFunction>("model_run");
  const struct {
    Shape x, y;
    std::int64_t a, b;
    std::int32_t status;
  } kCases[] = {{{3, 4}, {3}, 5, 5, 0},  {{3, 4}, {2}, 5, 5, 2},
                {{3, 5}, {3}, 5, 5, 2},  {{3, 4}, {3}, 5, 4, 2},
                {{3, 4}, {3}, -1, 0, 2}, {{3, 4}, {3}, 0, 0, 0},
                {{0, 4}, {0}, 5, 5, 2},  {{3, 4}, {3}, std::int64_t{1} << 40, 5, 2}};
  for (const auto& c : kCases) {
    const Inputs inputs = {{"x", Random(c.x, 1)},
                           {"y", Random(c.y, 2)},
                           {"z", NDArray::Zeros({9}, Int64)},
                           {"a", Count(c.a)},
                           {"b", Count(c.b)}};
    EXPECT_EQ(exe.Run(inputs).ok(), c.status == 0) << c.a << " " << c.b;
    EXPECT_EQ(Ran(run, program, inputs).status, c.status) << c.a << " " << c.b;
  }
}

// Only counts vary, so nothing but the shapes of numbers says how much is read.
TEST(ExportVariablesTest, ShapesOfNumbersAreComparedToo) {
  const LoweredProgram program = ValueOrThrow(
      LowerProgram(Parsed("def @main(%x: Tensor[(9, 4), float32], %n: Tensor[(1), int64]) { "
                          "exp(take_first(%x, %n, extent=\"#k\")) }"),
                   kGenerated));
  const CLibrary library(ValueOrThrow(CSource(program)));
  ASSERT_EQ(library.failure(), "");
  const auto run = library.Find<RunFunction>("model_run");
  EXPECT_EQ(Ran(run, program, {{"x", Random({9, 4}, 1)}, {"n", Count(7)}}).status, 0);
  EXPECT_EQ(Ran(run, program, {{"x", Random({5, 4}, 1)}, {"n", Count(3)}}).status, 2);
  EXPECT_EQ(Ran(run, program, {{"x", Random({9, 4}, 1)}, {"n", NDArray::Zeros({2}, Int64)}}).status,
            2);
}

// The bytes are as many, but the extents are others, which only the run knows.
TEST(ExportVariablesTest, AnElementOfOtherExtentsIsNotWritten) {
  const std::string text = R"(
def @main(%x: Tensor[(5, 2, 6), float32], %i: Tensor[(1), int64], %u: Tensor[(4, 8), float32],
          %a: Tensor[(1), int64], %b: Tensor[(1), int64]) {
  %0 = take_first(%u, %a, extent="#a");
  %1 = take_first(%0, %b, axis=1, extent="#b");
  scatter_nd(%x, %i, %1, mode="update")
})";
  const LoweredProgram program = ValueOrThrow(LowerProgram(Parsed(text), kGenerated));
  const Executable exe = ValueOrThrow(Compile(Parsed(text), kGenerated));
  const CLibrary library(ValueOrThrow(CSource(program)));
  ASSERT_EQ(library.failure(), "");
  const auto run = library.Find<RunFunction>("model_run");
  for (const auto& [a, b] : {std::pair<int, int>(2, 6), {3, 4}}) {
    const Inputs inputs = {{"x", Random({5, 2, 6}, 1)},
                           {"i", Count(3)},
                           {"u", Random({4, 8}, 2)},
                           {"a", Count(a)},
                           {"b", Count(b)}};
    const auto wanted = exe.Run(inputs);
    EXPECT_EQ(wanted.ok(), a == 2);
    const Outcome got = Ran(run, program, inputs);
    EXPECT_EQ(got.status, wanted.ok() ? 0 : 2);
    if (wanted.ok()) {
      EXPECT_TRUE(got.results.at(0).SameBytes(wanted->at(0)));
    }
  }
}

TEST(ExportVariablesTest, TheHeaderTellsWhoseMemoryResultsAre) {
  const ScopedFolder folder;
  const LoweredProgram program = ValueOrThrow(LowerProgram(Parsed(Cuts().text), kGenerated));
  ASSERT_EQ(ExportObject(program, folder / "net.o"), absl::OkStatus());
  EXPECT_THAT(
      ReadText(folder / "net.h"),
      AllOf(HasSubstr("#define NET_NUM_OUTPUTS 8"), HasSubstr("outputs[0]: float32 (#k, 4)"),
            HasSubstr("outputs[k] is taken from malloc, and the caller frees it"),
            HasSubstr("int32_t net_run(const void* const* inputs, const int64_t* const* shapes, "
                      "void** outputs, int64_t* const* output_shapes)")));
}

}  // namespace
}  // namespace tenon
