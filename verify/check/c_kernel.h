// A kernel as C source, compiled by the system's compiler and loaded.
//
//   CKernel("loops", kernel.CSource()).Run({x, y});
#ifndef TENON_VERIFY_CHECK_C_KERNEL_H_
#define TENON_VERIFY_CHECK_C_KERNEL_H_

#include <string>
#include <vector>

#include "tenon/support/ndarray.h"
#include "tenon/verify/check/temporary_folder.h"

namespace tenon::verify {

class CKernel {
 public:
  // `source` has the function `name` in the packed convention (jit/c/c_source.h). Throws DataLoss
  // with what the compiler says where it refuses.
  CKernel(const std::string& name, const std::string& source);
  ~CKernel();
  CKernel(const CKernel&) = delete;
  CKernel& operator=(const CKernel&) = delete;

  // Throws DataLoss for another status than 0.
  void Run(const std::vector<NDArray>& arrays) const;

 private:
  const TemporaryFolder folder_;
  void* library_ = nullptr;
  void* function_ = nullptr;
};

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_C_KERNEL_H_
