// JPEG (ITU T.81): segments of a marker and a big-endian length. Exif (CIPA DC-008): the segment
// APP1 holds a TIFF file, whose first directory has the tag Orientation.
#include "tenon/tools/exif.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tenon::tools {
namespace {

constexpr int kUpright = 1;
constexpr int kLastOrientation = 8;
constexpr std::uint32_t kOrientationTag = 0x0112;
constexpr std::uint32_t kShortType = 3;  // 16 bits
constexpr std::size_t kEntryBytes = 12;
constexpr std::uint32_t kApp1 = 0xE1;
constexpr std::uint32_t kStartOfScan = 0xDA;
constexpr std::string_view kJpeg = "\xFF\xD8";
constexpr std::string_view kExif("Exif\0\0", 6);

// Reads numbers in one byte order; gives nothing beyond the end.
class Bytes {
 public:
  Bytes(std::string_view bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  std::optional<std::uint32_t> At(std::size_t offset, std::size_t width) const {
    if (offset > bytes_.size() || width > bytes_.size() - offset) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t at = big_endian_ ? i : width - 1 - i;
      value = value << 8U | static_cast<unsigned char>(bytes_[offset + at]);
    }
    return value;
  }

 private:
  std::string_view bytes_;
  bool big_endian_;
};

int OrientationOfTiff(std::string_view tiff) {
  const Bytes bytes(tiff, tiff.starts_with("MM"));
  const auto directory = bytes.At(4, 4);
  if (!directory) return kUpright;
  const std::uint32_t entries = bytes.At(*directory, 2).value_or(0);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = std::size_t{*directory} + 2 + i * kEntryBytes;
    const auto tag = bytes.At(entry, 2);
    if (!tag) return kUpright;
    if (*tag != kOrientationTag || bytes.At(entry + 2, 2) != kShortType) continue;
    const auto value = static_cast<int>(bytes.At(entry + 8, 2).value_or(0));
    return value >= kUpright && value <= kLastOrientation ? value : kUpright;
  }
  return kUpright;
}

}  // namespace

int ExifOrientation(std::string_view jpeg) {
  if (!jpeg.starts_with(kJpeg)) return kUpright;
  const Bytes bytes(jpeg, true);
  for (std::size_t at = kJpeg.size(); bytes.At(at, 1) == 0xFFU;) {
    const auto marker = bytes.At(at + 1, 1);
    const auto length = bytes.At(at + 2, 2);
    if (!length || *length < 2 || marker == kStartOfScan) return kUpright;
    const std::string_view segment = jpeg.substr(at + 4).substr(0, *length - 2);
    if (marker == kApp1 && segment.starts_with(kExif))
      return OrientationOfTiff(segment.substr(kExif.size()));
    at += 2 + *length;
  }
  return kUpright;
}

}  // namespace tenon::tools
