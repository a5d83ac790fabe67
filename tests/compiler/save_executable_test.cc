// Saved executables against those that they were saved from, and what is refused.
#include "tenon/compiler/save_executable.h"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "tenon/ops/builders.h"
#include "tenon/passes/infer_type.h"
#include "tenon/runtime/saved_executable.h"
#include "tenon/runtime/saved_plan.h"
#include "tenon/tests/testing/c_library.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon_test_paths.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using jit::FailureOf;
using jit::ReadText;
using jit::ScopedFolder;
using jit::WriteText;
using runtime::LoadExecutable;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

Lowered LoweredFor(const ir::Module& module) {
  return ValueOrThrow(Lower(module, {.library = LibraryChoice::kTe}));
}

// Weights that kernels want packed.
ir::Module Network() {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({2, 3, 13, 17}, Float32));
  const auto weight = [](const Shape& shape, int seed) {
    return ir::Constant::Make(testing_graphs::Random(shape, seed));
  };
  const ir::Expr features =
      ops::Relu(ops::Conv2D(x, weight({33, 3, 3, 3}, 1), {.padding = {1, 1, 1, 1}}));
  const ir::Expr pooled = ops::Reshape(ops::GlobalAvgPool2D(features), {2, 33});
  return ir::Module::FromExpr(ops::Softmax(ops::Dense(pooled, weight({10, 33}, 2))));
}

// By what its plan needs.
ir::Module ModuleNamed(const std::string& name) {
  const std::map<std::string, std::string> texts = {
      {"views and results given twice",
       "def @main(%x: Tensor[(4, 6), float32]) {\n"
       "  %0 = exp(%x);\n  %1 = split(%0, indices_or_sections=2, axis=0);\n"
       "  (%1.1, reshape(%x, newshape=[24]), %1.0, %1.1, %x)\n}\n"},
      {"a join",
       "def @main(%x: Tensor[(3, 5), float32], %y: Tensor[(2, 5), float32]) {\n"
       "  %0 = nn.softmax(%x);\n  %1 = nn.softmax(%y);\n  %2 = (%0, %1);\n"
       "  %3 = concatenate(%2, axis=0);\n  (%3, sum(%3, axis=[1]))\n}\n"},
      {"bytes and bools",
       "def @main(%x: Tensor[(67), int8], %y: Tensor[(67), bool]) {\n"
       "  (where(%y, %x, negative(%x)), logical_not(%y), sum(cast(%x, dtype=\"int64\")))\n}\n"},
      {"halves",
       "def @main(%x: Tensor[(3, 31), float32]) {\n"
       "  %0 = cast(%x, dtype=\"bfloat16\");\n  %1 = cast(%x, dtype=\"float16\");\n"
       "  (add(%0, %0), nn.relu(%1))\n}\n"},
      {"extents of zero",
       "def @main(%x: Tensor[(0, 5), float32]) { (exp(%x), sum(%x, axis=[0])) }\n"},
      {"an extent that a value decides",
       "def @main(%x: Tensor[(5, 7), float32], %n: Tensor[(1), int64]) {\n"
       "  (take_first(nn.relu(%x), %n, axis=1), %x)\n}\n"},
      {"functions of a library",
       "def @main(%x: Tensor[(3, 65), float32]) {\n"
       "  %0 = topk(%x, k=7, dtype=\"int64\");\n  (%0.0, %0.1, erf(%x))\n}\n"},
      {"threads", "def @main(%x: Tensor[(512, 1031), float32]) { tanh(nn.softmax(%x)) }\n"}};
  return name == "packed weights" ? Network() : Parsed(texts.at(name));
}

class SaveExecutableTest : public ::testing::TestWithParam<const char*> {};

