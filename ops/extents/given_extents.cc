#include "tenon/ops/extents/given_extents.h"

#include <map>

#include "tenon/ir/parse_extents.h"
#include "tenon/support/strings.h"

namespace tenon::ops {

using ir::Dim;

std::string NameOfExtent(std::size_t field, std::size_t axis) {
  return StrCat("x", field, "_", axis);
}

std::vector<Dim> GivenExtents(TypeCall& call, const std::string& shape,
                              const std::vector<const ir::TensorTypeNode*>& fields) {
  std::map<std::string, Dim> extents;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    for (std::size_t axis = 0; axis < fields[f]->shape.size(); ++axis)
      extents.emplace(NameOfExtent(f, axis), fields[f]->shape[axis]);
  }
  std::vector<Dim> given = ir::ParseExtents(shape, [&](const std::string& name) {
    const auto extent = extents.find(name);
    if (extent == extents.end())
      call.Refuse(StrCat("shape has ", name, ", which is no extent of a field of the tuple"));
    return extent->second;
  });
  for (const Dim& dim : given) {
    if (call.Exceeds(0, dim))
      call.Refuse(StrCat("shape has the extent ", dim.ToString(), "; extents are at least 0"));
  }
  return given;
}

}  // namespace tenon::ops
