// What a handle holds, unless nothing: a handle that was moved from is empty.
//
//   const State& state = Present(state_, "the executable has been moved from");
#ifndef TENON_SUPPORT_PRESENT_H_
#define TENON_SUPPORT_PRESENT_H_

#include "tenon/support/error.h"

namespace tenon {

// Throws FailedPrecondition in these words where there is none.
template <typename Pointer>
auto& Present(const Pointer& held, const char* otherwise) {
  if (held == nullptr) throw FailedPrecondition(otherwise);
  return *held;
}

}  // namespace tenon

#endif  // TENON_SUPPORT_PRESENT_H_
