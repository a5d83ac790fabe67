#include "tenon/compiler/export/c_constants.h"

#include <algorithm>
#include <cstdint>

#include "tenon/jit/c/c_text.h"
#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

template <typename T>
std::string Elements(const NDArray& array, const auto& literal) {
  const T* values = static_cast<const T*>(array.raw());
  std::string text;
  for (std::int64_t i = 0; i < array.size(); ++i) {
    text += i == 0 ? "" : i % 8 == 0 ? ",\n  " : ", ";
    text += literal(values[i]);
  }
  return text.empty() ? "0" : text;
}

std::string Initializer(const NDArray& array) {
  const DataType type = array.dtype();
  const auto integer = [&](const auto value) {
    return jit::WithoutOuterParentheses(jit::CIntLiteral(type, static_cast<std::int64_t>(value)));
  };
  const auto floating = [&](const auto value) {
    return jit::WithoutOuterParentheses(jit::CFloatLiteral(type, value));
  };
  const auto bits = [](const std::uint16_t value) { return StrCat(value); };
  switch (type.code()) {
    case TypeCode::kBool:
      return Elements<std::uint8_t>(array, [](std::uint8_t v) { return v != 0 ? "1" : "0"; });
    case TypeCode::kInt:
      return type.bits() == 8    ? Elements<std::int8_t>(array, integer)
             : type.bits() == 16 ? Elements<std::int16_t>(array, integer)
             : type.bits() == 32 ? Elements<std::int32_t>(array, integer)
                                 : Elements<std::int64_t>(array, integer);
    case TypeCode::kUInt:
      return type.bits() == 8    ? Elements<std::uint8_t>(array, integer)
             : type.bits() == 16 ? Elements<std::uint16_t>(array, integer)
             : type.bits() == 32 ? Elements<std::uint32_t>(array, integer)
                                 : Elements<std::uint64_t>(array, integer);
    case TypeCode::kFloat:
    case TypeCode::kBFloat:
      return type.bits() == 16   ? Elements<std::uint16_t>(array, bits)
             : type.bits() == 32 ? Elements<float>(array, floating)
                                 : Elements<double>(array, floating);
    case TypeCode::kHandle:
      break;
  }
  throw Unimplemented(StrCat("a constant of type ", type.ToString(), " cannot be exported"));
}

}  // namespace

CConstants AddConstants(const std::vector<NDArray>& constants, const CModelOptions& options,
                        jit::CFile* file) {
  CConstants made;
  const std::string symbol = ConstantsSymbol(options.name);
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const NDArray& constant = constants[i];
    if (options.native) {
      made.addresses.push_back(StrCat("(void*)(", symbol, " + ", made.bytes.size(), ")"));
      made.bytes.append(static_cast<const char*>(constant.raw()), constant.bytes());
      // A constant without elements has a place, too.
      const std::size_t none = constant.bytes() == 0 ? 1 : 0;
      made.bytes.resize(RoundUp(made.bytes.size() + none, kAlignment));
      continue;
    }
    const std::string name = file->Unique(StrCat(options.name, "_constant", i));
    file->AddDefinitions(StrCat("/* ", constant.dtype().ToString(), " ",
                                ShapeToString(constant.shape()), " */\nstatic const ",
                                jit::CMemoryType(constant.dtype()), " ", name, "[",
                                std::max<std::int64_t>(constant.size(), 1),
                                "] TENON_ALIGNED = {\n  ", Initializer(constant), "};\n\n"));
    made.addresses.push_back(name);
  }
  if (!made.bytes.empty())
    file->AddDefinitions(StrCat("extern const unsigned char ", symbol, "[];\n\n"));
  return made;
}

}  // namespace tenon::compiler
