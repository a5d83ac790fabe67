#include "tenon/ir/source_text.h"

#include <algorithm>

#include "tenon/support/strings.h"

namespace tenon::ir {

std::string_view WithoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

void SourceText::MoveLine(std::size_t offset) {
  if (offset < line_start_) {
    line_start_ = 0;
    line_ = 1;
  }
  for (std::size_t end = text_.find('\n', line_start_); end < offset;
       end = text_.find('\n', line_start_)) {
    line_start_ = end + 1;
    ++line_;
  }
}

Span SourceText::SpanOf(std::size_t offset, std::size_t length) {
  MoveLine(offset);
  const int column = static_cast<int>(offset - line_start_) + 1;
  return {source_, line_, column, column + static_cast<int>(length)};
}

Error SourceText::ErrorAt(std::size_t offset, std::size_t length, const std::string& message) {
  const Span span = SpanOf(offset, length);
  std::size_t end = text_.find('\n', line_start_);
  if (end == std::string_view::npos) end = text_.size();
  // A window around the place, for lines that are very long.
  constexpr std::size_t kBefore = 60;
  constexpr std::size_t kWidth = 120;
  const std::size_t start = offset - line_start_ > kBefore ? offset - kBefore : line_start_;
  const std::string line(text_.substr(start, std::min(end - start, kWidth)));
  const std::size_t marks = std::max<std::size_t>(1, std::min(length, end - std::min(end, offset)));
  return InvalidArgument(message).At(span).AddNote(
      StrCat("\n    ", line, "\n    ", std::string(offset - start, ' '),
             std::string(std::min(marks, kWidth), '^')));
}

}  // namespace tenon::ir
