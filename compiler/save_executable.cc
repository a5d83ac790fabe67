// The folder is made under another name and takes its place at the end. Its kernels are a shared
// object that the loading program lends its threads and memory.
#include "tenon/compiler/save_executable.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include <unistd.h>

#include "tenon/compiler/aot_runtime.h"
#include "tenon/compiler/export/c_buffer_bytes.h"
#include "tenon/compiler/export/c_model.h"
#include "tenon/compiler/export/native_link.h"
#include "tenon/compiler/plan/prepared_constants.h"
#include "tenon/ir/result_names.h"
#include "tenon/jit/library_functions.h"
#include "tenon/jit/object/object_code.h"
#include "tenon/runtime/saved_executable.h"
#include "tenon/runtime/saved_plan.h"
#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/error.h"
#include "tenon/support/mapped_file.h"
#include "tenon/support/strings.h"
#include "tenon/support/write_file.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using runtime::SavedPlan;

// Names that are local to the shared object.
constexpr char kPrefix[] = "saved";

constexpr char kRuntimeText[] = R"(
#include <stddef.h>

static struct TenonSavedRuntime lent;

void tenon_parallel_for(void (*body)(void*, int64_t, int64_t), void* closure, int64_t extent) {
  lent.parallel_for(body, closure, extent);
}
void* tenon_take_memory(int64_t bytes) { return lent.take_memory(bytes); }
void tenon_give_memory(void* memory) { lent.give_memory(memory); }

)";

std::string KernelsText(const std::vector<loop::Function>& kernels,
                        const std::vector<std::string>& symbols) {
  std::string text, table;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    StrAppend(&text, "TenonSavedCode ", symbols[k], ";\n",
              compiler::CBufferBytes(kernels[k], StrCat("bytes", k)));
    StrAppend(&table, "  {\"", kernels[k].name, "\", ", symbols[k], ", ", kernels[k].buffers.size(),
              ", ", kernels[k].scalars.size(), ", bytes", k, "},\n");
  }
  // An empty list is not valid C.
  return StrCat(text, "static const struct TenonSavedKernel kernels[] = {\n", table,
                "  {NULL, NULL, 0, 0, NULL}};\n\n");
}

std::string StartText(const std::vector<std::string>& features, std::size_t num_kernels) {
  std::string text =
      "__attribute__((visibility(\"default\"))) const struct TenonSavedLibrary* "
      "TenonSavedLibrary2(\n    const struct TenonSavedRuntime* runtime) {\n"
      "  static struct TenonSavedLibrary library;\n"
      "  const char* missing = NULL;\n";
  if (!features.empty()) text += "  __builtin_cpu_init();\n";
  for (const std::string& feature : features)
    StrAppend(&text, "  if (!__builtin_cpu_supports(\"", feature, "\")) missing = \"", feature,
              "\";\n");
  StrAppend(&text, "  lent = *runtime;\n  library = (struct TenonSavedLibrary){missing, ",
            num_kernels, ", kernels};\n  return &library;\n}\n");
  return text;
}

// The shared object's bytes.
std::string LinkKernels(const Lowered& graph, const ExportOptions& code) {
  compiler::NativeParts parts{.name = kPrefix,
                              .kernels = compiler::FunctionsOf(graph, "default"),
                              .symbols = {},
                              .constants = {},
                              .sources = {}};
  for (const loop::Function& kernel : parts.kernels)
    parts.symbols.push_back(compiler::NativeSymbol(kPrefix, kernel.name));
  parts.sources = {
      {"kernels", StrCat(compiler::SavedLibraryHeader(), kRuntimeText,
                         KernelsText(parts.kernels, parts.symbols),
                         StartText(jit::RequiredCpuFeatures(code.target), parts.kernels.size()))},
      {"library", jit::LibrarySource()}};
  return compiler::LinkNative(parts,
                              {.target = code.target,
                               .reassociate_reductions = code.reassociate_reductions,
                               .reproducible = code.reproducible,
                               .c_compiler = code.c_compiler},
                              {.before = {"-shared"}, .after = {"-lm"}});
}

// Writes the constants one after the other and says where each one begins.
std::vector<std::size_t> WriteParams(const std::vector<NDArray>& constants,
                                     const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  std::vector<std::size_t> at;
  std::size_t end = 0;
  for (const NDArray& constant : constants) {
    static constexpr char kPadding[kAlignment] = {};
    file.write(kPadding, static_cast<std::streamsize>(RoundUp(end, kAlignment) - end));
    at.push_back(RoundUp(end, kAlignment));
    file.write(static_cast<const char*>(constant.raw()),
               static_cast<std::streamsize>(constant.bytes()));
    end = at.back() + constant.bytes();
  }
  file.close();
  if (!file) throw NotFound(StrCat("the file ", path, " cannot be written"));
  return at;
}

