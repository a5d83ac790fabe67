// The rules that loops keep. The loop pipeline checks them after each transform in debug builds and
// where it is asked to (loop/pipeline.h); code generation checks them before it starts.
#ifndef TENON_LOOP_VERIFY_H_
#define TENON_LOOP_VERIFY_H_

#include "tenon/loop/facts.h"
#include "tenon/loop/function.h"

namespace tenon::loop {

// Throws an internal Error naming the broken rule and the place: every variable and buffer is
// defined where it is used, parallel loops do not nest, a store's value has its index's lanes, and
// `facts` hold.
void Verify(const Function& function, Facts facts = kFactsOfLoweredLoops);

}  // namespace tenon::loop

#endif  // TENON_LOOP_VERIFY_H_
