// Tensors of JavaScript: {dtype: 'float32', shape: [2, 3], data: new Float32Array(6)}.
#ifndef TENON_C_API_NODE_TENSOR_H_
#define TENON_C_API_NODE_TENSOR_H_

#include <cstdint>
#include <vector>

#include "tenon/c_api/node/call.h"

namespace tenon::node {

// The elements are those of JavaScript, in place. Not copied, as `tensor` points to `shape`.
struct Tensor {
  Tensor(const Call& call, napi_value object);
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  std::vector<std::int64_t> shape;
  DLTensor tensor{};
};

// A copy.
napi_value ToJavaScript(const Call& call, const DLTensor& tensor);

}  // namespace tenon::node

#endif  // TENON_C_API_NODE_TENSOR_H_
