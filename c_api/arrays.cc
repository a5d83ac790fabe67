#include "tenon/c_api/arrays.h"

#include <memory>

#include "tenon/runtime/dlpack.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::c_api {

NDArray Borrowed(const DLTensor& tensor) {
  if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr))
    throw InvalidArgument(StrCat("DLPack: the tensor has ", tensor.ndim, " axes and no shape"));
  auto managed = std::make_unique<DLManagedTensor>(
      DLManagedTensor{tensor, nullptr, [](DLManagedTensor* self) { delete self; }});
  NDArray array = ValueOrThrow(runtime::FromDLPack(managed.get()));
  managed.release();  // the array has it now
  return array;
}

}  // namespace tenon::c_api
