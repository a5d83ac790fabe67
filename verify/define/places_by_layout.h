// Where the elements of a tensor lie whose axes are the letters of a layout; lower-case letters
// count within blocks.
//
//   const PlacesByLayout places({2, 1, 5, 5, 16}, "NCHW16c");
//   places.Extent('C');                    // 16
//   places.At("NCHW", {1, 3, 0, 4});       // of channel 3 of image 1
#ifndef TENON_VERIFY_DEFINE_PLACES_BY_LAYOUT_H_
#define TENON_VERIFY_DEFINE_PLACES_BY_LAYOUT_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "tenon/support/ndarray.h"

namespace tenon::verify {

class PlacesByLayout {
 public:
  PlacesByLayout(const Shape& shape, std::string_view layout) {
    std::size_t d = shape.size();
    std::int64_t stride = 1;
    for (auto letter = layout.rbegin(); letter != layout.rend(); ++letter) {
      if (*letter >= '0' && *letter <= '9') continue;
      const std::int64_t extent = shape.at(--d);
      const bool is_within = *letter >= 'a';
      Axis& axis = axes_.at(static_cast<std::size_t>(*letter - (is_within ? 'a' : 'A')));
      axis.extent *= extent;
      (is_within ? axis.stride : axis.block_stride) = stride;
      if (is_within) axis.block = extent;
      stride *= extent;
    }
  }

  // Of all blocks together.
  std::int64_t Extent(char letter) const { return Of(letter).extent; }
  std::int64_t At(std::string_view letters, std::initializer_list<std::int64_t> values) const {
    std::int64_t place = 0;
    const char* letter = letters.data();
    for (const std::int64_t value : values) {
      const Axis& axis = Of(*letter++);
      place += value / axis.block * axis.block_stride + value % axis.block * axis.stride;
    }
    return place;
  }

 private:
  struct Axis {
    std::int64_t extent = 1, block = 1, stride = 0, block_stride = 0;
  };
  const Axis& Of(char letter) const { return axes_.at(static_cast<std::size_t>(letter - 'A')); }

  std::array<Axis, 26> axes_;
};

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DEFINE_PLACES_BY_LAYOUT_H_
