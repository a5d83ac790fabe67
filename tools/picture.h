// Pictures as network inputs.
//
// A picture file (PNG, JPEG, BMP, PGM or PPM) becomes a float32 array (1, C, H, W). It is turned
// upright as the Exif data of a JPEG says, scaled bilinearly to the height H with its aspect ratio
// kept, and cropped or padded on the right to the width W. Each byte v is mapped to (v / 255 -
// mean) / deviation. Padding is 0 after normalising. Text recognition models expect this. `stretch`
// gives up the aspect ratio, as classification models expect.
//
//   NDArray x = LoadPicture("line.png", {1, 3, 48, 192}, {}).value();
#ifndef TENON_TOOLS_PICTURE_H_
#define TENON_TOOLS_PICTURE_H_

#include <string>

#include "absl/status/statusor.h"
#include "tenon/ir/input_spec.h"
#include "tenon/support/ndarray.h"

namespace tenon::tools {

struct PictureOptions {
  float mean = 0.5F;
  float deviation = 0.5F;
  bool stretch = false;
  bool bgr = false;  // blue first
};

// Errors: NotFound for a file that cannot be read; InvalidArgument for a file that is not a picture
// or is too large (docs/limits.md), and for any shape other than (1, 1 or 3, H, W).
absl::StatusOr<NDArray> LoadPicture(const std::string& path, const Shape& shape,
                                    const PictureOptions& options);

// The shape of an input (N, C, H, W) for this picture, where the model leaves extents open: one
// picture and 3 channels. If one of height and width is fixed, the picture's aspect ratio gives the
// other; if neither is, the picture's own size is used. Errors: as above.
absl::StatusOr<Shape> ShapeForPicture(const std::string& path, const ir::InputSpec& input);

// Whether the file's name has the ending of a picture format.
bool IsPictureName(const std::string& path);
// ".png, .jpg, ...": the endings of pictures.
std::string PictureEndings();

}  // namespace tenon::tools

#endif  // TENON_TOOLS_PICTURE_H_
