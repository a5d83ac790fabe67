// Facts about a whole module: what passes need and what they leave.
//
//   constexpr Facts kBoth = Facts(Fact::kTyped) | Fact::kFused;
#ifndef TENON_PASSES_FACTS_H_
#define TENON_PASSES_FACTS_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "tenon/ir/module.h"

namespace tenon::passes {

enum class Fact : std::uint8_t {
  kTyped,        // every expression has its checked type
  kUnquantized,  // no call of a quantised operator (qnn.*)
  kFused,        // @main calls operators only inside primitive functions
};
inline constexpr std::array kAllFacts = {Fact::kTyped, Fact::kUnquantized, Fact::kFused};

class Facts {
 public:
  constexpr Facts() = default;
  constexpr Facts(Fact fact) : bits_(std::uint8_t{1} << static_cast<int>(fact)) {}  // NOLINT: a set
  constexpr bool Contains(Facts others) const { return (bits_ & others.bits_) == others.bits_; }
  constexpr Facts operator|(Facts other) const { return Facts(bits_ | other.bits_); }
  constexpr Facts operator&(Facts other) const { return Facts(bits_ & other.bits_); }
  constexpr bool operator==(const Facts&) const = default;

 private:
  constexpr explicit Facts(int bits) : bits_(static_cast<std::uint8_t>(bits)) {}
  std::uint8_t bits_ = 0;
};

// What the compiler needs to know of a module to make its kernels.
inline constexpr Facts kReadyForKernels = Facts(Fact::kTyped) | Fact::kUnquantized | Fact::kFused;

std::string_view NameOf(Fact fact);  // "typed"
// "typed, fused"; "-" for none.
std::string ToText(Facts facts);
// Whether the fact holds, found by a walk over the module.
bool Holds(Fact fact, const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FACTS_H_
