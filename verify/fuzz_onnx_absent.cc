// In place of fuzz_onnx.cc where Tenon is built with -DTENON_ONNX=OFF.
#include "tenon/support/error.h"
#include "tenon/verify/fuzz_onnx.h"

namespace tenon::verify {

std::string OnnxFuzzStatistics::ToString() const { return "no models"; }

void CheckOptions(const OnnxFuzzOptions&) {
  throw Unimplemented("fuzz: this Tenon was built without ONNX (-DTENON_ONNX=ON)");
}

std::optional<std::string> FuzzOnnx(std::uint64_t, const OnnxFuzzOptions& options,
                                    OnnxFuzzStatistics*) {
  CheckOptions(options);
  return std::nullopt;
}

std::string OnnxText(std::string_view) { return ""; }

}  // namespace tenon::verify
