// What can be known of the loops of a function. Loop transforms need, ensure and break facts
// (loop/pipeline.h); Verify checks them (loop/verify.h).
//
//   constexpr Facts facts{Fact::kFlatBuffers, Fact::kNoVectorLoops};
//   facts.Has(Fact::kFlatBuffers);  // true
#ifndef TENON_LOOP_FACTS_H_
#define TENON_LOOP_FACTS_H_

#include <cstdint>

#include "tenon/support/enum_set.h"

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

using Facts = EnumSet<Fact>;

// The facts of loops as a schedule makes them.
inline constexpr Facts kFactsOfNests{Fact::kShapedBuffers};
// The facts of lowered loops, from which code can be generated.
inline constexpr Facts kFactsOfLoweredLoops{Fact::kFlatBuffers, Fact::kNoVectorLoops};

}  // namespace tenon::loop

#endif  // TENON_LOOP_FACTS_H_
