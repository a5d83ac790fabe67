// Imports, compiles and runs random ONNX models (random_onnx.h). Results must be those of the
// interpreter, and the error for a model that cannot be imported or compiled must be a user's.
//
//   OnnxFuzzStatistics statistics;
//   if (auto finding = FuzzOnnx(7, {}, &statistics)) std::puts(finding->c_str());
#ifndef TENON_VERIFY_FUZZ_ONNX_H_
#define TENON_VERIFY_FUZZ_ONNX_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::verify {

struct OnnxFuzzStatistics {
  std::int64_t cases = 0;
  std::int64_t equal = 0;            // compiled code gives the interpreter's results
  std::int64_t refused = 0;          // by a user error
  std::int64_t undefined = 0;        // for instance, an index is outside its axis
  std::int64_t ill_conditioned = 0;  // differences that rounding explains
  std::int64_t large = 0;            // imported, but too large to run here
  // Of models with variables for extents (symbolic_onnx.h).
  std::int64_t symbolic = 0;          // compiled
  std::int64_t symbolic_refused = 0;  // by a user error, or without an extent to name
  std::int64_t values = 0;            // sets of values with equal results
  std::int64_t values_refused = 0;    // by the model of these shapes, too
  std::int64_t conditions = 0;        // sets that a condition or a limit refuses
  std::int64_t values_left_out = 0;   // undefined, ill-conditioned or large
  std::string ToString() const;
};

struct OnnxFuzzOptions {
  std::vector<std::string> ops;  // only these; empty: all
  // Folder of models (as in libonnx-testdata) that are changed, instead of drawing models; empty:
  // none.
  std::string models;
  int opset = 0;  // 0: any that can be imported
  bool mutate = true;
  // Whether every case is a model with variables, and nothing else, instead of some besides.
  bool symbolic = false;
  // Whether every model that gives equal results is exported, too (exported_run.h), instead of
  // some.
  bool exports = false;
  // Folder for each model whose results equal the interpreter's, with its inputs and results, in
  // the form of the standard's node tests, to compare with another program. Empty: none.
  std::string dump;
  // Gets each model, a serialised ModelProto, before it is imported, so that the model is still
  // there after a crash.
  std::function<void(const std::string&)> before_import;
};

// Throws InvalidArgument for an operator that cannot be drawn, and Unimplemented where Tenon was
// built without ONNX.
void CheckOptions(const OnnxFuzzOptions& options);
// The finding of the case, with its model as text, or nothing. Throws what CheckOptions throws.
// Thread-safe.
std::optional<std::string> FuzzOnnx(std::uint64_t seed, const OnnxFuzzOptions& options,
                                    OnnxFuzzStatistics* statistics);
// A serialised model as text; long data is cut. Empty for what is not a model.
std::string OnnxText(std::string_view bytes);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_FUZZ_ONNX_H_
