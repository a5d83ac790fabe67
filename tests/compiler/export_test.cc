// Exported code, loaded or linked as a user would, against the executable in this process. A
// library holds the very code that the executable runs, so that results agree in every bit.
#include "tenon/compiler/export.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>

#include "tenon/compiler/export/run_program.h"
#include "tenon/jit/host_target.h"
#include "tenon/jit/kernel.h"
#include "tenon/jit/object/object_code.h"
#include "tenon/ops/builders.h"
#include "tenon/schedule/lower.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/testing/c_library.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using jit::FailureOf;
using jit::ReadText;
using jit::ScopedFolder;
using jit::WriteText;
using runtime::NodeKind;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing_graphs::ExpectClose;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

// Convolutions, views, a reduction, two results of which one is an input seen otherwise.
ir::Module Classifier() {
  return Parsed(
      "def @main(%x: Tensor[(1, 3, 9, 11), float32], %w: Tensor[(8, 3, 3, 3), float32],\n"
      "          %b: Tensor[(8), float32], %v: Tensor[(5, 8), float32]) {\n"
      "  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);\n"
      "  %1 = nn.relu(nn.bias_add(%0, %b));\n"
      "  %2 = nn.max_pool2d(%1, pool_size=[2, 2], strides=[2, 2]);\n"
      "  %3 = nn.batch_flatten(nn.global_avg_pool2d(%2));\n"
      "  %4 = nn.softmax(nn.dense(%3, %v));\n"
      "  (%4, reshape(%x, newshape=[3, 99]), %3, %4)\n}\n");
}

// Large enough for its weights to be a constant array of their own.
ir::Module WithConstants() {
  const NDArray weight = testing_graphs::Random({17, 33}, 7);
  const ir::Var x = ir::Var::Make("x", ir::TensorType({4, 33}, Float32));
  return ir::Module::FromExpr(ops::Relu(ops::Dense(ops::Exp(x), ir::Constant::Make(weight))));
}

// Kernels that call library functions.
ir::Module Sorter() {
  return Parsed(
      "def @main(%x: Tensor[(3, 65), float32], %u: Tensor[(3, 65), float32]) {\n"
      "  %0 = topk(%x, k=7, dtype=\"int64\");\n"
      "  (%0.0, %0.1, scatter_elements(%u, argsort(%x), %x, axis=1, reduction=\"add\"))\n}\n");
}

// Its only constant has no elements.
ir::Module WithAnEmptyConstant() {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({0, 17}, Int32));
  return ir::Module::FromExpr(
      ops::BiasAdd(x, ir::Constant::Make(NDArray::Zeros({0}, Int32)), {.axis = 0}));
}

// Nothing that is computed on the way has elements.
ir::Module WithoutElements() {
  return Parsed(
      "def @main(%x: Tensor[(7), float32]) {\n"
      "  %0 = strided_slice(%x, begin=[0], end=[0]);\n"
      "  (max(nn.softmax(%0), axis=[0], keepdims=True), %0, %x)\n}\n");
}

Lowered LoweredFor(const ir::Module& module) {
  return ValueOrThrow(Lower(module, {.library = LibraryChoice::kTe}));
}

std::vector<NDArray> Executed(const ir::Module& module, const runtime::Inputs& inputs,
                              const CompileOptions& options = {.library = LibraryChoice::kTe}) {
  return testing_graphs::Outcome(module, inputs, options);
}

class Library {
 public:
  explicit Library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) ADD_FAILURE() << dlerror();
  }
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  template <typename Function>
  Function Find(const std::string& name) const {
    void* found = handle_ != nullptr ? dlsym(handle_, name.c_str()) : nullptr;
    if (found == nullptr) ADD_FAILURE() << "no symbol " << name;
    return reinterpret_cast<Function>(found);
  }

 private:
  void* handle_;
};

using RunFunction = std::int32_t (*)(const void* const*, void* const*, void*);

// The results of `run` for a plan's inputs and outputs.
std::vector<NDArray> Ran(RunFunction run, const runtime::Plan& plan, const runtime::Inputs& inputs,
                         void* workspace = nullptr) {
  std::vector<const void*> in;
  std::vector<NDArray> results;
  std::vector<void*> out;
  for (const runtime::Node& node : plan.nodes) {
    if (node.kind == NodeKind::kInput) in.push_back(inputs.at(node.name).raw());
  }
  for (const runtime::EntryRef head : plan.heads) {
    results.push_back(NDArray::Zeros(plan.entry(head).shape, plan.entry(head).dtype));
    out.push_back(results.back().raw());
  }
  if (run == nullptr) return results;
  EXPECT_EQ(run(in.data(), out.data(), workspace), 0);
  return results;
}

