// What register_onnx.h has registered, as import and export read it.
#ifndef TENON_ONNX_USER_CONVERSIONS_H_
#define TENON_ONNX_USER_CONVERSIONS_H_

#include <string>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/register_onnx.h"

namespace tenon {

// Null where none is registered.
const onnx_import::Converter* FindUserConverter(const std::string& domain, const std::string& type);
const OnnxExporter* FindUserExporter(const std::string& op);

}  // namespace tenon

#endif  // TENON_ONNX_USER_CONVERSIONS_H_
