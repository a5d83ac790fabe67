// Converters of operators that add columns up to an image.
#ifndef TENON_ONNX_CONVERT_CONVERT_COLUMNS_H_
#define TENON_ONNX_CONVERT_CONVERT_COLUMNS_H_

#include "tenon/onnx/convert/converters.h"

namespace tenon::onnx_import {

void AddColumnConverters(ConverterTable* table);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_CONVERT_COLUMNS_H_
