// Exported programs against the executables in this process: the same bits in a library, and close
// results of the source that a C compiler makes code of.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tenon/compiler/export.h"
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
using testing_graphs::Parsed;
using testing_graphs::Random;

using RunFunction = std::int32_t (*)(const void* const*, void* const*, void*);

const CompileOptions kGenerated = {.threads = 1, .library = LibraryChoice::kTe};

NDArray Integer(std::int64_t value) { return NDArray::Scalar<std::int64_t>(value); }

struct Example {
  std::string text;
  std::vector<Inputs> runs;
};

// A part before an if, and another number of results than arguments.
Example AnIf() {
  Example example{R"(
def @main(%c: bool, %x: Tensor[(5), float32], %y: Tensor[(5), float32]) {
  %0 = exp(%x);
  %1 = if (%c) { (add(%0, %y), %x) } else { (multiply(%0, negative(%x)), %y) };
  (%1.0, nn.softmax(%1.1), %y, %1.0)
})",
                  {}};
  for (const bool c : {true, false})
    example.runs.push_back(
        {{"c", NDArray::Scalar(c)}, {"x", Random({5}, 1)}, {"y", Random({5}, 2)}});
  return example;
}

// A call in the last place, which takes no memory for its turns.
Example ALoop() {
  Example example{R"(
def @loop(%i: int64, %n: int64, %x: Tensor[(3, 7), float32], %w: Tensor[(7, 7), float32])
    -> (int64, Tensor[(3, 7), float32]) {
  if (less(%i, %n)) { @loop(add(%i, 1i64), %n, tanh(multiply(nn.dense(%x, %w), 0.25f)), %w) } else { (%i, %x) }
}
def @main(%n: int64, %x: Tensor[(3, 7), float32], %w: Tensor[(7, 7), float32]) {
  @loop(0i64, %n, %x, %w)
})",
                  {}};
  for (const std::int64_t n : {0, 1, 20000})
    example.runs.push_back({{"n", Integer(n)}, {"x", Random({3, 7}, 3)}, {"w", Random({7, 7}, 4)}});
  return example;
}

// Elements of a carried array are replaced. The first turn must not write to the input.
Example AWrite() {
  Example example{R"(
def @fill(%i: int64, %n: int64, %x: Tensor[(6, 2), float32]) -> Tensor[(6, 2), float32] {
  if (less(%i, %n)) {
    %0 = reshape(%i, newshape=[1]);
    @fill(add(%i, 1i64), %n, scatter_nd(%x, %0, multiply(take(%x, %i, axis=0), 2f)))
  } else { %x }
}
def @main(%n: int64, %x: Tensor[(6, 2), float32]) { (@fill(0i64, %n, %x), %x) })",
                  {}};
  for (const std::int64_t n : {0, 1, 6})
    example.runs.push_back({{"n", Integer(n)}, {"x", Random({6, 2}, 5)}});
  return example;
}

// Calls that wait for each other.
Example ATree() {
  Example example{R"(
def @fib(%n: int64, %x: Tensor[(3), float32]) -> Tensor[(3), float32] {
  if (less(%n, 2i64)) { multiply(%x, 0.5f) }
  else { add(@fib(subtract(%n, 1i64), %x), multiply(@fib(subtract(%n, 2i64), exp(%x)), 0.25f)) }
}
def @main(%n: int64, %x: Tensor[(3), float32]) { (@fib(%n, %x), @fib(0i64, %x)) })",
                  {}};
  for (const std::int64_t n : {0, 1, 2, 9})
    example.runs.push_back({{"n", Integer(n)}, {"x", Random({3}, 6)}});
  return example;
}

std::vector<NDArray> Ran(RunFunction run, const LoweredProgram& program, const Inputs& inputs,
                         void* workspace = nullptr) {
  std::vector<const void*> in;
  for (const runtime::Node& node : program.whole.plan.nodes)
    in.push_back(inputs.at(node.name).raw());
  std::vector<NDArray> results;
  std::vector<void*> out;
  for (const runtime::ArrayType& type : program.program.functions[0].result_types) {
    Shape shape;
    for (const Dim& extent : type.extents) shape.push_back(extent.value());
    results.push_back(NDArray::Zeros(shape, type.dtype));
    out.push_back(results.back().raw());
  }
  EXPECT_NE(run, nullptr);
  if (run == nullptr) return results;
  EXPECT_EQ(run(in.data(), out.data(), workspace), 0);
  return results;
}

class ExportProgramTest : public ::testing::TestWithParam<Example (*)()> {};