void ExpectSameBytes(const std::vector<NDArray>& got, const std::vector<NDArray>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(got[i].SameBytes(wanted[i])) << "result " << i;
}

TEST(ExportTest, ASharedLibraryGivesTheBitsOfTheExecutable) {
  const ScopedFolder folder;
  for (const ir::Module& module :
       {Classifier(), WithConstants(), Sorter(), WithoutElements(), WithAnEmptyConstant()}) {
    const Lowered lowered = LoweredFor(module);
    const runtime::Inputs inputs = RandomInputs(module, 3);
    ASSERT_EQ(ExportSharedLibrary(lowered, folder / "net.so"), absl::OkStatus());
    const std::vector<NDArray> wanted = Executed(module, inputs);
    const Library library(folder / "net.so");
    const auto run = library.Find<RunFunction>("net_run");
    ExpectSameBytes(Ran(run, lowered.plan, inputs), wanted);
    std::vector<char> workspace(1 << 20);
    ExpectSameBytes(Ran(run, lowered.plan, inputs, workspace.data() + 1), wanted);
  }
}

// The graph as one C file, compiled without Tenon.
TEST(ExportTest, S001_39_ACSourceCompilesAloneAndAgrees) {
  for (const ir::Module& module : {Classifier(), WithConstants(), Sorter(), WithoutElements()}) {
    const ScopedFolder folder;
    const Lowered lowered = LoweredFor(module);
    const runtime::Inputs inputs = RandomInputs(module, 4);
    ASSERT_EQ(ExportCSource(lowered, folder / "out/"), absl::OkStatus());
    EXPECT_THAT(ReadText(folder / "out/model.h"),
                AllOf(HasSubstr("extern \"C\" {"), HasSubstr("int32_t model_run("),
                      HasSubstr("MODEL_WORKSPACE_BYTES"), HasSubstr("inputs[0]: x, float32")));
    const std::string c = folder / "out/model.c";
    ASSERT_EQ(FailureOf(StrCat(jit::kStrictC, " ", c, " -lm -o ", folder / "model.so"), folder),
              "");
    const Library library(folder / "model.so");
    ExpectClose(Ran(library.Find<RunFunction>("model_run"), lowered.plan, inputs),
                Executed(module, inputs), 1e-5);
    // The same text is C++, and uses threads when the compiler is told to.
    ASSERT_EQ(
        FailureOf(StrCat("g++ -x c++ -std=c++17 -Wall -Wextra -Werror -fopenmp -shared -fPIC ",
                         "-O1 ", c, " -lm -o ", folder / "cxx.so"),
                  folder),
        "");
    const Library cxx(folder / "cxx.so");
    ExpectClose(Ran(cxx.Find<RunFunction>("model_run"), lowered.plan, inputs),
                Executed(module, inputs), 1e-5);
  }
}

TEST(ExportTest, ALibraryNeedsNeitherLlvmNorOneDnn) {
  const ScopedFolder folder;
  ASSERT_EQ(ExportSharedLibrary(LoweredFor(Classifier()), folder / "net.so"), absl::OkStatus());
  ASSERT_EQ(FailureOf(StrCat("readelf -d ", folder / "net.so"), folder), "");
  const std::string needed = ReadText(folder / "said");
  EXPECT_THAT(needed, HasSubstr("libc.so"));
  for (const char* unwanted : {"LLVM", "dnnl", "absl", "tenon", "stdc++"})
    EXPECT_THAT(needed, Not(HasSubstr(StrCat("[lib", unwanted)))) << needed;
  // Nothing but the functions of the header is visible.
  ASSERT_EQ(FailureOf(StrCat("nm -D --defined-only ", folder / "net.so"), folder), "");
  const std::string symbols = ReadText(folder / "said"), header = ReadText(folder / "net.h");
  for (const std::string& line : StrSplit(symbols, '\n')) {
    if (line.empty()) continue;
    const std::string name = line.substr(line.rfind(' ') + 1);
    EXPECT_THAT(header, HasSubstr(StrCat("int32_t ", name, "(")));
  }
}

