// Layouts: the order of a tensor's axes as text, with blocked axes.
//
// An upper-case letter names an axis ("NCHW"). An axis may be cut into blocks. Then its upper-case
// letter counts the blocks, and its lower-case one, with the block size before it, counts the
// elements of a block: "NCHW16c" holds channel 16 * C + c.
//
//   Layout blocked = Layout::Parse("NCHW16c", "data_layout");
//   blocked.BlockOf('C')  // 16
#ifndef TENON_OPS_LAYOUT_LAYOUT_H_
#define TENON_OPS_LAYOUT_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenon/ir/type.h"

namespace tenon::ops {

struct LayoutAxis {
  char letter = 0;         // upper case, for blocks as well
  std::int64_t block = 0;  // elements per block; 0: a whole axis or the count of its blocks
};

class Layout {
 public:
  // Throws InvalidArgument, naming `attribute`, for a letter that occurs twice, a block without its
  // axis or its size, and any other character.
  static Layout Parse(const std::string& text, const char* attribute);

  const std::vector<LayoutAxis>& axes() const { return axes_; }
  std::size_t rank() const { return axes_.size(); }
  // Elements per block of the axis; 1 when it is not cut.
  std::int64_t BlockOf(char letter) const;
  // The position of the whole axis or of the count of its blocks. Throws InvalidArgument when
  // missing.
  std::size_t PositionOf(char letter) const;
  // Whether the axis is cut into blocks, even of one element.
  bool IsCut(char letter) const;
  // The whole axes in order: "NCHW" for "NCHW16c".
  std::string Whole() const;

 private:
  std::string text_;
  std::string attribute_;
  std::vector<LayoutAxis> axes_;
};

// The text of these axes, which Parse reads back.
std::string LayoutText(const std::vector<LayoutAxis>& axes);
// The positions of N, C, H and W in a layout of images, whose channels may be cut into blocks.
// Throws InvalidArgument, naming `attribute`, for other axes.
std::vector<std::size_t> ImagePositions(const std::string& layout, const char* attribute);
// The type, in layout `to`, of a tensor that has `type` in layout `from`, which names whole axes.
// Nothing when the ranks differ, the axes differ or a block is not known to divide its axis.
std::optional<ir::Type> TypeInLayout(const ir::TensorTypeNode& type, const std::string& from,
                                     const std::string& to);

}  // namespace tenon::ops

#endif  // TENON_OPS_LAYOUT_LAYOUT_H_
