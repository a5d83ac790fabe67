// ConstantOfShape, Expand, Range and Tile.
#ifndef TENON_ONNX_CONVERT_CONVERT_FILL_H_
#define TENON_ONNX_CONVERT_CONVERT_FILL_H_

#include "tenon/onnx/convert/converters.h"

namespace tenon::onnx_import {

void AddFillConverters(ConverterTable* table);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_CONVERT_FILL_H_
