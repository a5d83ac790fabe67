// How a camera was held: the orientation in a JPEG's Exif data.
#ifndef TENON_TOOLS_EXIF_H_
#define TENON_TOOLS_EXIF_H_

#include <string_view>

namespace tenon::tools {

// 1 to 8 as in the tag Orientation: which edges of the picture its stored first row and column are.
// 1 (upright) for bytes that are not a JPEG, and where the tag is missing or unreadable.
int ExifOrientation(std::string_view jpeg);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_EXIF_H_