TEST_P(SaveExecutableTest, GivesTheSameBits) {
  const ir::Module module = ModuleNamed(GetParam());
  const Lowered lowered = LoweredFor(module);
  const Executable original = ValueOrThrow(Link(lowered));
  const ScopedFolder folder;
  ASSERT_EQ(SaveExecutable(lowered, folder / "net"), absl::OkStatus());
  const Executable loaded = ValueOrThrow(LoadExecutable(folder / "net")).executable;
  EXPECT_EQ(loaded.GraphJson(), original.GraphJson());
  ASSERT_EQ(loaded.constants().size(), original.constants().size());
  for (std::size_t i = 0; i < loaded.constants().size(); ++i)
    EXPECT_TRUE(loaded.constants()[i].SameBytes(original.constants()[i])) << "constant " << i;
  EXPECT_EQ(ReadText(folder / "net/graph.json"), original.GraphJson());
  EXPECT_EQ(loaded.working_bytes(), original.working_bytes());
  const runtime::Inputs inputs = RandomInputs(module, 3);
  const std::vector<NDArray> expected = ValueOrThrow(original.Run(inputs));
  for (const int threads : {1, 2}) {
    runtime::Session session(loaded, {.threads = threads});
    for (int run = 0; run < 2; ++run) {
      const std::vector<NDArray> results = ValueOrThrow(session.Run(inputs));
      ASSERT_EQ(results.size(), expected.size());
      for (std::size_t i = 0; i < results.size(); ++i)
        EXPECT_TRUE(results[i].SameBytes(expected[i])) << "result " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Saved, SaveExecutableTest,
                         ::testing::Values("packed weights", "views and results given twice",
                                           "a join", "bytes and bools", "halves", "extents of zero",
                                           "an extent that a value decides",
                                           "functions of a library", "threads"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

// A folder with a saved network: copies of one, since saving takes a C compiler.
class SavedFolder {
 public:
  SavedFolder() {
    static const ScopedFolder network;
    static const absl::Status saved = SaveExecutable(LoweredFor(Network()), network / "net");
    EXPECT_EQ(saved, absl::OkStatus());
    fs::copy(network / "net", path());
  }
  explicit SavedFolder(const ir::Module& module) {
    EXPECT_EQ(SaveExecutable(LoweredFor(module), path()), absl::OkStatus());
  }
  std::string path() const { return folder_ / "net"; }
  std::string File(const std::string& name) const { return StrCat(path(), "/", name); }
  std::string Failure() const { return std::string(LoadExecutable(path()).status().message()); }
  const ScopedFolder& folder() const { return folder_; }

 private:
  ScopedFolder folder_;
};

constexpr const char* kFiles[] = {"graph.json", "tenon.json", "params.bin", "kernels.so"};

TEST(SavedFilesTest, AreFour) {
  const SavedFolder saved;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(saved.path()))
    names.push_back(entry.path().filename().string());
  EXPECT_THAT(names, ::testing::UnorderedElementsAreArray(kFiles));
  // Nothing else stays.
  EXPECT_EQ(std::distance(fs::directory_iterator(saved.folder().path()), fs::directory_iterator()),
            1);
}

TEST(SavedFilesTest, AMissingFileIsNamed) {
  for (const char* file : kFiles) {
    const SavedFolder saved;
    fs::remove(saved.File(file));
    EXPECT_THAT(saved.Failure(),
                AllOf(HasSubstr(StrCat("the folder ", saved.path(), " has no ", file)),
                      HasSubstr("tenon.json, graph.json, params.bin, kernels.so"),
                      HasSubstr("which SaveExecutable")));
    EXPECT_EQ(LoadExecutable(saved.path()).status().code(), absl::StatusCode::kNotFound);
  }
  EXPECT_THAT(std::string(LoadExecutable("/nowhere/net").status().message()),
              HasSubstr("/nowhere/net is no folder"));
}

TEST(SavedFilesTest, ADamagedFileIsNamed) {
  for (const char* file : kFiles) {
    const SavedFolder saved;
    std::string bytes = ReadText(saved.File(file));
    bytes[0] = static_cast<char>(bytes[0] ^ 1);
    WriteText(saved.File(file), bytes);
    EXPECT_THAT(saved.Failure(), AllOf(HasSubstr(file), HasSubstr("the saved executable")));
    bytes[0] = static_cast<char>(bytes[0] ^ 1);
    WriteText(saved.File(file), bytes.substr(0, bytes.size() / 2));
    EXPECT_THAT(saved.Failure(), HasSubstr(file));
    WriteText(saved.File(file), "");
    EXPECT_THAT(saved.Failure(), HasSubstr(file));
  }
}

TEST(SavedFilesTest, ParametersAreCheckedUnlessThatIsDeclined) {
  const SavedFolder saved;
  std::string bytes = ReadText(saved.File("params.bin"));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  WriteText(saved.File("params.bin"), bytes);
  EXPECT_EQ(LoadExecutable(saved.path()).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(LoadExecutable(saved.path(), {.check_params = false}).status(), absl::OkStatus());
}

TEST(SavedFilesTest, KernelsOfAnotherExecutableAreRefused) {
  const SavedFolder saved, other(ModuleNamed("a join"));
  fs::copy(other.File("kernels.so"), saved.File("kernels.so"),
           fs::copy_options::overwrite_existing);
  EXPECT_THAT(saved.Failure(), HasSubstr("kernels.so is not the file that was saved"));
}

TEST(SavedFilesTest, AFormatOfTheFutureIsRefused) {
  const SavedFolder saved;
  auto manifest = nlohmann::ordered_json::parse(ReadText(saved.File("tenon.json")));
  manifest["format"] = 5;
  WriteText(saved.File("tenon.json"), manifest.dump());
  EXPECT_EQ(LoadExecutable(saved.path()).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(
      saved.Failure(),
      HasSubstr("tenon.json has format 5; this version of Tenon reads the formats 2 and 4"));
}

// A library made by hand, which the manifest takes for the one that was saved.
void WriteLibrary(const SavedFolder& saved, const std::string& start) {
  const std::string source = saved.folder() / "k.c";
  WriteText(source, StrCat("#include <stddef.h>\n#include \"", TENON_SOURCE_DIR,
                           "/runtime/saved_library.h\"\n", start));
  ASSERT_EQ(FailureOf(StrCat("cc -shared -fPIC ", source, " -o ", saved.File("kernels.so")),
                      saved.folder()),
            "");
  auto manifest = nlohmann::ordered_json::parse(ReadText(saved.File("tenon.json")));
  const auto mark = runtime::FileMark::Of(ReadText(saved.File("kernels.so")));
  manifest["files"]["kernels.so"] = {{"bytes", mark.bytes}, {"hash", runtime::HashText(mark.hash)}};
  WriteText(saved.File("tenon.json"), manifest.dump());
}

TEST(SavedFilesTest, AFeatureThatTheCpuLacksIsNamed) {
  const SavedFolder saved;
  WriteLibrary(saved,
               "const struct TenonSavedLibrary* TenonSavedLibrary2(\n"
               "    const struct TenonSavedRuntime* r) {\n"
               "  static const struct TenonSavedLibrary library = {\"amx-int9\", 0, NULL};\n"
               "  return &library;\n}\n");
  EXPECT_EQ(LoadExecutable(saved.path()).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(saved.Failure(),
              HasSubstr("kernels.so is code for a CPU with amx-int9, which this one lacks"));
}

TEST(SavedFilesTest, ALibraryOfSomethingElseIsRefused) {
  const SavedFolder saved;
  WriteLibrary(saved, "int32_t answer(void) { return 42; }\n");
  EXPECT_THAT(saved.Failure(), HasSubstr("kernels.so has no kernels of a saved executable"));
}

TEST(SavedFilesTest, KernelsThatTakeOtherArraysAreRefused) {
  const SavedFolder saved(Parsed("def @main(%x: Tensor[(8), float32]) { exp(%x) }\n"));
  WriteLibrary(saved,
               "static void bytes(const int64_t* extents, int64_t* bytes) {\n"
               "  bytes[0] = 32;\n  bytes[1] = 64;\n}\n"
               "static const struct TenonSavedKernel k = {\"tvmgen_default_fused_exp\", NULL, 2, "
               "0, bytes};\n"
               "const struct TenonSavedLibrary* TenonSavedLibrary2(\n"
               "    const struct TenonSavedRuntime* r) {\n"
               "  static const struct TenonSavedLibrary library = {NULL, 1, &k};\n"
               "  return &library;\n}\n");
  EXPECT_THAT(saved.Failure(), HasSubstr("node tvmgen_default_fused_exp has other arrays than its "
                                         "kernel, tvmgen_default_fused_exp, takes"));
}

// 2^60 + n rows of four floats have the bytes of n rows where products wrap.
TEST(SavedFilesTest, ExtentsWhoseBytesOverflowAreRefused) {
  const SavedFolder saved(
      passes::InferType(Parsed("def @main(%x: Tensor[(n, 4), float32]) { exp(%x) }\n")));
  auto manifest = nlohmann::ordered_json::parse(ReadText(saved.File("tenon.json")));
  auto& operations = manifest["variables"]["operations"];
  const std::size_t big = operations.size();
  operations.push_back({"number", std::int64_t{1} << 60});
  operations.push_back({"add", 0, big});
  manifest["variables"]["texts"]["lie"] = big + 1;
  for (auto& node : manifest["nodes"]) {
    if (node.contains("arguments")) node["arguments"] = {"lie"};
  }
  WriteText(saved.File("tenon.json"), manifest.dump());
  const Executable loaded = ValueOrThrow(LoadExecutable(saved.path())).executable;
  const auto results = loaded.Run({{"x", NDArray::Zeros({3, 4}, Float32)}});
  EXPECT_EQ(results.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(results.status().message()), HasSubstr("has other arrays than its"));
}

// Another name says that the variable may be 0, and a kernel reads the first row.
TEST(SavedFilesTest, AnExtentOf0ThatAKernelDoesNotTakeIsRefused) {
  const SavedFolder saved(
      passes::InferType(Parsed("def @main(%x: Tensor[(n, 4), float32], %i: Tensor[(2), int32]) {\n"
                               "  take(%x, %i, axis=0)\n}\n")));
  auto manifest = nlohmann::ordered_json::parse(ReadText(saved.File("tenon.json")));
  manifest["variables"]["example"] = {{"#n", manifest["variables"]["example"]["n"]}};
  WriteText(saved.File("tenon.json"), manifest.dump());
  const Executable loaded = ValueOrThrow(LoadExecutable(saved.path())).executable;
  const auto results =
      loaded.Run({{"x", NDArray::Zeros({0, 4}, Float32)}, {"i", NDArray::Zeros({2}, Int32)}});
  EXPECT_EQ(results.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(results.status().message()), HasSubstr("has other arrays than its"));
}

TEST(SavedFilesTest, MoreThreadsThanARunMayHaveAreRefused) {
  const SavedFolder saved;
  auto manifest = nlohmann::ordered_json::parse(ReadText(saved.File("tenon.json")));
  manifest["threads"] = 20000;
  WriteText(saved.File("tenon.json"), manifest.dump());
  EXPECT_THAT(saved.Failure(), HasSubstr("threads must be a whole number from 0 to 1024"));
}

TEST(SaveTest, ASavedExecutableIsReplaced) {
  const SavedFolder saved(ModuleNamed("a join"));
  ASSERT_EQ(SaveExecutable(LoweredFor(Network()), StrCat(saved.path(), "/")), absl::OkStatus());
  const Executable loaded = ValueOrThrow(LoadExecutable(saved.path())).executable;
  ASSERT_EQ(loaded.inputs().size(), 1U);
  EXPECT_THAT(loaded.inputs()[0].extents, ElementsAre(2, 3, 13, 17));
}

// The dynamic linker takes a path that it knows for the library that it has.
TEST(SaveTest, TheKernelsOfAReplacedExecutableAreNotTakenForTheNewOnes) {
  const auto times = [](const char* factor) {
    return Parsed(StrCat("def @main(%x: Tensor[(3), float32]) { multiply(%x, ", factor, ") }\n"));
  };
  const SavedFolder saved(times("2f"));
  const Executable first = ValueOrThrow(LoadExecutable(saved.path())).executable;
  ASSERT_EQ(SaveExecutable(LoweredFor(times("3f")), saved.path()), absl::OkStatus());
  const Executable second = ValueOrThrow(LoadExecutable(saved.path())).executable;
  const NDArray x = NDArray::FromVector<float>({3}, {1, 2, 3});
  EXPECT_EQ(ValueOrThrow(first.Run({{"x", x}}))[0].data<float>()[2], 6);
  EXPECT_EQ(ValueOrThrow(second.Run({{"x", x}}))[0].data<float>()[2], 9);
}

TEST(SaveTest, AnyOtherFolderIsLeftAlone) {
  const SavedFolder saved;
  WriteText(saved.File("notes.txt"), "mine");
  const absl::Status status = SaveExecutable(LoweredFor(Network()), saved.path());
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(status.message()), HasSubstr("holds notes.txt"));
  EXPECT_EQ(ReadText(saved.File("notes.txt")), "mine");
  EXPECT_EQ(LoadExecutable(saved.path()).status(), absl::OkStatus());
  EXPECT_EQ(SaveExecutable(LoweredFor(Network()), saved.File("notes.txt")).code(),
            absl::StatusCode::kAlreadyExists);
}

TEST(SaveTest, AFolderThatCannotBeMadeIsNamed) {
  const absl::Status status = SaveExecutable(LoweredFor(Network()), "/proc/nowhere/net");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/proc/nowhere/net cannot be made"));
}

TEST(SaveTest, NothingIsLeftAfterAFailure) {
  const ScopedFolder folder;
  const absl::Status status =
      SaveExecutable(LoweredFor(Network()), folder / "net", {.code = {.c_compiler = "false"}});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(SaveTest, AKernelThatALibraryRunsIsNamed) {
  const ScopedFolder folder;
  const Lowered lowered = ValueOrThrow(Lower(Network(), {.library = LibraryChoice::kLibrary}));
  const absl::Status status = SaveExecutable(lowered, folder / "net");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("fused_nn_conv2d"), HasSubstr("--library te")));
}

TEST(SaveTest, NamesThatJsonCannotHoldAreRefused) {
  const ScopedFolder folder;
  const ir::Var x = ir::Var::Make("in\xff", ir::TensorType({4}, Float32));
  const absl::Status status =
      SaveExecutable(LoweredFor(ir::Module::FromExpr(ops::Exp(x))), folder / "net");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("is no UTF-8"));
}

TEST(SaveTest, NamesOfResultsAndThreadsAreKept) {
  const ScopedFolder folder;
  ASSERT_EQ(SaveExecutable(LoweredFor(Network()), folder / "net",
                           {.code = {}, .threads = 1, .result_names = {"scores"}}),
            absl::OkStatus());
  const runtime::SavedExecutable loaded = ValueOrThrow(LoadExecutable(folder / "net"));
  EXPECT_THAT(loaded.result_names, ElementsAre("scores"));
  EXPECT_EQ(loaded.executable.threads(), 1);
}

}  // namespace
}  // namespace tenon
