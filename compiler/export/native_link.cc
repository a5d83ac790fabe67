#include "tenon/compiler/export/native_link.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <stdlib.h>

#include "tenon/compiler/export/c_model.h"
#include "tenon/compiler/export/run_program.h"
#include "tenon/jit/library_functions.h"
#include "tenon/jit/object/object_code.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/support/write_file.h"

namespace tenon::compiler {
namespace {

namespace fs = std::filesystem;

// A folder for intermediate files, which goes away with them.
class WorkFolder {
 public:
  WorkFolder() {
    std::error_code failure;
    const fs::path parent = fs::temp_directory_path(failure);
    std::string pattern = (parent / "tenon-export-XXXXXX").string();
    if (failure || mkdtemp(pattern.data()) == nullptr)
      throw NotFound(StrCat("export: no folder for intermediate files can be made as ", pattern));
    path_ = pattern;
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// All objects in the work folder, by path.
std::vector<std::string> MakeObjects(const NativeParts& parts, const NativeOptions& options,
                                     const WorkFolder& work) {
  std::vector<std::string> objects = ValueOrThrow(
      jit::EmitObjects(parts.kernels, parts.symbols,
                       {.compile = {.target = options.target,
                                    .reassociate_reductions = options.reassociate_reductions,
                                    .reproducible = options.reproducible},
                        .runtime_prefix = parts.name}));
  if (!parts.constants.empty())
    objects.push_back(
        ValueOrThrow(jit::EmitDataObject(parts.constants, ConstantsSymbol(parts.name))));
  std::vector<std::string> paths;
  for (const std::string& object : objects) {
    paths.push_back(work / StrCat("part", paths.size(), ".o"));
    WriteFile(paths.back(), {object});
  }
  for (const auto& [source, text] : parts.sources) {
    WriteFile(work / StrCat(source, ".c"), {text});
    std::vector<std::string> command = {options.c_compiler, "-std=c11",           "-O2", "-fPIC",
                                        "-fopenmp",         "-fvisibility=hidden"};
    for (const char* function : {"parallel_for", "take_memory", "give_memory"})
      command.push_back(StrCat("-Dtenon_", function, "=", parts.name, "_", function));
    for (const std::string& symbol : jit::LibrarySymbols())
      command.push_back(StrCat("-D", symbol, "=", jit::ExportedLibrarySymbol(symbol, parts.name)));
    paths.push_back(work / StrCat(source, ".o"));
    for (const std::string& argument :
         {std::string("-c"), work / StrCat(source, ".c"), std::string("-o"), paths.back()})
      command.push_back(argument);
    RunProgram(command, work / "log");
  }
  return paths;
}

}  // namespace

std::string LinkNative(const NativeParts& parts, const NativeOptions& options,
                       const LinkFlags& flags) {
  const WorkFolder work;
  std::vector<std::string> command = {options.c_compiler};
  const auto add = [&](const std::vector<std::string>& words) {
    command.insert(command.end(), words.begin(), words.end());
  };
  add(flags.before);
  add(MakeObjects(parts, options, work));
  add(flags.after);
  add({"-o", work / "result"});
  RunProgram(command, work / "log");
  return ReadFile(work / "result");
}

}  // namespace tenon::compiler
