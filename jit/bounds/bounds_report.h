// What a kernel that checks its bounds says of the access that does not fit, and the functions that
// its code calls to say it. Only files inside jit/ include this header.
//
// A run has a report of its own, whose address the code gets as the last of the extents, so that
// runs on several threads do not meet. The first of a run's threads to call fills it in.
#ifndef TENON_JIT_BOUNDS_BOUNDS_REPORT_H_
#define TENON_JIT_BOUNDS_BOUNDS_REPORT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tenon/loop/extern_function.h"

namespace tenon::jit {

// For so many innermost loops around an access the iteration is reported.
inline constexpr std::size_t kMaxReportedLoops = 6;

struct BoundsReport {
  std::atomic<bool> is_filled = false;
  // The fields are valid when it is filled in and the run is over.
  std::int64_t access = 0;  // its number (jit/bounds/bounds_checks.h)
  std::int64_t index = 0, elements = 0;
  std::array<std::int64_t, kMaxReportedLoops> iteration{};

  std::int64_t address() const { return reinterpret_cast<std::int64_t>(this); }
};

// void(report, access, index, elements, iteration...), and bool(report): whether all accesses up to
// now fit.
const loop::ExternFunction& ReportAccessFunction();
const loop::ExternFunction& AllFitFunction();

// The functions themselves, for the linker.
void ReportAccess(std::int64_t report, std::int64_t access, std::int64_t index,
                  std::int64_t elements, std::int64_t i0, std::int64_t i1, std::int64_t i2,
                  std::int64_t i3, std::int64_t i4, std::int64_t i5);
bool AllFit(std::int64_t report);

}  // namespace tenon::jit

#endif  // TENON_JIT_BOUNDS_BOUNDS_REPORT_H_
