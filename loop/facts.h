// What can be known of the loops of a function. Loop transforms need, ensure and break facts
// (loop/pipeline.h); Verify checks them (loop/verify.h).
//
//   constexpr Facts facts{Fact::kFlatBuffers, Fact::kNoVectorLoops};
//   facts.Has(Fact::kFlatBuffers);  // true
#ifndef TENON_LOOP_FACTS_H_
#define TENON_LOOP_FACTS_H_

#include <cstdint>
#include <initializer_list>

namespace tenon::loop {

enum class Fact : std::uint8_t {
  kShapedBuffers,    // an access has one index per dimension of its buffer
  kFlatBuffers,      // an access has one index: the element's offset
  kNoVectorLoops,    // vectorised loops are expanded to statements on vectors
  kNoUnrolledLoops,  // unrolled loops are expanded to copies
};
inline constexpr Fact kFacts[] = {Fact::kShapedBuffers, Fact::kFlatBuffers, Fact::kNoVectorLoops,
                                  Fact::kNoUnrolledLoops};

// "flat buffers".
const char* ToString(Fact fact);

// A set of facts.
class Facts {
 public:
  constexpr Facts() = default;
  constexpr Facts(std::initializer_list<Fact> facts) {
    for (const Fact fact : facts) bits_ |= Bit(fact);
  }
  constexpr bool Has(Fact fact) const { return (bits_ & Bit(fact)) != 0; }
  constexpr bool Has(Facts others) const { return (bits_ & others.bits_) == others.bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr Facts operator|(Facts a, Facts b) { return Facts(a.bits_ | b.bits_); }
  // Those of `a` that are not in `b`.
  friend constexpr Facts operator-(Facts a, Facts b) { return Facts(a.bits_ & ~b.bits_); }
  friend constexpr bool operator==(Facts, Facts) = default;

 private:
  constexpr explicit Facts(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t Bit(Fact fact) {
    return std::uint32_t{1} << static_cast<unsigned>(fact);
  }
  std::uint32_t bits_ = 0;
};

// Of loops as a schedule makes them.
inline constexpr Facts kFactsOfNests{Fact::kShapedBuffers};
// Of lowered loops, which code can be generated of.
inline constexpr Facts kFactsOfLoweredLoops{Fact::kFlatBuffers, Fact::kNoVectorLoops};

}  // namespace tenon::loop

#endif  // TENON_LOOP_FACTS_H_
