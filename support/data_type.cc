#include "tenon/support/data_type.h"

#include "tenon/support/strings.h"

namespace tenon {
namespace {

struct Prefix {
  std::string_view text;
  TypeCode code;
};
// "uint" comes before "int" so that the longer name is tried first.
constexpr Prefix kPrefixes[] = {{"bfloat", TypeCode::kBFloat},
                                {"float", TypeCode::kFloat},
                                {"uint", TypeCode::kUInt},
                                {"int", TypeCode::kInt}};

bool IsSupported(TypeCode code, int bits) {
  switch (code) {
    case TypeCode::kInt:
    case TypeCode::kUInt:
      return bits == 8 || bits == 16 || bits == 32 || bits == 64;
    case TypeCode::kFloat:
      return bits == 16 || bits == 32 || bits == 64;
    case TypeCode::kBFloat:
      return bits == 16;
    case TypeCode::kBool:
      return bits == 1;
    case TypeCode::kHandle:
      return bits == 64;
  }
  return false;
}

}  // namespace

std::string DataType::ToString() const {
  if (is_void()) return "void";
  std::string text;
  switch (code_) {
    case TypeCode::kBool:
      text = "bool";
      break;
    case TypeCode::kHandle:
      text = "handle";
      break;
    case TypeCode::kInt:
      text = StrCat("int", bits());
      break;
    case TypeCode::kUInt:
      text = StrCat("uint", bits());
      break;
    case TypeCode::kFloat:
      text = StrCat("float", bits());
      break;
    case TypeCode::kBFloat:
      text = StrCat("bfloat", bits());
      break;
  }
  if (lanes() > 1) StrAppend(&text, "x", lanes());
  return text;
}

std::optional<DataType> DataType::Parse(std::string_view text) {
  if (text == "void" || text.empty()) return Void();
  int lanes = 1;
  if (const std::size_t x = text.find('x'); x != std::string_view::npos) {
    const std::optional<int> parsed = ParseNumber<int>(text.substr(x + 1));
    if (!parsed || *parsed < 1 || *parsed > 1024) return std::nullopt;
    lanes = *parsed;
    text = text.substr(0, x);
  }
  if (text == "bool") return Bool.WithLanes(lanes);
  if (text == "handle") return DataType(TypeCode::kHandle, 64, lanes);
  for (const Prefix& prefix : kPrefixes) {
    if (!text.starts_with(prefix.text)) continue;
    const std::optional<int> bits = ParseNumber<int>(text.substr(prefix.text.size()));
    if (!bits || !IsSupported(prefix.code, *bits)) return std::nullopt;
    return DataType(prefix.code, *bits, lanes);
  }
  return std::nullopt;
}

}  // namespace tenon
