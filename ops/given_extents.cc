#include "tenon/ops/given_extents.h"

#include <map>
#include <set>

#include "tenon/ir/parse_extents.h"
#include "tenon/support/strings.h"

namespace tenon::ops {

using ir::Dim;

std::vector<Dim> GivenExtents(TypeCall& call, const std::string& shape,
                              const std::vector<const ir::TensorTypeNode*>& fields) {
  std::map<std::string, Dim> extents;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    for (std::size_t axis = 0; axis < fields[f]->shape.size(); ++axis)
      extents.emplace(StrCat("x", f, "_", axis), fields[f]->shape[axis]);
  }
  std::vector<Dim> given = ir::ParseExtents(shape);
  for (Dim& dim : given) {
    std::set<std::string> names;
    dim.AddSymbols(&names);
    for (const std::string& name : names) {
      if (!extents.contains(name))
        call.Refuse(StrCat("shape has ", name, ", which is no extent of a field of the tuple"));
    }
    dim = dim.Substitute(extents);
    if (call.Exceeds(0, dim))
      call.Refuse(StrCat("shape has the extent ", dim.ToString(), "; extents are at least 0"));
  }
  return given;
}

}  // namespace tenon::ops
