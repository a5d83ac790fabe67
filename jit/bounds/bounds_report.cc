#include "tenon/jit/bounds/bounds_report.h"

namespace tenon::jit {
namespace {

BoundsReport& ReportAt(std::int64_t address) { return *reinterpret_cast<BoundsReport*>(address); }

}  // namespace

// The functions go by their names, so that code from the cache finds them, too.
const loop::ExternFunction& ReportAccessFunction() {
  static const auto f = loop::ExternFunction::Named<decltype(ReportAccess)>("tenon_report_access");
  return f;
}

const loop::ExternFunction& AllFitFunction() {
  static const auto f = loop::ExternFunction::Named<decltype(AllFit)>("tenon_all_fit");
  return f;
}

void ReportAccess(std::int64_t report, std::int64_t access, std::int64_t index,
                  std::int64_t elements, std::int64_t i0, std::int64_t i1, std::int64_t i2,
                  std::int64_t i3, std::int64_t i4, std::int64_t i5) {
  BoundsReport& filled = ReportAt(report);
  if (filled.is_filled.exchange(true)) return;
  filled.access = access;
  filled.index = index;
  filled.elements = elements;
  filled.iteration = {i0, i1, i2, i3, i4, i5};
}

bool AllFit(std::int64_t report) { return !ReportAt(report).is_filled; }

}  // namespace tenon::jit
