// What a computation says, as bytes (loop/content.h).
#ifndef TENON_TE_CONTENT_H_
#define TENON_TE_CONTENT_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/te/tensor.h"

namespace tenon::te {

// The content of all that `outputs` are computed from, down to the placeholders, and which of these
// tensors `args` are, in order. Equal bytes are equal computations. Nothing if external operations,
// scans or calls of external functions are among them.
std::optional<std::string> ContentOf(const std::vector<Tensor>& outputs,
                                     const std::vector<Tensor>& args);

}  // namespace tenon::te

#endif  // TENON_TE_CONTENT_H_
