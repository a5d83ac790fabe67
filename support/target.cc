#include "tenon/support/target.h"

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {

namespace {
bool IsZen(const Target& target) { return target.cpu.starts_with("znver"); }
}  // namespace

// Two of the vector units of AMD's CPUs with AVX-512 move the 128-bit parts of registers, one of
// Intel's does ("Instruction tables", Fog, 2024).
bool Target::loads_whole_rows() const { return IsZen(*this) && vector_bytes == 64; }

// Asked for the next row of 1024 floats, Zen 4 takes 1.3 times as long for layer_norm and max, and
// Sapphire Rapids 0.8 times. Zen 5 was not measured.
bool Target::fetches_rows() const { return cpu == "znver4"; }

// VDPBF16PS takes two cycles on Sapphire Rapids, which has matrix instructions for bfloat16: 118
// GFLOP/s where the multiply-add of float32 does 240. Zen 5 does twice as many by it, Zen 4 as
// many.
bool Target::has_fast_dots_of_bf16() const { return Has("avx512bf16") && IsZen(*this); }

void Target::RequireVectors() const {
  const bool is_width = vector_bytes == 16 || vector_bytes == 32 || vector_bytes == 64;
  if (!is_width || vector_registers < 16)
    throw InvalidArgument(StrCat("the target has ", vector_registers, " vector registers of ",
                                 vector_bytes,
                                 " bytes; there must be at least 16, of 16, 32 or 64 bytes"));
}

std::string Target::ToString() const {
  return StrCat(triple, ", ", cpu, ": ", vector_registers, " vector registers of ", vector_bytes,
                " bytes, caches of ", l1_bytes >> 10, ", ", l2_bytes >> 10, " and ", l3_bytes >> 10,
                " KiB in lines of ", line_bytes, " bytes, ", cores,
                cores == 1 ? " core" : " cores");
}

}  // namespace tenon
