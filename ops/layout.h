// Layouts: the order of a tensor's axes as text, with blocked axes.
//
// An upper-case letter names an axis ("NCHW"). An axis may be cut in blocks: then its upper-case
// letter counts the blocks and its lower-case one, with the block size before it, the elements of a
// block: "NCHW16c" holds channel 16 * C + c.
//
//   Layout blocked = Layout::Parse("NCHW16c", "data_layout");
//   blocked.BlockOf('C')  // 16
#ifndef TENON_OPS_LAYOUT_H_
#define TENON_OPS_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenon/ir/type.h"

namespace tenon::ops {

struct LayoutAxis {
  char letter = 0;         // upper case, for blocks as well
  std::int64_t block = 0;  // elements of this axis of a block; 0: a whole axis or its block count
};

class Layout {
 public:
  // Throws InvalidArgument, naming `attribute`: a letter twice, a block without its axis or its
  // size, any other character.
  static Layout Parse(const std::string& text, const char* attribute);

  const std::vector<LayoutAxis>& axes() const { return axes_; }
  std::size_t rank() const { return axes_.size(); }
  // Elements of a block of the axis; 1 when it is not cut.
  std::int64_t BlockOf(char letter) const;
  // Where the whole axis or the count of its blocks stands. Throws InvalidArgument when missing.
  std::size_t PositionOf(char letter) const;
  // Whether the axis is cut in blocks, be they of one element.
  bool IsCut(char letter) const;
  // The whole axes in order: "NCHW" for "NCHW16c".
  std::string Whole() const;

 private:
  std::string text_;
  std::string attribute_;
  std::vector<LayoutAxis> axes_;
};

// The text of these axes: the inverse of Parse.
std::string LayoutText(const std::vector<LayoutAxis>& axes);
// Where N, C, H and W stand in the layout of images, whose channels may be cut in blocks. Throws
// InvalidArgument, naming `attribute`, for other axes.
std::vector<std::size_t> ImagePositions(const std::string& layout, const char* attribute);
// The type in layout `to` of a tensor that has this type in `from`, which names whole axes; nothing
// when the ranks differ, the axes are others or a block does not divide its axis for certain.
std::optional<ir::Type> TypeInLayout(const ir::TensorTypeNode& type, const std::string& from,
                                     const std::string& to);

}  // namespace tenon::ops

#endif  // TENON_OPS_LAYOUT_H_
