// The rules that lowered loops keep. Run after every lowering in debug builds and in all tests.
#ifndef TENON_LOOP_VERIFY_H_
#define TENON_LOOP_VERIFY_H_

#include "tenon/loop/function.h"

namespace tenon::loop {

// Throws an internal Error naming the broken rule and the place: every variable and buffer is
// defined where it is used, buffers are flat, no vectorised loop is left, parallel loops do not
// nest, and a store's value has its index's lanes.
void Verify(const Function& function);

}  // namespace tenon::loop

#endif  // TENON_LOOP_VERIFY_H_
