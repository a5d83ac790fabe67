// Random ONNX models (random_onnx.h) imported, compiled and run: results must be those of the
// interpreter, and a model that cannot be imported or compiled must be refused in words.
//
//   OnnxFuzzStatistics statistics;
//   if (auto finding = FuzzOnnx(7, {}, &statistics)) std::puts(finding->c_str());
#ifndef TENON_VERIFY_FUZZ_ONNX_H_
#define TENON_VERIFY_FUZZ_ONNX_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"

namespace tenon::verify {

struct OnnxFuzzStatistics {
  std::int64_t cases = 0;
  std::int64_t equal = 0;            // compiled code gives what the interpreter gives
  std::int64_t refused = 0;          // by an error of the user's
  std::int64_t undefined = 0;        // an index leaves its axis, for instance
  std::int64_t ill_conditioned = 0;  // differences that rounding explains
  std::int64_t large = 0;            // imported, and too large to be run here
  std::string ToString() const;
};

struct OnnxFuzzOptions {
  std::vector<std::string> ops;  // of these alone; empty: of all
  // Folder of models (as libonnx-testdata has) that are changed instead of drawn ones; empty: none.
  std::string models;
  int opset = 0;  // 0: any from 7 to 21
  bool mutate = true;
  // Folder that gets each model whose results are the interpreter's, with its inputs and results,
  // in the form of the standard's node tests: for a comparison with another program. Empty: none.
  std::string dump;
  // Sees each model before it is imported: what a crash leaves behind.
  std::function<void(const onnx::ModelProto&)> before_import;
};

// The finding of the case with its model as text, or nothing. Thread-safe.
std::optional<std::string> FuzzOnnx(std::uint64_t seed, const OnnxFuzzOptions& options,
                                    OnnxFuzzStatistics* statistics);
// The same of a given model, in words; `seed` is that of inputs and of the choice of options.
// `dump` as in OnnxFuzzOptions.
std::optional<std::string> CheckOnnx(const onnx::ModelProto& model, std::uint64_t seed,
                                     OnnxFuzzStatistics* statistics, const std::string& dump = "");
// The model as text; long data is cut.
std::string OnnxText(const onnx::ModelProto& model);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_FUZZ_ONNX_H_
