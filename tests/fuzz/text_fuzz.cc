// libFuzzer: any bytes as a Relay text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tenon/ir/text_format.h"
#include "tenon/ops/registry.h"
#include "tenon/tests/fuzz/front_end.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  tenon::fuzz::CheckFrontEnd(
      tenon::ir::ParseModule(text, tenon::ops::OpRegistry::Global().Resolver()));
  return 0;
}
