// Extents that an attribute says as expressions of those of other tensors.
//
//   GivenExtents(call, "(x0_0, 2*x1_1)", *call.tensors(1));       // {n, 2*w}
#ifndef TENON_OPS_EXTENTS_GIVEN_EXTENTS_H_
#define TENON_OPS_EXTENTS_GIVEN_EXTENTS_H_

#include <string>
#include <vector>

#include "tenon/ops/type_relation.h"

namespace tenon::ops {

// "x1_0", the extent of axis 0 of field 1.
std::string NameOfExtent(std::size_t field, std::size_t axis);

// The extents that the text says in such names. Refuses other names, and extents below 0.
std::vector<ir::Dim> GivenExtents(TypeCall& call, const std::string& shape,
                                  const std::vector<const ir::TensorTypeNode*>& fields);

}  // namespace tenon::ops

#endif  // TENON_OPS_EXTENTS_GIVEN_EXTENTS_H_
