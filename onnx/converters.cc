// The tables of all converters, those of users before them, and what docs/onnx.md says of them.
#include "tenon/onnx/convert/converters.h"

#include "tenon/onnx/import.h"
#include "tenon/onnx/opset.h"
#include "tenon/onnx/user_conversions.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

constexpr const char* kMicrosoft = "com.microsoft";

// Calls `visit` with each operator, under the name that SupportedOnnxOps gives it.
template <typename Visit>
void ForEachConverter(const Visit& visit) {
  for (const auto& [name, converter] : Converters()) visit(name, converter);
  for (const auto& [name, converter] : MicrosoftConverters())
    visit(StrCat(kMicrosoft, ".", name), converter);
}

}  // namespace

const ConverterTable& Converters() {
  static const ConverterTable table = [] {
    ConverterTable made;
    AddActivationConverters(&made);
    AddAttentionConverters(&made);
    AddCastConverters(&made);
    AddColumnConverters(&made);
    AddControlConverters(&made);
    AddConvConverters(&made);
    AddEinsumConverters(&made);
    AddElementwiseConverters(&made);
    AddFillConverters(&made);
    AddImageConverters(&made);
    AddIndexConverters(&made);
    AddLinearAttentionConverters(&made);
    AddLossConverters(&made);
    AddRecurrentConverters(&made);
    AddQuantizeConverters(&made);
    AddQuantizeLinearConverters(&made);
    AddReduceConverters(&made);
    AddSampleConverters(&made);
    AddSequenceConverters(&made);
    AddSignalConverters(&made);
    AddSliceConverters(&made);
    AddShapeConverters(&made);
    AddNnConverters(&made);
    AddNormConverters(&made);
    AddPadConverters(&made);
    AddPoolConverters(&made);
    AddTextConverters(&made);
    AddVisionConverters(&made);
    return made;
  }();
  return table;
}

const ConverterTable& MicrosoftConverters() {
  static const ConverterTable table = [] {
    ConverterTable made;
    AddMicrosoftConverters(&made);
    AddMicrosoftAttentionConverters(&made);
    AddMicrosoftBlockConverters(&made);
    AddMicrosoftEmbeddingConverters(&made);
    AddMicrosoftGroupQueryConverters(&made);
    AddMicrosoftQuantizeConverters(&made);
    return made;
  }();
  return table;
}

const Converter* FindConverter(const std::string& domain, const std::string& type) {
  if (const Converter* user = FindUserConverter(domain, type)) return user;
  if (!IsDefaultDomain(domain) && domain != kMicrosoft) return nullptr;
  const ConverterTable& table = IsDefaultDomain(domain) ? Converters() : MicrosoftConverters();
  const auto found = table.find(type);
  return found == table.end() ? nullptr : &found->second;
}

std::string ToText(const Limits& limits) {
  std::vector<std::string> parts;
  // Inputs that are known under the same condition share it.
  for (std::size_t i = 0; i < limits.known.size();) {
    const std::string& when = limits.known[i].when;
    std::vector<std::string> names;
    for (; i < limits.known.size() && limits.known[i].when == when; ++i)
      names.push_back(limits.known[i].name);
    const std::string last = names.back();
    names.pop_back();
    parts.push_back(StrCat(StrJoin(names, ", "), names.empty() ? "" : " and ", last,
                           " known at import", when.empty() ? "" : " ", when));
  }
  if (!limits.other.empty()) parts.push_back(limits.other);
  return StrJoin(parts, "; ");
}

std::vector<std::string> SupportedOnnxOps() {
  std::vector<std::string> names;
  ForEachConverter([&](const std::string& name, const Converter&) { names.push_back(name); });
  return names;
}

std::string OnnxOpsMarkdown() {
  constexpr std::size_t kWidth = 140;
  std::string whole = "Without limits:", table;
  std::size_t line = 0;  // where it begins
  ForEachConverter([&](const std::string& name, const Converter& converter) {
    const std::string limits = ToText(converter.limits());
    if (!limits.empty()) {
      StrAppend(&table, "| ", name, " | ", limits, " |\n");
      return;
    }
    const bool fits = whole.size() - line + name.size() + 2 <= kWidth;
    if (!fits) line = whole.size() + 1;
    StrAppend(&whole, fits ? " " : "\n", name, ",");
  });
  whole.back() = '.';
  return StrCat(whole, "\n\n| operator | limits |\n| --- | --- |\n", table);
}

}  // namespace tenon::onnx_import
