#include "tenon/tools/picture.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

// The decoder is a single-header library that is compiled into this file alone.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace tenon::tools {
namespace {

struct Picture {
  int width = 0;
  int height = 0;
  int channels = 0;
  std::unique_ptr<stbi_uc, decltype(&std::free)> bytes{nullptr, &std::free};

  float at(int y, int x, int c) const {
    return bytes.get()[(static_cast<std::size_t>(y) * width + x) * channels + c];
  }
};

Picture Decode(const std::string& path, int channels) {
  if (!std::filesystem::exists(path)) throw NotFound("the file does not exist");
  Picture picture;
  int stored_channels = 0;
  picture.bytes.reset(
      stbi_load(path.c_str(), &picture.width, &picture.height, &stored_channels, channels));
  if (picture.bytes == nullptr) {
    throw InvalidArgument(StrCat("this is no picture that can be read: ", stbi_failure_reason()));
  }
  picture.channels = channels;
  return picture;
}

// Bilinear sample with pixel centres at half-integers, clamped at the border.
float Sample(const Picture& picture, float y, float x, int c) {
  y = std::clamp(y, 0.0F, static_cast<float>(picture.height - 1));
  x = std::clamp(x, 0.0F, static_cast<float>(picture.width - 1));
  const int y0 = static_cast<int>(y), x0 = static_cast<int>(x);
  const int y1 = std::min(y0 + 1, picture.height - 1), x1 = std::min(x0 + 1, picture.width - 1);
  const float fy = y - static_cast<float>(y0), fx = x - static_cast<float>(x0);
  const float top = picture.at(y0, x0, c) * (1 - fx) + picture.at(y0, x1, c) * fx;
  const float bottom = picture.at(y1, x0, c) * (1 - fx) + picture.at(y1, x1, c) * fx;
  return top * (1 - fy) + bottom * fy;
}

NDArray ToArray(const Picture& picture, const Shape& shape, const PictureOptions& options) {
  const std::int64_t channels = shape[1], height = shape[2], width = shape[3];
  const float scale_y = static_cast<float>(picture.height) / static_cast<float>(height);
  const float kept_width = std::ceil(static_cast<float>(picture.width) / scale_y);
  const std::int64_t used =
      options.stretch ? width
                      : std::clamp<std::int64_t>(static_cast<std::int64_t>(kept_width), 1, width);
  const float scale_x = static_cast<float>(picture.width) / static_cast<float>(used);
  NDArray array = NDArray::Zeros(shape, Float32);
  for (std::int64_t c = 0; c < channels; ++c) {
    const int from = static_cast<int>(options.bgr ? channels - 1 - c : c);
    for (std::int64_t y = 0; y < height; ++y) {
      float* row = array.data<float>() + (c * height + y) * width;
      const float source_y = (static_cast<float>(y) + 0.5F) * scale_y - 0.5F;
      for (std::int64_t x = 0; x < used; ++x) {
        const float source_x = (static_cast<float>(x) + 0.5F) * scale_x - 0.5F;
        row[x] =
            (Sample(picture, source_y, source_x, from) / 255 - options.mean) / options.deviation;
      }
    }
  }
  return array;
}

}  // namespace

absl::StatusOr<NDArray> LoadPicture(const std::string& path, const Shape& shape,
                                    const PictureOptions& options) {
  return CatchErrors([&] {
    try {
      if (shape.size() != 4 || shape[0] != 1 || (shape[1] != 1 && shape[1] != 3) || shape[2] < 1 ||
          shape[3] < 1) {
        throw InvalidArgument(StrCat("a picture cannot fill an input of shape ",
                                     ShapeToString(shape),
                                     "; it must be (1, 1 or 3, height, width)"));
      }
      if (!(options.deviation > 0))
        throw InvalidArgument("the deviation of pictures must be above 0");
      return ToArray(Decode(path, static_cast<int>(shape[1])), shape, options);
    } catch (Error& error) {
      throw error.At({.source = path});
    }
  });
}

absl::StatusOr<Shape> ShapeForPicture(const std::string& path, const ir::InputSpec& input) {
  return CatchErrors([&] {
    try {
      if (!input.extents || input.extents->size() != 4)
        throw InvalidArgument(StrCat("a picture cannot fill the input ", input.name, " of shape ",
                                     input.ExtentsToString(),
                                     "; it must be (1, 1 or 3, height, width)"));
      if (!std::filesystem::exists(path)) throw NotFound("the file does not exist");
      int width = 0, height = 0, channels = 0;
      if (stbi_info(path.c_str(), &width, &height, &channels) == 0)
        throw InvalidArgument(
            StrCat("this is no picture that can be read: ", stbi_failure_reason()));
      const auto fixed = [&](std::size_t axis) -> std::optional<std::int64_t> {
        const ir::Dim& dim = (*input.extents)[axis];
        return dim.is_static() ? std::optional(dim.value()) : std::nullopt;
      };
      const auto scaled = [](int extent, std::int64_t numerator, int denominator) {
        return std::max<std::int64_t>(
            1, std::llround(static_cast<double>(extent) * static_cast<double>(numerator) /
                            static_cast<double>(denominator)));
      };
      const std::int64_t h =
          fixed(2).value_or(fixed(3) ? scaled(height, *fixed(3), width) : height);
      const std::int64_t w = fixed(3).value_or(scaled(width, h, height));
      return Shape{fixed(0).value_or(1), fixed(1).value_or(3), h, w};
    } catch (Error& error) {
      throw error.At({.source = path});
    }
  });
}

bool IsPictureName(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view kEndings[] = {".png", ".jpg", ".jpeg", ".bmp",
                                           ".pgm", ".ppm", ".gif",  ".tga"};
  return std::find(std::begin(kEndings), std::end(kEndings), ending) != std::end(kEndings);
}

}  // namespace tenon::tools
