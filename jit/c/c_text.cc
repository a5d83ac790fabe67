#include "tenon/jit/c/c_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

// Words of C99 and C++20, and names that the headers included by generated text may define.
constexpr std::string_view kReserved[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
    "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return",
    "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
    "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
    "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline",
    "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
    "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
    "requires", "restrict", "return", "short", "signed", "sizeof", "static", "static_assert",
    "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true", "try",
    "typedef", "typeid", "typename", "typeof", "union", "unsigned", "using", "virtual", "void",
    "volatile", "wchar_t", "while", "xor", "xor_eq",
    // <math.h>, with and without the ending of the float functions
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos",
    "cosh", "drem", "erf", "erfc", "exp", "exp10", "exp2", "expm1", "fabs", "fdim", "finite",
    "floor", "fma", "fmax", "fmin", "fmod", "frexp", "gamma", "hypot", "ilogb", "j0", "j1", "jn",
    "ldexp", "lgamma", "llrint", "llround", "log", "log10", "log1p", "log2", "logb", "lrint",
    "lround", "modf", "nan", "nearbyint", "nextafter", "nexttoward", "pow", "pow10", "remainder",
    "remquo", "rint", "round", "scalb", "scalbln", "scalbn", "significand", "sin", "sincos", "sinh",
    "sqrt", "tan", "tanh", "tgamma", "trunc", "y0", "y1", "yn", "signgam", "isnan", "isinf",
    "isfinite", "isnormal", "signbit", "fpclassify", "isgreater", "isless", "isunordered",
    // <stdlib.h>, <string.h> and others
    "abort", "abs", "atexit", "atof", "atoi", "atol", "atoll", "bsearch", "calloc", "div", "exit",
    "free", "getenv", "labs", "ldiv", "llabs", "lldiv", "malloc", "memchr", "memcmp", "memcpy",
    "memmove", "memset", "qsort", "rand", "random", "realloc", "select", "srand", "stpcpy",
    "strcat", "strchr", "strcmp", "strcpy", "strlen", "strtod", "strtol", "system", "index",
    "rindex", "main", "linux", "unix", "NULL", "NAN", "INFINITY", "HUGE_VAL", "M_PI", "errno",
    "alloca",
    // <stdint.h> and <stddef.h>
    "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t",
    "intptr_t", "uintptr_t", "size_t", "ssize_t", "ptrdiff_t", "intmax_t", "uintmax_t", "INT8_MIN",
    "INT8_MAX", "INT16_MIN", "INT16_MAX", "INT32_MIN", "INT32_MAX", "INT64_MIN", "INT64_MAX",
    "UINT8_MAX", "UINT16_MAX", "UINT32_MAX", "UINT64_MAX", "SIZE_MAX", "INTPTR_MAX", "INT64_C",
    "UINT64_C", "offsetof", "assert", "stdin", "stdout", "stderr", "printf", "puts", "read",
    "write", "time", "clock"};

bool IsReserved(const std::string& name) {
  static const std::unordered_set<std::string_view> words(std::begin(kReserved),
                                                          std::end(kReserved));
  if (words.contains(name) || name.starts_with("__")) return true;
  return (name.ends_with('f') || name.ends_with('l')) &&
         words.contains(std::string_view(name).substr(0, name.size() - 1));
}

// The nearest number with `digits` binary digits and exponents from `lowest` on; ties to even.
double RoundTo(double value, int digits, int lowest, double largest) {
  if (!std::isfinite(value) || value == 0) return value;
  const int scale = std::max(std::ilogb(value), lowest) - (digits - 1);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -scale)), scale);
  return std::abs(rounded) > largest ? std::copysign(HUGE_VAL, value) : rounded;
}

}  // namespace

