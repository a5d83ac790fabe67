#include "tenon/ir/input_spec.h"

#include "tenon/support/strings.h"

namespace tenon::ir {

bool InputSpec::Fits(const Shape& shape) const {
  if (!extents) return true;
  if (extents->size() != shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const Dim& dim = (*extents)[i];
    if (dim.is_static() && dim.value() != shape[i]) return false;
  }
  return true;
}

std::optional<Shape> InputSpec::Fixed() const {
  if (!extents) return std::nullopt;
  Shape shape;
  for (const Dim& dim : *extents) {
    if (!dim.is_static()) return std::nullopt;
    shape.push_back(dim.value());
  }
  return shape;
}

std::string InputSpec::ExtentsToString() const {
  if (!extents) return "any";
  const std::string list = StrJoin(
      *extents, ", ", [](std::string* out, const Dim& dim) { StrAppend(out, dim.ToString()); });
  return StrCat("(", list, extents->size() == 1 ? ",)" : ")");
}

}  // namespace tenon::ir
