// Facts about a whole module: what passes need and what they leave.
//
//   constexpr Facts kBoth{Fact::kTyped, Fact::kFused};
#ifndef TENON_PASSES_FACTS_H_
#define TENON_PASSES_FACTS_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "tenon/ir/module.h"
#include "tenon/support/enum_set.h"

namespace tenon::passes {

enum class Fact : std::uint8_t {
  kTyped,        // every expression has its checked type
  kUnquantized,  // no call of a quantised operator (qnn.*)
  kFused,        // @main calls operators only in primitive functions, except on references
};
inline constexpr std::array kAllFacts = {Fact::kTyped, Fact::kUnquantized, Fact::kFused};

using Facts = EnumSet<Fact>;

// What the compiler needs to know of a module to make its kernels.
inline constexpr Facts kReadyForKernels{Fact::kTyped, Fact::kUnquantized, Fact::kFused};

std::string_view NameOf(Fact fact);  // "typed"
// "typed, fused"; "-" for none.
std::string ToText(Facts facts);
// Whether the fact holds, found by a walk over the module.
bool Holds(Fact fact, const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FACTS_H_