std::string CRegisterType(DataType type) {
  switch (type.code()) {
    case TypeCode::kBool:
      return "bool";
    case TypeCode::kInt:
      return StrCat("int", type.bits(), "_t");
    case TypeCode::kUInt:
      return StrCat("uint", type.bits(), "_t");
    case TypeCode::kFloat:
    case TypeCode::kBFloat:
      return type.bits() == 64 ? "double" : "float";
    case TypeCode::kHandle:
      return type.is_void() ? "void" : "void*";
  }
  Unreachable("the switch over type codes is exhaustive");
}

std::string CMemoryType(DataType type) {
  if (type.is_bool()) return "uint8_t";
  return type.is_half() ? "uint16_t" : CRegisterType(type);
}

std::string CSuffix(DataType type) {
  switch (type.code()) {
    case TypeCode::kBool:
      return "bool";
    case TypeCode::kInt:
      return StrCat("i", type.bits());
    case TypeCode::kUInt:
      return StrCat("u", type.bits());
    case TypeCode::kFloat:
      return StrCat("f", type.bits());
    case TypeCode::kBFloat:
      return "bf16";
    case TypeCode::kHandle:
      return "handle";
  }
  Unreachable("the switch over type codes is exhaustive");
}

std::string CIntLiteral(DataType type, std::int64_t value) {
  if (type.is_bool()) return value != 0 ? "true" : "false";
  if (type.is_uint()) {
    const auto bits = static_cast<std::uint64_t>(value);
    return type.bits() == 64   ? StrCat("UINT64_C(", bits, ")")
           : type.bits() == 32 ? StrCat(bits, "u")
                               : StrCat(bits);
  }
  if (value == std::numeric_limits<std::int64_t>::min()) return "INT64_MIN";
  if (value == std::numeric_limits<std::int32_t>::min() && type.bits() == 32) return "INT32_MIN";
  const bool is_wide = value > std::numeric_limits<std::int32_t>::max() ||
                       value <= std::numeric_limits<std::int32_t>::min();
  const std::string text = is_wide ? StrCat("INT64_C(", value, ")") : StrCat(value);
  return value < 0 ? StrCat("(", text, ")") : text;
}

std::string CFloatLiteral(DataType type, double value) {
  if (type.bits() == 16) {
    value = type.code() == TypeCode::kBFloat ? RoundTo(value, 8, -126, 0x1.FEp127)
                                             : RoundTo(value, 11, -14, 65504);
  }
  const bool is_float = type.bits() < 64;
  if (is_float) value = static_cast<float>(value);
  if (std::isnan(value)) return is_float ? "NAN" : "(double)NAN";
  if (std::isinf(value)) {
    const std::string text = is_float ? "INFINITY" : "(double)INFINITY";
    return value < 0 ? StrCat("(-", text, ")") : text;
  }
  std::string text = is_float ? FormatShortest(static_cast<float>(value)) : FormatShortest(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (is_float) text += "f";
  return std::signbit(value) ? StrCat("(", text, ")") : text;
}

std::string WithoutOuterParentheses(const std::string& text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return text;
  int depth = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return text;  // closed before the end: (a) + (b)
  }
  return text.substr(1, text.size() - 2);
}

std::string CIdentifier(std::string_view name) {
  std::string text;
  for (const char c : name)
    text += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ? c : '_';
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0)
    text = StrCat("v", text);
  return IsReserved(text) ? StrCat(text[0] == '_' ? "v" : "", text, "_1") : text;
}

std::string CNames::Unique(std::string_view hint) {
  const std::string base = CIdentifier(hint);
  std::string name = base;
  for (int i = 1; !taken_.insert(name).second; ++i) name = StrCat(base, "_", i);
  return name;
}

void CBlock::Append(const CBlock& inner) {
  for (const auto& [depth, text] : inner.lines_) lines_.emplace_back(depth_ + depth, text);
}

std::string CBlock::Text() const {
  std::string text;
  for (const auto& [depth, line] : lines_) {
    text.append(static_cast<std::size_t>(2 * depth), ' ');
    text += line;
    text += '\n';
  }
  return text;
}

}  // namespace tenon::jit