TEST_P(ExportProgramTest, ALibraryGivesTheBitsOfTheExecutable) {
  const Example example = GetParam()();
  const ir::Module module = Parsed(example.text);
  const LoweredProgram program = ValueOrThrow(LowerProgram(module, kGenerated));
  const Executable exe = ValueOrThrow(Compile(module, kGenerated));
  const ScopedFolder folder;
  ASSERT_EQ(ExportSharedLibrary(program, folder / "net.so"), absl::OkStatus());
  void* const handle = dlopen((folder / "net.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  const auto run = reinterpret_cast<RunFunction>(dlsym(handle, "net_run"));
  std::vector<char> workspace(1 << 20);
  for (const Inputs& inputs : example.runs) {
    const std::vector<NDArray> wanted = ValueOrThrow(exe.Run(inputs));
    const NDArray x = inputs.at("x").Clone();
    for (void* memory : {static_cast<void*>(nullptr), static_cast<void*>(workspace.data() + 1)}) {
      const std::vector<NDArray> got = Ran(run, program, inputs, memory);
      ASSERT_EQ(got.size(), wanted.size());
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_TRUE(got[i].SameBytes(wanted[i])) << "result " << i;
      EXPECT_TRUE(inputs.at("x").SameBytes(x));
    }
  }
  dlclose(handle);
}

TEST_P(ExportProgramTest, TheSourceIsStrictCAndCpp) {
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
    for (const Inputs& inputs : example.runs)
      testing_graphs::ExpectClose(Ran(run, program, inputs), ValueOrThrow(exe.Run(inputs)), 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, ExportProgramTest,
                         ::testing::Values(AnIf, ALoop, AWrite, ATree));

// A program of its own, whose memory the address sanitizer watches.
TEST(ExportProgramTest, NothingIsLostAndNothingIsReadThatWasFreed) {
  for (const auto& [example, n] : {std::pair(ALoop(), 300), {AWrite(), 6}, {ATree(), 9}}) {
    const LoweredProgram program = ValueOrThrow(LowerProgram(Parsed(example.text), kGenerated));
    const ScopedFolder folder;
    jit::WriteText(folder / "model.c", ValueOrThrow(CSource(program)));
    jit::WriteText(folder / "main.c",
                   StrCat("#include <stdint.h>\n#include <stdlib.h>\n"
                          "int32_t model_run(const void* const*, void* const*, void*);\n"
                          "int main(void) {\n  int64_t n = ",
                          n,
                          ";\n  const void* inputs[3];\n  void* outputs[2];\n  int i;\n"
                          "  inputs[0] = &n;\n"
                          "  for (i = 0; i < 2; ++i) inputs[i + 1] = calloc(64, 4);\n"
                          "  for (i = 0; i < 2; ++i) outputs[i] = calloc(64, 4);\n"
                          "  i = model_run(inputs, outputs, NULL);\n"
                          "  free((void*)inputs[1]);\n  free((void*)inputs[2]);\n"
                          "  free(outputs[0]);\n  free(outputs[1]);\n  return i;\n}\n"));
    ASSERT_EQ(
        FailureOf(StrCat("gcc -std=c99 -g -O1 -fsanitize=address,undefined ", folder / "model.c",
                         " ", folder / "main.c", " -lm -o ", folder / "main"),
                  folder),
        "");
    EXPECT_EQ(FailureOf(folder / "main", folder), "");
  }
}

TEST(ExportProgramTest, RecursionHasALimit) {
  const std::string text = R"(
def @deep(%n: int64, %x: Tensor[(2), float32]) -> Tensor[(2), float32] {
  if (less(%n, 1i64)) { %x } else { add(@deep(subtract(%n, 1i64), %x), 1f) }
}
def @main(%n: int64, %x: Tensor[(2), float32]) { @deep(%n, %x) })";
  const LoweredProgram program = ValueOrThrow(LowerProgram(Parsed(text), kGenerated));
  const Executable exe = ValueOrThrow(Compile(Parsed(text), kGenerated));
  const CLibrary library(ValueOrThrow(CSource(program)));
  ASSERT_EQ(library.failure(), "");
  const auto run = library.Find<RunFunction>("model_run");
  const NDArray x = Random({2}, 7), y = Random({2}, 8);
  for (const std::int64_t n : {100, 4998, 5000, 9998, 10000, 100000}) {
    const NDArray count = Integer(n);
    const void* in[] = {count.raw(), x.raw()};
    void* out[] = {y.raw()};
    const bool is_run = exe.Run({{"n", count}, {"x", x}}).ok();
    EXPECT_EQ(run(in, out, nullptr), is_run ? 0 : 4) << n;
  }
}

// Nothing is written of such functions, and nothing may be left over of them.
TEST(ExportProgramTest, CallsWithoutEndAreStrictC) {
  const std::string forever =
      "def @forever(%x: Tensor[(3), float32]) -> Tensor[(3), float32] { @forever(exp(%x)) }\n";
  const NDArray no = NDArray::Scalar(false), yes = NDArray::Scalar(true), x = Random({3}, 9);
  const struct {
    const char* main;
    std::vector<const void*> inputs;
    std::int32_t status;
  } kCases[] = {
      {"def @main(%c: bool, %x: Tensor[(3), float32]) { if (%c) { @forever(%x) } else { %x } }",
       {no.raw(), x.raw()},
       0},
      {"def @main(%c: bool, %x: Tensor[(3), float32]) { if (%c) { @forever(%x) } else { %x } }",
       {yes.raw(), x.raw()},
       4},
      {"def @main(%x: Tensor[(3), float32]) { @forever(%x) }", {x.raw()}, 4}};
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.main);
    const CLibrary library(
        ValueOrThrow(CSource(ValueOrThrow(LowerProgram(Parsed(forever + c.main), kGenerated)))));
    ASSERT_EQ(library.failure(), "");
    const NDArray y = NDArray::Zeros({3}, Float32);
    void* outputs[] = {y.raw()};
    EXPECT_EQ(library.Find<RunFunction>("model_run")(c.inputs.data(), outputs, nullptr), c.status);
    EXPECT_EQ(y.SameBytes(x), c.status == 0);
  }
}

TEST(ExportProgramTest, TheHeaderTellsWhatItTakes) {
  const ScopedFolder folder;
  const LoweredProgram program = ValueOrThrow(LowerProgram(Parsed(ALoop().text), kGenerated));
  ASSERT_EQ(ExportObject(program, folder / "net.o"), absl::OkStatus());
  EXPECT_THAT(ReadText(folder / "net.h"),
              AllOf(HasSubstr("#define NET_NUM_INPUTS 3"), HasSubstr("#define NET_NUM_OUTPUTS 2"),
                    HasSubstr("inputs[0]: n, int64 (), 8 bytes"),
                    HasSubstr("outputs[1]: float32 (3, 7), 84 bytes"),
                    HasSubstr("4 when more than 10000 calls wait for others")));
}

}  // namespace
}  // namespace tenon
