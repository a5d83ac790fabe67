// A native export is three kinds of objects, linked by the system's C compiler: one by LLVM for
// each kernel, one with the constants, and the C part - entry functions and the runtime. All of it
// is made in a folder of its own, and the result is renamed into place at the end.
#include "tenon/compiler/export.h"

#include <array>
#include <atomic>
#include <filesystem>
#include <functional>

#include <unistd.h>

#include "absl/strings/str_replace.h"
#include "tenon/compiler/aot_runtime.h"
#include "tenon/compiler/export/c_model.h"
#include "tenon/compiler/export/c_program.h"
#include "tenon/compiler/export/native_link.h"
#include "tenon/compiler/export/reference_c.h"
#include "tenon/jit/c/c_text.h"
#include "tenon/jit/library_functions.h"
#include "tenon/jit/object/object_code.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/support/write_file.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using compiler::CModel;
using compiler::CModelOptions;

constexpr const char* kDefaultName = "model";

// What is exported, under a name: its kernels, and its C part.
struct Content {
  std::function<std::vector<loop::Function>(const std::string& name)> kernels;
  std::function<CModel(const CModelOptions&)> write;
};

Content ContentOf(const Lowered& graph) {
  return {[&graph](const std::string& name) { return compiler::FunctionsOf(graph, name); },
          [&graph](const CModelOptions& options) { return compiler::WriteModel(graph, options); }};
}
Content ContentOf(const LoweredProgram& program) {
  return {
      [&program](const std::string& name) { return compiler::FunctionsOf(program.whole, name); },
      [&program](const CModelOptions& options) {
        return compiler::WriteProgram(program, options);
      }};
}
Content ContentOf(std::span<const loop::Function> kernels) {
  return {
      [kernels](const std::string&) {
        return std::vector<loop::Function>(kernels.begin(), kernels.end());
      },
      [kernels](const CModelOptions& options) { return compiler::WriteKernels(kernels, options); }};
}

// Files that appear under their names together, once all of them are written.
class Delivery {
 public:
  ~Delivery() {
    std::error_code ignored;
    for (const auto& [temporary, path] : files_) fs::remove(temporary, ignored);
  }
  void Add(const std::string& path, std::string_view bytes, bool executable = false) {
    static std::atomic<int> next{0};
    const std::string temporary = StrCat(path, ".", getpid(), ".", next++, ".tmp");
    if (fs::is_directory(path)) throw NotFound(StrCat(path, " is a folder; name a file"));
    files_.emplace_back(temporary, path);
    try {
      WriteFile(temporary, {bytes});
    } catch (const Error& error) {
      throw NotFound(absl::StrReplaceAll(error.message(), {{temporary, path}}));
    }
    if (executable)
      fs::permissions(temporary,
                      fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                      fs::perm_options::add);
  }
  void Finish() {
    for (const auto& [temporary, path] : files_) {
      std::error_code failure;
      fs::rename(temporary, path, failure);
      if (failure)
        throw NotFound(StrCat("the file ", path, " cannot be written: ", failure.message()));
    }
    files_.clear();
  }

 private:
  std::vector<std::pair<std::string, std::string>> files_;
};

std::string NameFor(const std::string& path, const ExportOptions& options) {
  const std::string name = options.name.empty() ? fs::path(path).stem().string() : options.name;
  const std::string identifier = jit::CIdentifier(name);
  if (!options.name.empty() && identifier != options.name)
    throw InvalidArgument(StrCat("export: the name '", options.name,
                                 "' is no C identifier that a user may have; for instance ",
                                 identifier, " is"));
  return identifier;
}

std::string HeaderPath(const std::string& path) {
  return fs::path(path).replace_extension(".h").string();
}

void RequireEnding(const std::string& path, const std::string& ending) {
  if (fs::path(path).extension() != ending || fs::path(path).stem().empty())
    throw InvalidArgument(StrCat("export: the path ", path, " must end in ", ending));
}

// What is linked: kernels, constants, the C part and the runtime.
compiler::NativeParts PartsOf(const Content& content, const std::string& name,
                              const ExportOptions& options, std::string* header) {
  CModel model = content.write(
      {.name = name, .native = true, .cpu_features = jit::RequiredCpuFeatures(options.target)});
  *header = std::move(model.header);
  compiler::NativeParts parts{
      .name = name,
      .kernels = content.kernels(name),
      .symbols = {},
      .constants = std::move(model.constants),
      .sources = {{"entry", std::move(model.source)},
                  {"runtime", StrCat(compiler::AotRuntimeSource(), jit::LibrarySource())}}};
  for (const loop::Function& kernel : parts.kernels)
    parts.symbols.push_back(compiler::NativeSymbol(name, kernel.name));
  return parts;
}

