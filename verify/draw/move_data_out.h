// Puts the data of an ONNX model's initializers into a file beside it, as the standard's external
// data.
#ifndef TENON_VERIFY_DRAW_MOVE_DATA_OUT_H_
#define TENON_VERIFY_DRAW_MOVE_DATA_OUT_H_

#include <filesystem>

#include "onnx/onnx_pb.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

// Moves most of the data into a file in `folder`. Sometimes the location, the offset, the length or
// the shape is wrong.
void MoveDataOut(onnx::ModelProto* model, const std::filesystem::path& folder, Random& random);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_MOVE_DATA_OUT_H_
