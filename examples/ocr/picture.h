// Pictures: read, written, drawn on, and cut into what the networks take.
#ifndef TENON_EXAMPLES_OCR_PICTURE_H_
#define TENON_EXAMPLES_OCR_PICTURE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tenon/examples/ocr/boxes.h"
#include "tenon/support/ndarray.h"

namespace ocr {

struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // row by row

  // The whole of it.
  Box Frame() const;
};

// Throws NotFound, or InvalidArgument for what is not a picture.
Picture LoadPicture(const std::string& path);
// As PNG. Throws InvalidArgument when the file cannot be written.
void SavePng(const std::string& path, const Picture& picture);
// The outline of the box, two pixels wide.
void DrawBox(Picture* picture, const Box& box, std::array<std::uint8_t, 3> colour);

// How a network wants a byte v: (v / 255 - mean) / deviation, per channel.
struct Normalisation {
  std::array<float, 3> mean{0.5F, 0.5F, 0.5F};
  std::array<float, 3> deviation{0.5F, 0.5F, 0.5F};
};

// float32 (1, 3, height, padded_width), blue first: the inside of the box scaled bilinearly to
// (height, width), 0 to the right of it. Points outside the picture are its nearest pixels.
tenon::NDArray Cut(const Picture& picture, const Box& box, int height, int width, int padded_width,
                   const Normalisation& normalisation);

}  // namespace ocr

#endif  // TENON_EXAMPLES_OCR_PICTURE_H_
