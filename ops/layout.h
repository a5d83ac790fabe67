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
#include <string>
#include <vector>

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
  // The whole axes in order: "NCHW" for "NCHW16c".
  std::string Whole() const;

 private:
  std::string text_;
  std::string attribute_;
  std::vector<LayoutAxis> axes_;
};

}  // namespace tenon::ops

#endif  // TENON_OPS_LAYOUT_H_
