// Extents that an attribute says as expressions of those of other tensors.
//
//   GivenExtents(call, "(x0_0, 2*x1_1)", *call.tensors(1));       // {n, 2*w}
//   TextOfExtents({n, 2*w}, {{"n", {0, 0}}, {"w", {1, 1}}});      // "(x0_0, 2*x1_1)"
#ifndef TENON_OPS_GIVEN_EXTENTS_H_
#define TENON_OPS_GIVEN_EXTENTS_H_

#include <map>
#include <string>
#include <vector>

#include "tenon/ops/type_relation.h"

namespace tenon::ops {

// x1_0 is the extent of axis 0 of field 1. Refuses other names, and extents below 0.
std::vector<ir::Dim> GivenExtents(TypeCall& call, const std::string& shape,
                                  const std::vector<const ir::TensorTypeNode*>& fields);

struct ExtentPlace {
  std::size_t field, axis;
};
// The text that GivenExtents reads as `shape`. Each variable of the shape needs a place. Nothing
// but that it is an extent is assumed of it, since other values may stand there later.
std::string TextOfExtents(const std::vector<ir::Dim>& shape,
                          const std::map<std::string, ExtentPlace>& places);

}  // namespace tenon::ops

#endif  // TENON_OPS_GIVEN_EXTENTS_H_
