#include "tenon/support/extent_condition.h"

#include <optional>

#include "tenon/support/strings.h"

namespace tenon {

bool ExtentCondition::Holds(const Dim::Values& values) const {
  const std::optional<std::int64_t> x = a.Evaluate(values), y = b.Evaluate(values);
  if (!x || !y) return false;
  switch (kind) {
    case Kind::kEqual:
      return *x == *y;
    case Kind::kAtMost:
      return *x <= *y;
  }
  return false;
}

std::string ExtentCondition::ToString() const {
  return StrCat(a.ToString(), kind == Kind::kEqual ? " == " : " <= ", b.ToString(), ", for ",
                needed_by);
}

}  // namespace tenon
