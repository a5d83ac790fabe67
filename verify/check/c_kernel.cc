#include "tenon/verify/check/c_kernel.h"

#include <cstdint>

#include <dlfcn.h>
#include <dlpack/dlpack.h>

#include "tenon/compiler/export/run_program.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/support/write_file.h"

namespace tenon::verify {
namespace {

using PackedFunction = std::int32_t (*)(void* args, void* codes, std::int32_t count, void* result,
                                        void* result_code, void* handle);

DLTensor TensorOf(const NDArray& array) {
  const DataType type = array.dtype();
  return {.data = array.raw(),
          .device = {kDLCPU, 0},
          .ndim = static_cast<int>(array.shape().size()),
          .dtype = {static_cast<std::uint8_t>(type.code()),
                    static_cast<std::uint8_t>(type.is_bool() ? 8 : type.bits()), 1},
          .shape = const_cast<std::int64_t*>(array.shape().data()),
          .strides = nullptr,
          .byte_offset = 0};
}

}  // namespace

CKernel::CKernel(const std::string& name, const std::string& source) {
  const std::string path = (folder_.path() / name).string();
  WriteFile(path + ".c", {source});
  try {
    compiler::RunProgram(
        {"cc", "-std=c99", "-w", "-shared", "-fPIC", "-O1", path + ".c", "-lm", "-o", path + ".so"},
        path + ".said");
  } catch (const Error& error) {
    throw DataLoss(StrCat("C does not compile: ", error.message()));
  }
  library_ = dlopen((path + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ != nullptr) function_ = dlsym(library_, name.c_str());
  if (function_ == nullptr) throw DataLoss(StrCat("C is not loaded: ", dlerror()));
}

CKernel::~CKernel() {
  if (library_ != nullptr) dlclose(library_);
}

void CKernel::Run(const std::vector<NDArray>& arrays) const {
  std::vector<DLTensor> tensors;
  for (const NDArray& array : arrays) tensors.push_back(TensorOf(array));
  std::vector<void*> values;
  for (DLTensor& tensor : tensors) values.push_back(&tensor);
  constexpr std::int32_t kTensor = 7;  // the code of an argument that is a DLTensor
  std::vector<std::int32_t> codes(values.size(), kTensor);
  const std::int32_t status = reinterpret_cast<PackedFunction>(function_)(
      values.data(), codes.data(), static_cast<std::int32_t>(values.size()), nullptr, nullptr,
      nullptr);
  if (status != 0) throw DataLoss(StrCat("the function in C gives ", status));
}

}  // namespace tenon::verify
