// Control flow in a random module: some of its values become ifs, and @main a function that calls
// itself before it computes.
#ifndef TENON_VERIFY_DRAW_ADD_CONTROL_FLOW_H_
#define TENON_VERIFY_DRAW_ADD_CONTROL_FLOW_H_

#include "tenon/verify/draw/random_module.h"

namespace tenon::verify {

// The results stay the same: the branch that runs computes what was computed there before, and so
// does the other one in some ifs.
RandomModule AddControlFlow(const RandomModule& given, Random& random);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_ADD_CONTROL_FLOW_H_
