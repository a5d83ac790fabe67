// The machine that this process runs on, as a Target.
//
// Features come from CPUID and XCR0, never from a CPU name, so that code made here runs here. A
// caller may mask features off: the rest of the Target follows.
//
//   Target target = HostTarget("-avx512f");
//   target.vector_bytes == 32;
#ifndef TENON_JIT_HOST_TARGET_H_
#define TENON_JIT_HOST_TARGET_H_

#include <string>
#include <string_view>

#include "tenon/support/target.h"

namespace tenon::jit {

// CPUID is asked once per process, since it is slow where a virtual machine answers it.
const Target& HostTarget();

// The host's target, changed by a comma-separated list: "-avx512f,cpu=znver3,l3=16M,cores=8".
// Features are switched one after the other by +name and -name in LLVM's spelling. Taking one away
// also takes what LLVM builds on it ("-fma" takes avx512f); giving it back gives back what it
// builds on. Facts are cpu, cores, and in bytes l1, l2, l3 and line (jit/target_facts.h). Throws
// InvalidArgument on an unknown name, on a missing sign, on a feature that the host lacks, on a
// number out of range, and where no code could be made any more.
Target HostTarget(std::string_view changes);

// `target` without the feature and what LLVM builds on it.
Target Without(Target target, const std::string& feature);

// "+avx,+avx2,-amx-tile,...": every feature that LLVM knows, sorted by name. Part of the object
// cache key.
std::string LlvmFeatures(const Target& target);

}  // namespace tenon::jit

#endif  // TENON_JIT_HOST_TARGET_H_
