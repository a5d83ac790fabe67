// Extents that values decide in a random module: some of its values are cut to counts that inputs
// say.
#ifndef TENON_VERIFY_DRAW_ADD_RUN_TIME_CUTS_H_
#define TENON_VERIFY_DRAW_ADD_RUN_TIME_CUTS_H_

#include "tenon/verify/draw/random_module.h"

namespace tenon::verify {

// The given one where types do not follow from such extents, or the operators after them refuse
// the counts.
RandomModule AddRunTimeCuts(const RandomModule& given, Random& random);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_ADD_RUN_TIME_CUTS_H_
