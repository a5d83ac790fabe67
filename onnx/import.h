// Imports ONNX models as modules.
//
// Supports opsets 7 to 27 of the default domain. Functions of the model are replaced by their
// bodies; other nodes of other domains map to registered operators by name ("domain.Op" or "Op").
// Integers of 2 and 4 bits and floats of 4 and 8 bits are int8, uint8 and float32 here. The graph
// becomes @main, its inputs the parameters under their ONNX names, several outputs a tuple, whose
// names the module keeps (ir/result_names.h).
// Constants are folded on the way, so that shapes which the model computes become attributes.
// Errors: NotFound for a missing file; DataLoss for a file that is not a complete model;
// Unimplemented, listing every missing operator with its nodes; InvalidArgument, naming the node,
// for everything else.
//
//   ir::Module m = LoadOnnx("model.onnx", {.shapes = {{"x", {1, 3, 48, 192}}}}).value();
#ifndef TENON_ONNX_IMPORT_H_
#define TENON_ONNX_IMPORT_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tenon/ir/module.h"
#include "tenon/passes/simplify/fold_constant.h"
#include "tenon/support/ndarray.h"

namespace tenon::onnx_import {

// Opsets of the default domain that can be imported.
inline constexpr int kFirstOpset = 7;
inline constexpr int kLastOpset = 27;

struct ImportOptions {
  // Extents of inputs by name; needed where the model leaves some open, unless these become
  // variables. An input that has an initializer, which is its default, is a parameter where it is
  // named here or in `extents`.
  std::map<std::string, Shape> shapes;
  // Extents that the model leaves open, and `shapes` do not give, become variables of the module:
  // "batch" of the model, or "x_0" for axis 0 of x. Throws Unimplemented for a node that needs them
  // at import.
  bool symbolic = false;
  // Of symbolic inputs, instead of the model's own: {"x", {n, 512}} and {"state", {n, 128}} fix one
  // extent and say that two are the same.
  std::map<std::string, std::vector<Dim>> extents;
  // What the names of extents stand for: {"n", 8 * k} says that n is a multiple of 8.
  std::map<std::string, Dim> dims;
  // What holds of variables, such as "n <= 512" (passes/declared_limits.h). A run with other values
  // is refused.
  std::vector<std::string> limits;
  // Inputs that always have this value and are not parameters of the module. Everything that
  // depends only on them, such as the branch of an If, is known at import.
  std::map<std::string, NDArray> constants;
  // Whether the module may have ifs and recursive functions. Without them, both branches of an If
  // are computed and a Loop is unrolled.
  bool control_flow = true;
  // Evaluates operators over constants; usually strategies::EvaluateCall.
  passes::ConstantEvaluator evaluate;
};

absl::StatusOr<ir::Module> LoadOnnx(const std::string& path, const ImportOptions& options);
// `bytes` is a serialised ModelProto.
absl::StatusOr<ir::Module> ImportOnnx(std::string_view bytes, const ImportOptions& options,
                                      const std::string& source = "model");
// ONNX operator types that can be imported, sorted. Those of another domain begin with its name.
std::vector<std::string> SupportedOnnxOps();
// What docs/onnx.md says of them: those that are taken whole, and the limits of the others.
std::string OnnxOpsMarkdown();

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_IMPORT_H_
