// What the host CPU can do, as far as the operating system enables it.
//
// Features come from CPUID and XCR0, never from a CPU name, so that code made here runs here. A
// caller may mask features off.
//
//   CpuFeatures f = CpuFeatures::Host();
//   f.Apply("-avx512f");  f.vector_bits() == 256;
#ifndef TENON_JIT_CPU_FEATURES_H_
#define TENON_JIT_CPU_FEATURES_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/loop/transforms.h"

namespace tenon::jit {

class CpuFeatures {
 public:
  // Asked once a process: CPUID is slow where a virtual machine answers it.
  static const CpuFeatures& Host();

  // Switches features by a comma-separated list of +name and -name in LLVM's spelling; taking one
  // away also takes what LLVM builds on it ("-fma" takes avx512f), and giving it back gives back
  // what it builds on. Throws InvalidArgument on an unknown name, on a missing sign, and on a
  // feature that the host does not have.
  void Apply(std::string_view changes);

  bool Has(const std::string& feature) const;
  // All that are on, sorted.
  std::vector<std::string> Enabled() const;
  // Width of the widest vector registers: 512, 256 or 128.
  int vector_bits() const;
  // Which loads of transposed tiles are faster: whole rows where two vector units move the 128-bit
  // parts of registers.
  loop::RowLoads row_loads() const;
  // Whether the CPU itself has fetched a row of a matrix in time when the one before it is done.
  bool fetches_rows() const;
  // Whether its dot product of bfloat16 does at least as many multiply-adds as the one of float32.
  bool has_fast_dots_of_bf16() const;
  // "+avx,+avx2,-amx-tile,...", sorted; also part of the object cache key.
  std::string ToLlvm() const;
  const std::string& cpu_name() const { return cpu_name_; }

 private:
  std::string cpu_name_;  // for scheduling models only
  std::map<std::string, bool> host_;
  std::set<std::string> masked_;          // taken away by name
  std::map<std::string, bool> features_;  // the host's without what is masked or builds on it
};

}  // namespace tenon::jit

#endif  // TENON_JIT_CPU_FEATURES_H_
