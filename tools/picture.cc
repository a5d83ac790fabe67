#include "tenon/tools/picture.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tools/exif.h"

// The decoder is a single-header library, compiled only into this file, for the formats that the
// file name endings stand for. It tells formats by their content.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_ONLY_PNM
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS (1 << 16)
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb_image.h>
#pragma GCC diagnostic pop

namespace tenon::tools {
namespace {

constexpr std::string_view kEndings[] = {".png", ".jpg", ".jpeg", ".bmp", ".pgm", ".ppm"};

// Limits the bytes of a file, and of the picture decoded from it.
constexpr std::uintmax_t kMaxBytes = std::uintmax_t{1} << 28;

struct Picture {
  int width = 0;
  int height = 0;
  int channels = 0;
  std::vector<stbi_uc> bytes;

  const stbi_uc* pixel(int y, int x) const {
    return bytes.data() + (static_cast<std::size_t>(y) * width + x) * channels;
  }
  float at(int y, int x, int c) const { return pixel(y, x)[c]; }
};

std::string ReadFile(const std::string& path) {
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  if (failure) throw NotFound(StrCat("the file cannot be opened: ", failure.message()));
  if (size > kMaxBytes)
    throw InvalidArgument(
        StrCat("the file has ", size, " bytes; pictures of ", kMaxBytes, " at most are read"));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw NotFound(StrCat("the file cannot be opened: ", std::strerror(errno)));
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

const stbi_uc* BytesOf(const std::string& file) {
  return reinterpret_cast<const stbi_uc*>(file.data());
}

Error CannotBeDecoded() {
  const char* reason = stbi_failure_reason();
  const std::string_view why = reason == nullptr ? "" : reason;
  if (why == "outofdata" || why == "bad file" || why == "unexpected end")
    return DataLoss("the picture is cut short");
  if (why == "unknown image type")
    return InvalidArgument(
        StrCat("this is not a picture that can be read; its format is none of ", PictureEndings()));
  return InvalidArgument(
      StrCat("this is not a picture that can be read", why.empty() ? "" : ": ", why));
}

struct Extents {
  int width = 0;
  int height = 0;
};

// The extents of the picture as it is stored.
Extents StoredExtents(const std::string& file) {
  Extents extents;
  int channels = 0;
  if (stbi_info_from_memory(BytesOf(file), static_cast<int>(file.size()), &extents.width,
                            &extents.height, &channels) == 0)
    throw CannotBeDecoded();
  const auto bytes =
      static_cast<std::uintmax_t>(extents.width) * static_cast<std::uintmax_t>(extents.height) * 3;
  if (bytes > kMaxBytes)
    throw InvalidArgument(StrCat("the picture has ", extents.width, " x ", extents.height,
                                 " pixels; ", kMaxBytes / 3, " at most are read"));
  return extents;
}

// From orientation 5 on, rows and columns are exchanged.
bool IsTurned(int orientation) { return orientation >= 5; }

// The picture turned upright by the orientation of Exif.
Picture Upright(const Picture& stored, int orientation) {
  Picture upright{.width = IsTurned(orientation) ? stored.height : stored.width,
                  .height = IsTurned(orientation) ? stored.width : stored.height,
                  .channels = stored.channels,
                  .bytes = std::vector<stbi_uc>(stored.bytes.size())};
  // At which edges the stored first row and column are: top and left unless the orientation says
  // something else.
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 6;
  const bool from_bottom =
      orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  stbi_uc* to = upright.bytes.data();
  for (int y = 0; y < upright.height; ++y) {
    const int down = from_bottom ? upright.height - 1 - y : y;
    for (int x = 0; x < upright.width; ++x, to += stored.channels) {
      const int across = from_right ? upright.width - 1 - x : x;
      const stbi_uc* from =
          IsTurned(orientation) ? stored.pixel(across, down) : stored.pixel(down, across);
      std::copy_n(from, stored.channels, to);
    }
  }
  return upright;
}

Picture Decode(const std::string& path, int channels) {
  const std::string file = ReadFile(path);
  const Extents extents = StoredExtents(file);
  Picture picture;
  int stored_channels = 0;
  const std::unique_ptr<stbi_uc, decltype(&std::free)> decoded(
      stbi_load_from_memory(BytesOf(file), static_cast<int>(file.size()), &picture.width,
                            &picture.height, &stored_channels, channels),
      &std::free);
  if (decoded == nullptr) throw CannotBeDecoded();
  CheckInvariant(picture.width == extents.width && picture.height == extents.height,
                 "a picture has the extents that its header says");
  picture.channels = channels;
  const std::size_t bytes = static_cast<std::size_t>(picture.width) * picture.height * channels;
  picture.bytes.assign(decoded.get(), decoded.get() + bytes);
  const int orientation = ExifOrientation(file);
  return orientation == 1 ? std::move(picture) : Upright(picture, orientation);
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
  // Its memory is there, so that products of its extents with those of a picture do not overflow.
  NDArray array = NDArray::Zeros(shape, Float32);
  // Rounded up, exactly: a quotient of floats may be a little above a whole number.
  const std::int64_t kept_width = (picture.width * height + picture.height - 1) / picture.height;
  const std::int64_t used =
      options.stretch ? width : std::clamp<std::int64_t>(kept_width, 1, width);
  const float scale_y = static_cast<float>(picture.height) / static_cast<float>(height);
  const float scale_x = static_cast<float>(picture.width) / static_cast<float>(used);
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
      const std::string file = ReadFile(path);
      auto [width, height] = StoredExtents(file);
      if (IsTurned(ExifOrientation(file))) std::swap(width, height);
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
  return std::find(std::begin(kEndings), std::end(kEndings), ending) != std::end(kEndings);
}

std::string PictureEndings() { return StrJoin(kEndings, ", "); }

}  // namespace tenon::tools
