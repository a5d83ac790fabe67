#include "tenon/ops/layout/layout.h"

#include <algorithm>
#include <cctype>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

// A longer block is a mistake. The bound also keeps the number from overflowing.
constexpr std::int64_t kMaxBlock = 4096;

}  // namespace

Layout Layout::Parse(const std::string& text, const char* attribute) {
  Layout layout;
  layout.text_ = text;
  layout.attribute_ = attribute;
  const auto refuse = [&](const std::string& rule) {
    throw InvalidArgument(StrCat(attribute, " is \"", text, "\"; ", rule));
  };
  const auto has = [&](char letter, bool blocked) {
    return std::any_of(layout.axes_.begin(), layout.axes_.end(), [&](const LayoutAxis& a) {
      return a.letter == letter && (a.block > 0) == blocked;
    });
  };
  std::int64_t block = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      block = block * 10 + (c - '0');
      if (block > kMaxBlock) refuse(StrCat("a block has at most ", kMaxBlock, " elements"));
    } else if (c >= 'A' && c <= 'Z') {
      if (block != 0) refuse("a block size stands before a lower-case letter");
      if (has(c, false)) refuse(StrCat("the axis ", std::string(1, c), " occurs twice"));
      layout.axes_.push_back({c, 0});
    } else if (c >= 'a' && c <= 'z') {
      const char letter = static_cast<char>(c - 'a' + 'A');
      if (block == 0) refuse(StrCat("the block ", std::string(1, c), " needs a size before it"));
      if (has(letter, true)) refuse(StrCat("the block ", std::string(1, c), " occurs twice"));
      layout.axes_.push_back({letter, block});
      block = 0;
    } else {
      refuse("it may hold letters and block sizes only");
    }
  }
  if (block != 0) refuse("a block size stands before a lower-case letter");
  for (const LayoutAxis& axis : layout.axes_) {
    if (axis.block > 0 && !has(axis.letter, false))
      refuse(StrCat("the block of ", std::string(1, axis.letter), " has no axis to belong to"));
  }
  return layout;
}

std::int64_t Layout::BlockOf(char letter) const {
  for (const LayoutAxis& axis : axes_) {
    if (axis.letter == letter && axis.block > 0) return axis.block;
  }
  return 1;
}

std::size_t Layout::PositionOf(char letter) const {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].letter == letter && axes_[i].block == 0) return i;
  }
  throw InvalidArgument(
      StrCat(attribute_, " is \"", text_, "\"; it must name the axis ", std::string(1, letter)));
}

bool Layout::IsCut(char letter) const {
  return std::any_of(axes_.begin(), axes_.end(),
                     [&](const LayoutAxis& a) { return a.letter == letter && a.block > 0; });
}

std::string Layout::Whole() const {
  std::string whole;
  for (const LayoutAxis& axis : axes_) {
    if (axis.block == 0) whole += axis.letter;
  }
  return whole;
}

std::string LayoutText(const std::vector<LayoutAxis>& axes) {
  std::string text;
  for (const LayoutAxis& axis : axes) {
    if (axis.block > 0) {
      StrAppend(&text, axis.block, std::string(1, static_cast<char>(axis.letter - 'A' + 'a')));
    } else {
      text += axis.letter;
    }
  }
  return text;
}

std::vector<std::size_t> ImagePositions(const std::string& layout, const char* attribute) {
  const Layout parsed = Layout::Parse(layout, attribute);
  const std::string letters = "NCHW";
  std::string whole = parsed.Whole();
  std::sort(whole.begin(), whole.end());
  if (whole != "CHNW" || parsed.rank() != letters.size() + (parsed.IsCut('C') ? 1 : 0))
    throw InvalidArgument(StrCat(attribute, " is \"", layout, "\"; it must be an order of NCHW"));
  std::vector<std::size_t> positions;
  for (const char letter : letters) positions.push_back(parsed.PositionOf(letter));
  return positions;
}

std::optional<ir::Type> TypeInLayout(const ir::TensorTypeNode& type, const std::string& from,
                                     const std::string& to) {
  const Layout layout = Layout::Parse(to, "layout");
  if (from.size() != type.shape.size() || layout.Whole().size() != from.size()) return std::nullopt;
  std::vector<ir::Dim> shape;
  for (const LayoutAxis& axis : layout.axes()) {
    const std::size_t at = from.find(axis.letter);
    if (at == std::string::npos) return std::nullopt;
    const ir::Dim& whole = type.shape[at];
    const std::int64_t block = layout.BlockOf(axis.letter);
    if (axis.block > 0) {
      shape.emplace_back(axis.block);
    } else if (!layout.IsCut(axis.letter)) {
      shape.push_back(whole);
    } else {
      if (!whole.is_static() || whole.value() % block != 0) return std::nullopt;
      shape.emplace_back(whole.value() / block);
    }
  }
  return ir::TensorType(std::move(shape), type.dtype);
}

}  // namespace tenon::ops