// Names may come from a model file and hold any bytes, which JSON cannot.
void RequireKeepsNames(const SavedPlan& saved, const runtime::SavedTexts& texts) {
  const SavedPlan read = runtime::ParseSavedPlan(texts);
  for (std::size_t n = 0; n < saved.plan.nodes.size(); ++n) {
    if (read.plan.nodes[n].name != saved.plan.nodes[n].name)
      throw InvalidArgument(StrCat("the name ", read.plan.nodes[n].name,
                                   " is no UTF-8; rename the value to save the model"));
  }
  for (std::size_t i = 0; i < saved.result_names.size(); ++i) {
    if (read.result_names[i] != saved.result_names[i])
      throw InvalidArgument(StrCat("the name ", read.result_names[i],
                                   " of a result is no UTF-8; rename it to save the model"));
  }
}

// A folder that takes its place when it is complete.
class NewFolder {
 public:
  explicit NewFolder(fs::path path) : path_(std::move(path)) {
    if (!path_.has_filename()) path_ = path_.parent_path();
    RequireReplaceable();
    static std::atomic<int> next{0};
    temporary_ = StrCat(path_.string(), ".", getpid(), ".", next++, ".tmp");
    std::error_code failure;
    fs::create_directories(temporary_, failure);
    if (failure)
      throw NotFound(StrCat("the folder ", path_.string(), " cannot be made: ", failure.message()));
  }
  ~NewFolder() {
    std::error_code ignored;
    fs::remove_all(temporary_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  std::string operator/(const char* file) const { return (temporary_ / file).string(); }

  void Finish() {
    RequireReplaceable();
    const fs::path old = temporary_.string() + ".old";
    std::error_code failure;
    const bool replaces = fs::exists(path_);
    if (replaces) fs::rename(path_, old, failure);
    if (!failure) fs::rename(temporary_, path_, failure);
    std::error_code ignored;
    if (failure) {
      if (replaces && !fs::exists(path_)) fs::rename(old, path_, ignored);
      throw NotFound(
          StrCat("the folder ", path_.string(), " cannot be written: ", failure.message()));
    }
    fs::remove_all(old, ignored);
  }

 private:
  void RequireReplaceable() const {
    if (!fs::exists(path_)) return;
    if (!fs::is_directory(path_))
      throw AlreadyExists(StrCat(path_.string(), " exists and is no folder"));
    static const std::set<std::string> kOurs = {runtime::kGraphFile, runtime::kManifestFile,
                                                runtime::kParamsFile, runtime::kKernelsFile};
    for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
      const std::string name = entry.path().filename().string();
      if (!kOurs.contains(name))
        throw AlreadyExists(StrCat("the folder ", path_.string(), " holds ", name,
                                   ", which no saved executable has; name another folder"));
    }
  }

  fs::path path_, temporary_;
};

void Save(const Lowered& graph, const std::optional<runtime::PlannedProgram>& program,
          const std::string& path, const SaveOptions& options) {
  NewFolder folder(path);
  SavedPlan saved{.plan = graph.plan,
                  .kernels = {},
                  .constants_at = WriteParams(graph.constants, folder / runtime::kParamsFile),
                  .result_names = options.result_names.empty() ? ir::ResultNamesOf(graph.module)
                                                               : options.result_names,
                  .threads = options.threads,
                  .params = {},
                  .kernels_file = {},
                  .program = program};
  saved.params = runtime::FileMark::Of(MappedFile::Open(folder / runtime::kParamsFile)->bytes());
  for (const LoweredKernel& kernel : graph.kernels) saved.kernels.push_back(kernel.name);
  RequireKeepsNames(saved, runtime::ToTexts(saved));
  const std::string kernels = LinkKernels(graph, options.code);
  saved.kernels_file = runtime::FileMark::Of(kernels);
  WriteFile(folder / runtime::kKernelsFile, {kernels});
  const runtime::SavedTexts texts = runtime::ToTexts(saved);
  WriteFile(folder / runtime::kGraphFile, {texts.graph});
  WriteFile(folder / runtime::kManifestFile, {texts.manifest});
  folder.Finish();
}

}  // namespace

absl::Status SaveExecutable(const Lowered& graph, const std::string& folder,
                            const SaveOptions& options) {
  return CatchErrors([&] { Save(graph, std::nullopt, folder, options); });
}

absl::Status SaveExecutable(const LoweredProgram& program, const std::string& folder,
                            const SaveOptions& options) {
  return CatchErrors([&] { Save(program.whole, program.program, folder, options); });
}

}  // namespace tenon
