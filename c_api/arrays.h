// Tensors of callers as arrays.
#ifndef TENON_C_API_ARRAYS_H_
#define TENON_C_API_ARRAYS_H_

#include "tenon/c_api/tenon_c.h"
#include "tenon/support/ndarray.h"

namespace tenon::c_api {

// The caller's elements, which must outlive the array. Throws InvalidArgument for what FromDLPack
// does not accept.
NDArray Borrowed(const DLTensor& tensor);

}  // namespace tenon::c_api

#endif  // TENON_C_API_ARRAYS_H_