// A C program, compiled by gcc alone, with three exports inside whose kernels have equal names.
TEST(ExportTest, ACProgramLinksSeveralExportsAndCallsThem) {
  const ScopedFolder folder;
  const auto scaled = [](const char* factor) {
    return LoweredFor(Parsed(
        StrCat("def @main(%x: Tensor[(2, 3), float32]) { multiply(exp(%x), ", factor, "f) }")));
  };
  ASSERT_EQ(ExportObject(scaled("2"), folder / "first.o"), absl::OkStatus());
  ASSERT_EQ(ExportObject(scaled("3"), folder / "a-b.o"), absl::OkStatus());
  ASSERT_EQ(ExportSharedLibrary(scaled("4"), folder / "libthird.so", {.name = "third"}),
            absl::OkStatus());
  WriteText(folder / "main.c",
            "#include <stdio.h>\n#include \"first.h\"\n#include \"a-b.h\"\n"
            "#include \"libthird.h\"\n"
            "int main(void) {\n"
            "  const float x[6] = {0, 0, 0, 0, 0, 0};\n"
            "  float y[6];\n"
            "  const void* inputs[FIRST_NUM_INPUTS] = {x};\n"
            "  void* outputs[THIRD_NUM_OUTPUTS] = {y};\n"
            "  if (first_run(inputs, outputs, NULL) != 0) return 1;\n"
            "  printf(\"%g \", y[5]);\n"
            "  if (a_b_run(inputs, outputs, NULL) != 0) return 2;\n"
            "  printf(\"%g \", y[5]);\n"
            "  if (third_run(inputs, outputs, NULL) != 0) return 3;\n"
            "  printf(\"%g\\n\", y[5]);\n  return 0;\n}\n");
  ASSERT_EQ(FailureOf(StrCat("gcc -std=c99 -Wall -Wextra -Werror ", folder / "main.c", " ",
                             folder / "first.o", " ", folder / "a-b.o", " ", folder / "libthird.so",
                             " -fopenmp -lm -Wl,-rpath,", folder.path().string(), " -o ",
                             folder / "main"),
                      folder),
            "");
  EXPECT_EQ(FailureOf(folder / "main", folder), "");
  EXPECT_EQ(ReadText(folder / "said"), "2 3 4\n");
}

// Row sums of a matrix of any size, rows in parallel; the sums go through a buffer on the heap.
loop::Function RowSums() {
  const te::Var m("m"), n("n");
  const te::Tensor a = te::Placeholder({m, n}, Float32, "A");
  const te::Tensor doubled = te::Compute(
      {m, n}, [&](te::Var i, te::Var j) { return a(i, j) * 2.0F; }, "doubled");
  const te::IterVar k = te::ReduceAxis(0, n);
  const te::Tensor sums = te::Compute(
      {m}, [&](te::Var i) { return te::Sum(doubled(i, k.var), {k}); }, "sums");
  schedule::Schedule s(sums);
  s[doubled].Parallel(doubled.axis(0));
  s[sums].Parallel(sums.axis(0));
  return schedule::Lower(s, {a, sums}, "row_sums");
}

TEST(ExportTest, KernelsWithSymbolicExtentsAreExported) {
  const ScopedFolder folder;
  const loop::Function function = RowSums();
  ASSERT_EQ(ExportSharedLibrary({&function, 1}, folder / "kernels.so"), absl::OkStatus());
  EXPECT_THAT(ReadText(folder / "kernels.h"),
              AllOf(HasSubstr("A: float32 (m, n), sums: float32 (m)"),
                    HasSubstr("int32_t row_sums_direct(const float* A, float* sums, int64_t m, "
                              "int64_t n);")));
  const jit::Kernel kernel = ValueOrThrow(jit::Compile(function));
  const Library library(folder / "kernels.so");
  const auto direct =
      library.Find<std::int32_t (*)(const float*, float*, std::int64_t, std::int64_t)>(
          "row_sums_direct");
  const auto packed = library.Find<jit::PackedFunction>("row_sums");
  ASSERT_TRUE(direct != nullptr && packed != nullptr);
  for (const std::int64_t m : {0, 1, 17}) {
    for (const std::int64_t n : {1, 15, 64, 65}) {
      const NDArray a = testing_graphs::Random({m, n}, 5), wanted = NDArray::Zeros({m}, Float32),
                    given = NDArray::Zeros({m}, Float32);
      ASSERT_TRUE(kernel(a, wanted).ok());
      EXPECT_EQ(direct(a.data<float>(), given.data<float>(), m, n), 0);
      EXPECT_TRUE(given.SameBytes(wanted)) << m << ", " << n;
      jit::PackedTensor x = jit::CLibrary::Packed(a), y = jit::CLibrary::Packed(given);
      void* args[] = {&x, &y};
      std::int32_t codes[] = {7, 7};
      EXPECT_EQ(packed(args, codes, 2, nullptr, nullptr, nullptr), 0);
      EXPECT_TRUE(given.SameBytes(wanted)) << m << ", " << n;
    }
  }
}

