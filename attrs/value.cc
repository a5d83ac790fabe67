#include "tenon/attrs/value.h"

#include <bit>
#include <cmath>

#include "tenon/support/hash.h"
#include "tenon/support/strings.h"

namespace tenon::attrs {
namespace {

std::string DoubleText(double value) { return StrCat(FormatShortest(value), "f"); }

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
      case '\\':
        out += '\\';
        out += c;
        break;
      // A string is one line of text.
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        out += c;
    }
  }
  return out + "\"";
}

}  // namespace

bool operator==(const Value& a, const Value& b) {
  const double* x = a.As<double>();
  const double* y = b.As<double>();
  // 1 / -0.0 is another number than 1 / 0.0.
  if (x != nullptr && y != nullptr)
    return (*x == *y && std::signbit(*x) == std::signbit(*y)) || (std::isnan(*x) && std::isnan(*y));
  return a.data == b.data;
}

std::string ToText(const Value& value) {
  struct Printer {
    std::string operator()(None) const { return "None"; }
    std::string operator()(bool v) const { return v ? "True" : "False"; }
    // The reference system reads a number without a suffix as 32 bits.
    std::string operator()(std::int64_t v) const {
      return StrCat(v, v < INT32_MIN || v > INT32_MAX ? "i64" : "");
    }
    std::string operator()(double v) const { return DoubleText(v); }
    std::string operator()(const std::string& v) const { return Quoted(v); }
    std::string operator()(DataType v) const { return Quoted(v.is_void() ? "" : v.ToString()); }
    std::string operator()(const List& v) const {
      return StrCat("[",
                    StrJoin(v, ", ", [](std::string* text, const Value& e) { *text += ToText(e); }),
                    "]");
    }
  };
  return std::visit(Printer(), value.data);
}

std::string KindOf(const Value& value) {
  static constexpr const char* kKinds[] = {"None",     "a bool", "an integer", "a number",
                                           "a string", "a type", "a list"};
  return kKinds[value.data.index()];
}

std::uint64_t Hash(const Value& value, std::uint64_t seed) {
  seed = CombineHash(seed, value.data.index());
  struct Hasher {
    std::uint64_t seed;
    std::uint64_t operator()(None) const { return seed; }
    std::uint64_t operator()(bool v) const { return CombineHash(seed, v ? 1 : 0); }
    std::uint64_t operator()(std::int64_t v) const {
      return CombineHash(seed, static_cast<std::uint64_t>(v));
    }
    std::uint64_t operator()(double v) const {
      if (std::isnan(v)) return CombineHash(seed, 1);
      return CombineHash(seed, std::bit_cast<std::uint64_t>(v));
    }
    std::uint64_t operator()(const std::string& v) const { return HashBytes(v, seed); }
    std::uint64_t operator()(DataType v) const { return HashBytes(v.ToString(), seed); }
    std::uint64_t operator()(const List& v) const {
      std::uint64_t hash = CombineHash(seed, v.size());
      for (const Value& e : v) hash = Hash(e, hash);
      return hash;
    }
  };
  return std::visit(Hasher{seed}, value.data);
}

}  // namespace tenon::attrs
