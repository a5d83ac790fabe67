#include "tenon/examples/ocr/picture.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

// Single-header libraries that are compiled into this file alone.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace ocr {
namespace {

float Sample(const Picture& picture, Point p, int channel) {
  const double x = std::clamp(p.x - 0.5, 0.0, picture.width - 1.0);
  const double y = std::clamp(p.y - 0.5, 0.0, picture.height - 1.0);
  const int x0 = static_cast<int>(x), y0 = static_cast<int>(y);
  const int x1 = std::min(x0 + 1, picture.width - 1), y1 = std::min(y0 + 1, picture.height - 1);
  const auto at = [&](int row, int column) {
    return picture.rgb[(static_cast<std::size_t>(row) * picture.width + column) * 3 + channel];
  };
  const double fx = x - x0, fy = y - y0;
  const double top = at(y0, x0) * (1 - fx) + at(y0, x1) * fx;
  const double bottom = at(y1, x0) * (1 - fx) + at(y1, x1) * fx;
  return static_cast<float>(top * (1 - fy) + bottom * fy);
}

}  // namespace

Box Picture::Frame() const {
  return {.centre = {width / 2.0, height / 2.0},
          .along = {1, 0},
          .width = static_cast<double>(width),
          .height = static_cast<double>(height)};
}

Picture LoadPicture(const std::string& path) {
  if (!std::filesystem::exists(path))
    throw tenon::NotFound(tenon::StrCat("the picture ", path, " does not exist"));
  Picture picture;
  int channels = 0;
  const std::unique_ptr<stbi_uc, decltype(&std::free)> bytes(
      stbi_load(path.c_str(), &picture.width, &picture.height, &channels, 3), &std::free);
  if (bytes == nullptr)
    throw tenon::InvalidArgument(
        tenon::StrCat(path, " is no picture that can be read: ", stbi_failure_reason()));
  const std::size_t size = static_cast<std::size_t>(picture.width) * picture.height * 3;
  picture.rgb.assign(bytes.get(), bytes.get() + size);
  return picture;
}

void SavePng(const std::string& path, const Picture& picture) {
  if (stbi_write_png(path.c_str(), picture.width, picture.height, 3, picture.rgb.data(),
                     picture.width * 3) == 0)
    throw tenon::InvalidArgument(tenon::StrCat("the picture ", path, " cannot be written"));
}

void DrawBox(Picture* picture, const Box& box, std::array<std::uint8_t, 3> colour) {
  const auto corners = box.Corners();
  for (std::size_t i = 0; i < 4; ++i) {
    const Point a = corners[i], b = corners[(i + 1) % 4];
    const int steps = static_cast<int>(std::max(std::abs(b.x - a.x), std::abs(b.y - a.y))) + 1;
    for (int s = 0; s <= steps; ++s) {
      const double t = static_cast<double>(s) / steps;
      const int x0 = static_cast<int>(a.x + (b.x - a.x) * t);
      const int y0 = static_cast<int>(a.y + (b.y - a.y) * t);
      for (const int y : {y0, y0 + 1}) {
        for (const int x : {x0, x0 + 1}) {
          if (x < 0 || y < 0 || x >= picture->width || y >= picture->height) continue;
          std::copy(
              colour.begin(), colour.end(),
              picture->rgb.begin() + (static_cast<std::ptrdiff_t>(y) * picture->width + x) * 3);
        }
      }
    }
  }
}

tenon::NDArray Cut(const Picture& picture, const Box& box, int height, int width, int padded_width,
                   const Normalisation& normalisation) {
  tenon::NDArray cut = tenon::NDArray::Zeros({1, 3, height, padded_width}, tenon::Float32);
  float* values = cut.data<float>();
  for (int c = 0; c < 3; ++c) {
    for (int y = 0; y < height; ++y) {
      float* row = values + (static_cast<std::ptrdiff_t>(c) * height + y) * padded_width;
      for (int x = 0; x < width; ++x) {
        const float value =
            Sample(picture, box.At((x + 0.5) / width, (y + 0.5) / height), 2 - c) / 255;
        row[x] = (value - normalisation.mean[c]) / normalisation.deviation[c];
      }
    }
  }
  return cut;
}

}  // namespace ocr
