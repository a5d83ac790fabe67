// libFuzzer: any bytes as an ONNX model. No operator is evaluated on the way; front_end_fuzz
// imports with the evaluator.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tenon/onnx/import.h"
#include "tenon/tests/fuzz/front_end.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  tenon::fuzz::CheckFrontEnd(tenon::onnx_import::ImportOnnx(bytes, {}));
  return 0;
}
