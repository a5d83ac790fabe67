// NumPy .npy files (format versions 1.0 to 3.0), read and written.
//
// Reads little- and big-endian bool, integer and floating elements in C or Fortran order into a
// row-major array. Every other element type (complex, object, string, structured) is refused by
// name. Errors name the file and the fault; a failed write leaves no file (support/write_file.h).
//
//   absl::StatusOr<NDArray> x = ReadNpy("x.npy");
//   absl::Status written = WriteNpy("y.npy", *x);
#ifndef TENON_RUNTIME_NPY_H_
#define TENON_RUNTIME_NPY_H_

#include <cstdint>
#include <istream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tenon/support/ndarray.h"

namespace tenon::runtime {

absl::StatusOr<NDArray> ReadNpy(const std::string& path);
// The array that a stream holds from here on, of which `bytes` are left. Throws what ReadNpy
// returns.
NDArray ReadNpyFrom(std::istream& in, std::uintmax_t bytes);
absl::Status WriteNpy(const std::string& path, const NDArray& array);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_NPY_H_
