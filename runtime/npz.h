// NumPy .npz files, which are zip archives of .npy files, read.
//
// Entries are as numpy.savez and numpy.savez_compressed write them. Errors name the file, the entry
// and the fault.
//
//   absl::StatusOr<NamedArrays> params = ReadNpz("params.npz");
#ifndef TENON_RUNTIME_NPZ_H_
#define TENON_RUNTIME_NPZ_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tenon/support/ndarray.h"

namespace tenon::runtime {

// By the names of the entries without ".npy", in the archive's order.
using NamedArrays = std::vector<std::pair<std::string, NDArray>>;

absl::StatusOr<NamedArrays> ReadNpz(const std::string& path);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_NPZ_H_
