// How a camera was held: the orientation that a JPEG's Exif data says.
#ifndef TENON_TOOLS_EXIF_H_
#define TENON_TOOLS_EXIF_H_

#include <string_view>

namespace tenon::tools {

// 1 to 8 as in the tag Orientation: the row and column of the stored picture that are the top and
// the left edge. 1, upright, where the bytes are no JPEG or say nothing that can be read.
int ExifOrientation(std::string_view jpeg);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_EXIF_H_
