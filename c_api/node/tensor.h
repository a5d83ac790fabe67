// Tensors of JavaScript: {dtype: 'float32', shape: [2, 3], data: new Float32Array(6)}.
#ifndef TENON_C_API_NODE_TENSOR_H_
#define TENON_C_API_NODE_TENSOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tenon/c_api/node/call.h"

namespace tenon::node {

// The elements are those of JavaScript, in place. Not copied, as `tensor` points to `shape`.
struct Tensor {
  // Reads the object, by which code of JavaScript may run.
  Tensor(const Call& call, napi_value object);
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  // Sets `tensor`. That holds until code of JavaScript runs again, which may move the elements.
  void FindElements(const Call& call);

  std::vector<std::int64_t> shape;
  DLTensor tensor{};

 private:
  std::string dtype_;
  napi_value data_ = nullptr;
};

// A copy.
napi_value ToJavaScript(const Call& call, const DLTensor& tensor);

}  // namespace tenon::node

#endif  // TENON_C_API_NODE_TENSOR_H_
