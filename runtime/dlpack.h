// Zero-copy exchange of arrays with other libraries by DLPack.
//
// ToDLPack shares the elements; the tensor it returns holds them until its deleter runs. FromDLPack
// takes ownership of a compact, row-major CPU tensor; anything else is refused and stays the
// caller's. Bools with other bytes than 0 and 1 are copied, and these bytes are 1.
//
//   DLManagedTensor* shared = ToDLPack(array);  shared->deleter(shared);
#ifndef TENON_RUNTIME_DLPACK_H_
#define TENON_RUNTIME_DLPACK_H_

#include <dlpack/dlpack.h>

#include "absl/status/statusor.h"
#include "tenon/support/ndarray.h"

namespace tenon::runtime {

DLManagedTensor* ToDLPack(const NDArray& array);
absl::StatusOr<NDArray> FromDLPack(DLManagedTensor* tensor);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_DLPACK_H_
