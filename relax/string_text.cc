#include "tenon/relax/string_text.h"

#include <cstdint>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::relax {
namespace {

void AppendUtf8(std::uint32_t code, std::string* out) {
  const auto add = [&](std::uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | code >> 6);
    add(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  } else {
    add(0xF0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3F));
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  }
}

// Single bytes are the code points from here on, by Python's "surrogateescape".
constexpr std::uint32_t kByteEscape = 0xDC00;

// The length of the well-formed UTF-8 character at the start of `text`, or 0.
std::size_t Utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80                     ? 1
                             : first >= 0xC2 && first < 0xE0  ? 2
                             : first >= 0xE0 && first < 0xF0  ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  // Too long forms, surrogates, and what is above U+10FFFF.
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0) ||
      (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90))
    return 0;
  return length;
}

// With these, a file is not taken for text.
bool IsControl(char c) { return (c >= '\0' && c < ' ') || c == '\x7f'; }

void AppendHex(std::string_view escape, char c, std::string* out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  StrAppend(out, escape, kHex.substr(byte >> 4U, 1), kHex.substr(byte & 15U, 1));
}

}  // namespace

std::string StringValue(const Token& token, ir::SourceText* places) {
  const std::size_t quotes = token.text.size() >= 6 && token.text[1] == token.text[0] ? 3 : 1;
  const std::string_view body = token.text.substr(quotes, token.text.size() - 2 * quotes);
  std::string value;
  value.reserve(body.size());
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') {
      value += body[i];
      continue;
    }
    const std::size_t begin = i++;
    const char c = body[i];
    const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits > 0) {
      std::uint32_t code = 0;
      const std::string_view hex = body.substr(i + 1, digits);
      const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
      if (error != std::errc() || end != hex.data() + digits || code > 0x10FFFF)
        throw places->ErrorAt(token.offset + quotes + begin, 2 + hex.size(),
                              "this escape is no character");
      if (code >= kByteEscape + 0x80 && code <= kByteEscape + 0xFF) {
        value += static_cast<char>(code - kByteEscape);
      } else {
        AppendUtf8(code, &value);
      }
      i += digits;
      continue;
    }
    constexpr std::string_view kEscapes = "\n\\'\"abfnrtv0";
    constexpr std::string_view kMeanings("\0\\'\"\a\b\f\n\r\t\v\0", 12);
    const std::size_t found = kEscapes.find(c);
    if (found == std::string_view::npos)
      throw places->ErrorAt(token.offset + quotes + begin, 2, "this escape is not known");
    if (found > 0) value += kMeanings[found];
  }
  return value;
}

std::string QuotedString(std::string_view value) {
  std::string out = "\"";
  for (std::size_t i = 0; i < value.size();) {
    const char c = value[i];
    const std::size_t length = Utf8Length(value.substr(i));
    if (length == 0) {
      AppendHex("\\udc", c, &out);
      ++i;
      continue;
    }
    switch (c) {
      case '"':
      case '\\':
        out += '\\';
        out += c;
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (IsControl(c)) {
          AppendHex("\\x", c, &out);
        } else {
          out += value.substr(i, length);
        }
    }
    i += length;
  }
  return out + "\"";
}

}  // namespace tenon::relax