TEST(ExportTest, FeaturesThatAreMaskedOffAreNotUsed) {
  const ScopedFolder folder;
  const ir::Module module = WithConstants();
  const Lowered lowered = LoweredFor(module);
  const runtime::Inputs inputs = RandomInputs(module, 6);
  if (jit::HostTarget().Has("avx512f")) {  // what the search below must be able to find
    ASSERT_EQ(ExportSharedLibrary(lowered, folder / "net.so"), absl::OkStatus());
    ASSERT_EQ(FailureOf(StrCat("objdump -d ", folder / "net.so"), folder), "");
    EXPECT_NE(ReadText(folder / "said").find("zmm"), std::string::npos);
  }
  for (const auto& [mask, registers] : {std::pair("-avx512f", "zmm"), std::pair("-avx", "ymm")}) {
    ASSERT_EQ(ExportSharedLibrary(lowered, folder / "net.so", {.target = jit::HostTarget(mask)}),
              absl::OkStatus());
    ASSERT_EQ(FailureOf(StrCat("objdump -d ", folder / "net.so"), folder), "");
    EXPECT_EQ(ReadText(folder / "said").find(registers), std::string::npos) << mask;
    EXPECT_THAT(ReadText(folder / "net.h"), Not(HasSubstr(std::string(mask).substr(1) + ",")));
    const Library library(folder / "net.so");
    ExpectSameBytes(
        Ran(library.Find<RunFunction>("net_run"), lowered.plan, inputs),
        Executed(module, inputs, {.target = jit::HostTarget(mask), .library = LibraryChoice::kTe}));
  }
}

// Results that no kernel writes, and a graph without any kernel.
TEST(ExportTest, InputsAndConstantsAsResultsAreCopied) {
  const ScopedFolder folder;
  const ir::Module module = Parsed("def @main(%x: Tensor[(4), float32]) { (%x, 2.5f, %x) }");
  const Lowered lowered = LoweredFor(module);
  const runtime::Inputs inputs = RandomInputs(module, 8);
  ASSERT_EQ(ExportSharedLibrary(lowered, folder / "copies.so"), absl::OkStatus());
  ASSERT_EQ(ExportCSource(lowered, folder / "c.c"), absl::OkStatus());
  ASSERT_EQ(FailureOf(StrCat(jit::kStrictC, " ", folder / "c.c", " -o ", folder / "c.so"), folder),
            "");
  const Library native(folder / "copies.so"), c(folder / "c.so");
  const std::vector<NDArray> wanted = Executed(module, inputs);
  ExpectSameBytes(Ran(native.Find<RunFunction>("copies_run"), lowered.plan, inputs), wanted);
  ExpectSameBytes(Ran(c.Find<RunFunction>("c_run"), lowered.plan, inputs), wanted);
}

// --- refusals

std::string Refusal(const absl::Status& status, absl::StatusCode code) {
  EXPECT_EQ(status.code(), code) << status;
  return std::string(status.message());
}

std::vector<std::string> FilesOf(const ScopedFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    names.push_back(entry.path().filename());
  return names;
}

TEST(ExportTest, WrongPathsAreRefusedAndNothingIsLeft) {
  const ScopedFolder folder;
  const Lowered lowered = LoweredFor(WithConstants());
  EXPECT_THAT(
      Refusal(ExportSharedLibrary(lowered, folder / "net.dll"), absl::StatusCode::kInvalidArgument),
      AllOf(HasSubstr("net.dll"), HasSubstr("must end in .so")));
  EXPECT_THAT(Refusal(ExportObject(lowered, folder / "net"), absl::StatusCode::kInvalidArgument),
              HasSubstr("must end in .o"));
  EXPECT_THAT(
      Refusal(ExportCSource(lowered, folder / "net.cc"), absl::StatusCode::kInvalidArgument),
      HasSubstr("must end in .c"));
  EXPECT_THAT(
      Refusal(ExportSharedLibrary(lowered, folder / "none/net.so"), absl::StatusCode::kNotFound),
      HasSubstr("none/net.so cannot be written"));
  EXPECT_THAT(Refusal(ExportSharedLibrary(lowered, folder / "net.so", {.name = "3 nets"}),
                      absl::StatusCode::kInvalidArgument),
              AllOf(HasSubstr("'3 nets'"), HasSubstr("v3_nets")));
  EXPECT_THAT(FilesOf(folder), IsEmpty());
}

