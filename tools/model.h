// Options that the commands share, and the model that they name.
#ifndef TENON_TOOLS_MODEL_H_
#define TENON_TOOLS_MODEL_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/ir/input_spec.h"
#include "tenon/ir/module.h"

namespace CLI {
class App;
}

namespace tenon::tools {

inline constexpr char kNoPartition[] = "none";

struct ModelArguments {
  std::string path;
  std::vector<std::string> shapes;     // "x=1,3,48,192"
  std::vector<std::string> dims;       // "n=8*k" or "n=1..512"
  std::vector<std::string> constants;  // "rate=16000" or "rate=file.npy"
  std::vector<std::string> plugins;    // shared objects that register what users add
  bool symbolic = false;               // open extents of an ONNX model stay variables
  bool has_ranges = false;             // likewise, for ranges of extents that another option gives
  std::vector<std::string> extents;    // "n=7": of variables, where inputs are random
  // Of ONNX models: ifs and loops that a run decides, which have no plan to print or save. Without
  // it, both branches are computed and loops are unrolled.
  bool control_flow = true;

  void AddTo(CLI::App* command);
  bool KeepsVariables() const { return symbolic || has_ranges; }
  // Of a command that makes random inputs.
  void AddExtentTo(CLI::App* command);
  // Of `extents`. Throws InvalidArgument.
  Dim::Values ExtentValues() const;
};

struct CompileArguments {
  int opt_level = 3;
  int threads = 0;
  std::string library = "auto";
  std::string target = "llvm";
  std::string partition = kNoPartition;
  std::string fusion;  // empty: as the level says
  bool no_winograd = false;
  bool keep_nan = false;
  bool reproducible = false;
  std::string mixed_precision;  // empty: as in the model
  std::string cpu_features;
  bool check_bounds = false;
  std::vector<std::string> disabled_passes;
  std::optional<std::string> cache_dir;  // nothing: the user's default
  bool no_cache = false;
  std::string records;  // file; empty: the one in the cache folder
  bool no_records = false;

  void AddTo(CLI::App* command);
  // The folder where compiled kernels are kept; empty for none. Throws InvalidArgument for an empty
  // name.
  std::string CacheFolder() const;
  // Warns on standard error when the folder that --cache-dir names cannot be written.
  void WarnOfCache() const;
  // The file where races are recorded. Throws InvalidArgument where there is no folder for it.
  std::string RecordsToWrite() const;
  // Also reads the records. A damaged file that --records does not name is left aside, with a
  // warning on standard error.
  CompileOptions Options() const;
  // The same without the records, which are not read.
  CompileOptions OptionsWithoutRecords() const;
  // What the records say, for `options`; null: nothing.
  strategies::MeasuredChoices Measured(const CompileOptions& options) const;
  // The module with composite functions for the code generator that --partition names. Throws
  // NotFound where nobody registered it.
  ir::Module Partitioned(const ir::Module& module) const;
};

struct LoadedModel {
  ir::Module module;
  std::vector<std::string> results;  // in order; empty where the model gives no names
};

// Loads the plug-ins, then the model. "model:NAME" is one of models/. Everything else is a file, or
// standard input for "-": ONNX if it ends in .onnx or its content says so, else Relay text. Throws
// Errors.
//
// `shape_of` gives the shapes of inputs that an ONNX model leaves open and --shape does not name.
using ShapeOfInput = std::function<std::optional<Shape>(const ir::InputSpec& input)>;
LoadedModel LoadModel(const ModelArguments& arguments, const ShapeOfInput& shape_of = {});

// A value of --fusion: "relay" or "extended".
passes::FusionMode ParseFusion(const std::string& name);

void LoadPlugins(const std::vector<std::string>& paths);
// "x=value" as a pair. Throws InvalidArgument naming the option.
std::pair<std::string, std::string> SplitAssignment(const std::string& text,
                                                    const std::string& option);
// Extents separated by commas, with optional blanks around them.
Shape ParseShape(const std::string& text, const std::string& option);
// Of --shape: the same or, if `symbolic`, names of variables and expressions of them, too.
std::vector<Dim> ParseExtents(const std::string& text, bool symbolic);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_MODEL_H_
