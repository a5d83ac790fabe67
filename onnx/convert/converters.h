// How each ONNX operator is expressed in Tenon's operators.
#ifndef TENON_ONNX_CONVERT_CONVERTERS_H_
#define TENON_ONNX_CONVERT_CONVERTERS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// The outputs of the node, typed.
using Converter = std::function<std::vector<Expr>(Node& node)>;
using ConverterTable = std::map<std::string, Converter>;

void AddActivationConverters(ConverterTable* table);
void AddAttentionConverters(ConverterTable* table);
void AddCastConverters(ConverterTable* table);
void AddControlConverters(ConverterTable* table);
void AddConvConverters(ConverterTable* table);
void AddEinsumConverters(ConverterTable* table);
void AddElementwiseConverters(ConverterTable* table);
void AddImageConverters(ConverterTable* table);
void AddIndexConverters(ConverterTable* table);
void AddLinearAttentionConverters(ConverterTable* table);
void AddLossConverters(ConverterTable* table);
void AddRecurrentConverters(ConverterTable* table);
void AddQuantizeConverters(ConverterTable* table);
void AddQuantizeLinearConverters(ConverterTable* table);
void AddReduceConverters(ConverterTable* table);
void AddSampleConverters(ConverterTable* table);
void AddSequenceConverters(ConverterTable* table);
void AddSignalConverters(ConverterTable* table);
void AddSliceConverters(ConverterTable* table);
void AddShapeConverters(ConverterTable* table);
void AddNnConverters(ConverterTable* table);
void AddNormConverters(ConverterTable* table);
void AddPadConverters(ConverterTable* table);
void AddPoolConverters(ConverterTable* table);
void AddTextConverters(ConverterTable* table);
void AddVisionConverters(ConverterTable* table);

// The converters of the standard's domain.
const ConverterTable& Converters();

void AddMicrosoftConverters(ConverterTable* table);
void AddMicrosoftAttentionConverters(ConverterTable* table);
void AddMicrosoftBlockConverters(ConverterTable* table);
void AddMicrosoftEmbeddingConverters(ConverterTable* table);
void AddMicrosoftGroupQueryConverters(ConverterTable* table);
void AddMicrosoftQuantizeConverters(ConverterTable* table);

// The converters of the domain com.microsoft, which holds what ONNX Runtime fuses and quantises.
const ConverterTable& MicrosoftConverters();

// Null when no table has the operator.
const Converter* FindConverter(const std::string& domain, const std::string& type);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_CONVERTERS_H_