TEST(ExportTest, ACompilerThatIsMissingOrFailsIsNamed) {
  const ScopedFolder folder;
  const Lowered lowered = LoweredFor(WithConstants());
  EXPECT_THAT(Refusal(ExportSharedLibrary(lowered, folder / "net.so", {.c_compiler = "no-such-cc"}),
                      absl::StatusCode::kNotFound),
              HasSubstr("no-such-cc cannot be started"));
  EXPECT_THAT(Refusal(ExportObject(lowered, folder / "net.o", {.c_compiler = "false"}),
                      absl::StatusCode::kFailedPrecondition),
              AllOf(HasSubstr("false -std=c11"), HasSubstr("failed")));
  EXPECT_THAT(FilesOf(folder), IsEmpty());
}

TEST(ExportTest, AnOlderExportSurvivesAFailedOne) {
  const ScopedFolder folder;
  const Lowered lowered = LoweredFor(WithConstants());
  WriteText(folder / "net.so", "older");
  fs::create_directory(folder / "net.h");
  EXPECT_THAT(Refusal(ExportSharedLibrary(lowered, folder / "net.so"), absl::StatusCode::kNotFound),
              HasSubstr("net.h is a folder"));
  EXPECT_EQ(ReadText(folder / "net.so"), "older");
  EXPECT_EQ(FilesOf(folder).size(), 2U);
}

TEST(ExportTest, AKernelOfALibraryIsRefusedWithTheWayOut) {
  const Lowered lowered =
      ValueOrThrow(Lower(WithConstants(), {.library = LibraryChoice::kLibrary}));
  const ScopedFolder folder;
  EXPECT_THAT(Refusal(ExportCSource(lowered, folder / "net.c"), absl::StatusCode::kInvalidArgument),
              AllOf(HasSubstr("onednn"), HasSubstr("--library te")));
  EXPECT_THAT(FilesOf(folder), IsEmpty());
}

TEST(ExportTest, TwoKernelsOfOneNameAreRefused) {
  const ScopedFolder folder;
  const std::vector<loop::Function> functions = {RowSums(), RowSums()};
  EXPECT_THAT(
      Refusal(ExportObject(functions, folder / "two.o"), absl::StatusCode::kInvalidArgument),
      HasSubstr("two kernels have the name row_sums"));
}

// Code is made for features that the guard asks for and for no others.
TEST(ExportTest, TheGuardAsksForAllThatTheCodeMayUse) {
  const std::vector<std::string> guarded = jit::RequiredCpuFeatures(jit::HostTarget());
  const std::set<std::string> with_x86_64_v3 = {
      "64bit", "cmov", "crc32", "cx16", "cx8", "evex512", "f16c", "fxsr",
      "lzcnt", "mmx",  "movbe", "sahf", "sse", "sse2",    "x87",  "xsave"};
  for (const std::string& feature : jit::ExportedTarget(jit::HostTarget()).features) {
    EXPECT_TRUE(with_x86_64_v3.contains(feature) ||
                std::find(guarded.begin(), guarded.end(), feature) != guarded.end())
        << feature;
  }
}

// The guard does not ask for these, since every CPU with AVX2 has them.
TEST(ExportTest, CodeForACpuWithoutAvx2UsesNothingThatComesWithIt) {
  const Target older = jit::ExportedTarget(jit::HostTarget("-avx2"));
  for (const char* feature : {"f16c", "lzcnt", "movbe"})
    EXPECT_FALSE(older.Has(feature)) << feature;
}

// A host that ignores SIGCHLD does not learn that the compiler failed.
TEST(ExportTest, ACompilerWhoseEndIsNotKnownIsAFailure) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const absl::Status status =
      CatchErrors([&] { compiler::RunProgram({"false"}, ::testing::TempDir() + "/false.log"); });
  std::signal(SIGCHLD, before);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
}

}  // namespace
}  // namespace tenon
