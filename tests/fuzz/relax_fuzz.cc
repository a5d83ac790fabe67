// libFuzzer: any bytes as a Relax text.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tenon/ir/structural.h"
#include "tenon/relax/text_format.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tests/fuzz/front_end.h"

namespace tenon::fuzz {
namespace {

// A module that is accepted is the same after it is printed and read; only what the text cannot
// express may be refused then.
std::optional<std::string> RoundTripFault(const ir::Module& module) {
  const auto text = CatchErrors([&] { return relax::PrintRelax(module); });
  if (!text.ok()) return StrCat("what is read does not print: ", text.status().ToString());
  const auto again = relax::ParseRelax(*text, "printed");
  if (!again.ok())
    return StrCat("what is printed is refused: ", again.status().ToString(), "\n", *text);
  if (!ir::StructuralEqual(module, *again)) return StrCat("is another when printed:\n", *text);
  if (relax::PrintRelax(*again) != *text) return StrCat("prints differently:\n", *text);
  return std::nullopt;
}

}  // namespace
}  // namespace tenon::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Reading infers types and verifies the module.
  const auto module = tenon::relax::ParseRelax(text);
  tenon::fuzz::Report(module.ok() ? tenon::fuzz::RoundTripFault(*module)
                                  : tenon::fuzz::FaultOf(module));
  return 0;
}
