// Facts of a machine as text, "l2=512K" or "cores=8", set in a Target. Only files inside jit/
// include this header.
//
//   Target target = HostTarget();
//   SetFact("l2=512K", &target);
#ifndef TENON_JIT_TARGET_FACTS_H_
#define TENON_JIT_TARGET_FACTS_H_

#include <string_view>

#include "tenon/support/target.h"

namespace tenon::jit {

// Sets cpu=NAME, cores=N, or l1=BYTES, l2, l3 and line, with K or M after the number for KiB and
// MiB. Throws InvalidArgument that names what is allowed.
void SetFact(std::string_view fact, Target* target);

}  // namespace tenon::jit

#endif  // TENON_JIT_TARGET_FACTS_H_
