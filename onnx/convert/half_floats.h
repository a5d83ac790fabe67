// Nodes of float16 and bfloat16 that are several operations here and one in the standard.
//
//   t["ReduceL2"] = InFloat32(ReduceL2);  // squares of 300 do not overflow
#ifndef TENON_ONNX_CONVERT_HALF_FLOATS_H_
#define TENON_ONNX_CONVERT_HALF_FLOATS_H_

#include "tenon/onnx/convert/converters.h"

namespace tenon::onnx_import {

// Converts nodes of halves over inputs that are cast to float32, and casts each result to the type
// of the first input: what lies between is not rounded and does not overflow. Other nodes are
// converted as they are. Inputs and results of other types stay.
Converter InFloat32(Converter convert);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_HALF_FLOATS_H_
