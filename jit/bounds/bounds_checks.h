// Kernels that check their accesses. Only files inside jit/ include this header.
//
// Before a statement runs, code goes through all of its accesses, in the same loops, compares each
// index with the number of its buffer's elements, and reports the first that does not fit. Then the
// statement is left out, and with it the rest of the kernel. The statement itself stays as it is:
// results of a kernel whose accesses fit are the same to the bit. The statement is the whole kernel
// if no index, condition or extent is read from what the kernel itself writes, else a part of it.
//
// An index that is linear in a loop's variable is compared at both ends of the loop only.
//
// The loops are checked as they are when code is made from them. Code that reads more than an
// access asks for, as near loads do, stays inside the buffer by itself.
//
// Not checked: what C functions do with the addresses that they get, prefetches, and an access that
// a C function with effects decides on, which must not be called twice.
#ifndef TENON_JIT_BOUNDS_BOUNDS_CHECKS_H_
#define TENON_JIT_BOUNDS_BOUNDS_CHECKS_H_

#include <string>
#include <vector>

#include "tenon/jit/bounds/bounds_report.h"
#include "tenon/loop/function.h"

namespace tenon::jit {

struct CheckedAccess {
  loop::Buffer buffer;
  bool writes;
  loop::Expr index;
  std::vector<loop::Var> loops;  // that a report gives the iteration of, outermost first
};

struct CheckedFunction {
  // Its last scalar is the address of a BoundsReport.
  loop::Function function;
  std::vector<CheckedAccess> accesses;  // by their numbers
};

// Requires flat buffers and no vectorised loop, as code generation does.
CheckedFunction WithBoundsChecks(const loop::Function& function);

// "A is read at element 17 of 16 (shape 16): index (i + 1), in the loops i = 16".
std::string Describe(const CheckedAccess& access, const BoundsReport& report);

}  // namespace tenon::jit

#endif  // TENON_JIT_BOUNDS_BOUNDS_CHECKS_H_