void ExportNative(const Content& content, const std::string& path, const ExportOptions& options,
                  const compiler::LinkFlags& flags) {
  std::string header;
  const compiler::NativeParts parts = PartsOf(content, NameFor(path, options), options, &header);
  const std::string linked =
      compiler::LinkNative(parts,
                           {.target = options.target,
                            .reassociate_reductions = options.reassociate_reductions,
                            .reproducible = options.reproducible,
                            .c_compiler = options.c_compiler},
                           flags);
  Delivery delivery;
  delivery.Add(path, linked, path.ends_with(".so"));
  delivery.Add(HeaderPath(path), header);
  delivery.Finish();
}

void ExportLibrary(const Content& content, const std::string& path, const ExportOptions& options) {
  RequireEnding(path, ".so");
  ExportNative(content, path, options, {.before = {"-shared", "-fopenmp"}, .after = {"-lm"}});
}

void ExportObjectFile(const Content& content, const std::string& path,
                      const ExportOptions& options) {
  RequireEnding(path, ".o");
  ExportNative(content, path, options, {.before = {"-r", "-nostdlib"}, .after = {}});
}

void ExportC(const Content& content, std::string path, const ExportOptions& options) {
  if (path.ends_with('/') || fs::is_directory(path)) {
    std::error_code failure;
    fs::create_directories(path, failure);
    if (failure)
      throw NotFound(StrCat("the folder ", path, " cannot be made: ", failure.message()));
    path = (fs::path(path) / StrCat(options.name.empty() ? kDefaultName : options.name, ".c"))
               .string();
  }
  RequireEnding(path, ".c");
  const CModel model =
      content.write({.name = NameFor(path, options), .native = false, .cpu_features = {}});
  Delivery delivery;
  delivery.Add(path, model.source);
  delivery.Add(HeaderPath(path), model.header);
  delivery.Finish();
}

}  // namespace

absl::Status ExportSharedLibrary(const Lowered& graph, const std::string& path,
                                 const ExportOptions& options) {
  return CatchErrors([&] { ExportLibrary(ContentOf(graph), path, options); });
}
absl::Status ExportSharedLibrary(const LoweredProgram& program, const std::string& path,
                                 const ExportOptions& options) {
  return CatchErrors([&] { ExportLibrary(ContentOf(program), path, options); });
}
absl::Status ExportSharedLibrary(std::span<const loop::Function> kernels, const std::string& path,
                                 const ExportOptions& options) {
  return CatchErrors([&] { ExportLibrary(ContentOf(kernels), path, options); });
}
absl::Status ExportObject(const Lowered& graph, const std::string& path,
                          const ExportOptions& options) {
  return CatchErrors([&] { ExportObjectFile(ContentOf(graph), path, options); });
}
absl::Status ExportObject(const LoweredProgram& program, const std::string& path,
                          const ExportOptions& options) {
  return CatchErrors([&] { ExportObjectFile(ContentOf(program), path, options); });
}
absl::Status ExportObject(std::span<const loop::Function> kernels, const std::string& path,
                          const ExportOptions& options) {
  return CatchErrors([&] { ExportObjectFile(ContentOf(kernels), path, options); });
}
absl::Status ExportCSource(const Lowered& graph, const std::string& path,
                           const ExportOptions& options) {
  return CatchErrors([&] { ExportC(ContentOf(graph), path, options); });
}
absl::Status ExportCSource(const LoweredProgram& program, const std::string& path,
                           const ExportOptions& options) {
  return CatchErrors([&] { ExportC(ContentOf(program), path, options); });
}
absl::Status ExportCSource(std::span<const loop::Function> kernels, const std::string& path,
                           const ExportOptions& options) {
  return CatchErrors([&] { ExportC(ContentOf(kernels), path, options); });
}

absl::StatusOr<std::string> CSource(const Lowered& graph, const ExportOptions& options) {
  return CatchErrors([&] {
    return compiler::WriteModel(
               graph, {.name = NameFor(kDefaultName, options), .native = false, .cpu_features = {}})
        .source;
  });
}

absl::StatusOr<std::string> CSource(const LoweredProgram& program, const ExportOptions& options) {
  return CatchErrors([&] {
    return compiler::WriteProgram(
               program,
               {.name = NameFor(kDefaultName, options), .native = false, .cpu_features = {}})
        .source;
  });
}

absl::StatusOr<std::string> ReferenceCSource(const Lowered& graph, const ExportOptions& options) {
  return CatchErrors([&] {
    return compiler::WriteReferenceC(graph, options.name.empty() ? "default" : options.name);
  });
}

}  // namespace tenon
