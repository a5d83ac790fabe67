// The metadata section of a text: the constants that it refers to by number, as JSON with base64
// data.
#ifndef TENON_IR_METADATA_H_
#define TENON_IR_METADATA_H_

#include <string>
#include <string_view>
#include <vector>

#include "tenon/support/ndarray.h"

namespace tenon::ir {

std::string WriteMetadata(const std::vector<NDArray>& constants);
// Throws InvalidArgument for text that WriteMetadata did not write, DataLoss for data of the wrong
// length.
std::vector<NDArray> ReadMetadata(std::string_view json);

}  // namespace tenon::ir

#endif  // TENON_IR_METADATA_H_
