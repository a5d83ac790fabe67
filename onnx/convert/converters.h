// How each ONNX operator is expressed in Tenon's operators, and what of it is refused.
//
//   (*table)["Col2Im"] = Converter(Col2Im).With({.known = {{1, "image_shape"}}, .other = "..."});
#ifndef TENON_ONNX_CONVERT_CONVERTERS_H_
#define TENON_ONNX_CONVERT_CONVERTERS_H_

#include <concepts>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// An input whose value an import must know.
struct KnownInput {
  std::size_t input;
  std::string name;
  std::string when = {};  // "with antialias"; empty: always
};

// What an import refuses of an operator. docs/onnx.md shows it.
struct Limits {
  std::vector<KnownInput> known = {};
  std::string other = {};  // "one to three spatial axes"
};
// "image_shape and block_shape known at import; two spatial axes"
std::string ToText(const Limits& limits);

class Converter {
 public:
  // The outputs of the node, typed.
  using Function = std::function<std::vector<Expr>(Node& node)>;

  Converter() = default;
  template <typename F>
  requires(!std::same_as<F, Converter> && std::constructible_from<Function, F>)
      Converter(F function)
      : function_(std::move(function)) {}  // NOLINT: a converter is a function

  Converter With(Limits limits) && {
    limits_ = std::move(limits);
    return std::move(*this);
  }
  std::vector<Expr> operator()(Node& node) const { return function_(node); }
  const Limits& limits() const { return limits_; }

 private:
  Function function_;
  Limits limits_;
};
using ConverterTable = std::map<std::string, Converter>;

void AddActivationConverters(ConverterTable* table);
void AddAttentionConverters(ConverterTable* table);
void AddCastConverters(ConverterTable* table);
void AddColumnConverters(ConverterTable* table);
void AddControlConverters(ConverterTable* table);
void AddConvConverters(ConverterTable* table);
void AddEinsumConverters(ConverterTable* table);
void AddElementwiseConverters(ConverterTable* table);
void AddFillConverters(ConverterTable* table);
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
