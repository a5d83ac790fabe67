// Places in a text that is read, and errors that show them.
//
//   SourceText places(text, "file.relay");
//   throw places.ErrorAt(offset, length, "there is no operator named nn.con2d");
#ifndef TENON_IR_SOURCE_TEXT_H_
#define TENON_IR_SOURCE_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "tenon/support/error.h"

namespace tenon::ir {

// The text after the byte order mark of UTF-8 that some editors write at its start. Places count
// from there.
std::string_view WithoutByteOrderMark(std::string_view text);

class SourceText {
 public:
  // `text` must outlive this.
  SourceText(std::string_view text, std::string source) : text_(text), source_(std::move(source)) {}

  // Fast when places are asked for in order.
  Span SpanOf(std::size_t offset, std::size_t length);
  // InvalidArgument with the span; its note is the line with carets under `length` bytes.
  Error ErrorAt(std::size_t offset, std::size_t length, const std::string& message);

 private:
  void MoveLine(std::size_t offset);

  const std::string_view text_;
  const std::string source_;
  // The line that was last asked for.
  std::size_t line_start_ = 0;
  int line_ = 1;
};

}  // namespace tenon::ir

#endif  // TENON_IR_SOURCE_TEXT_H_
