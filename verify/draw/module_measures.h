// How large a module's values are, and how they round.
#ifndef TENON_VERIFY_DRAW_MODULE_MEASURES_H_
#define TENON_VERIFY_DRAW_MODULE_MEASURES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "tenon/ir/module.h"
#include "tenon/support/ndarray.h"

namespace tenon::verify {

struct ModuleMeasures {
  std::int64_t elements = 0, expressions = 0;
  double rounding = 0;  // of the narrowest floating type
  // Two neighbouring integers may both be right: integer pixels are interpolated in a floating
  // type, and quantised operators run in integers, within one quantum.
  bool rounds_to_integers = false;
  // A normalisation becomes one product and one sum. With infinite parameters, these subtract
  // infinities.
  bool normalises = false;
  // A constant holds NaN or infinities.
  bool has_infinities = false;

  // Whether it takes too long to interpret.
  bool IsLarge() const;
};
// Requires checked types.
ModuleMeasures MeasuresOf(const ir::Module& module);

// The elements of an array of the shape. An extent of 0 counts as 1: the others have to fit 64 bits
// beside it, too. Overflows nothing.
double ElementsCounted(const Shape& shape);

// Whether an error is of the kind that a module or a model may cause, and says something.
bool IsUserError(const absl::Status& status);

// Whether an interpreted read lies outside whatever the data holds: along an axis of no elements.
bool ReadsNoElements(const absl::Status& status);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_MODULE_MEASURES_H_
