// A zip archive ends in a record that names its directory, whose entries name the places of the
// files. Source: the ZIP application note of PKWARE. All numbers are little-endian.
#include "tenon/runtime/npz.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <sstream>
#include <string_view>

#include "tenon/runtime/npy.h"
#include "tenon/support/error.h"
#include "tenon/support/mapped_file.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

constexpr std::uint32_t kEndMark = 0x06054b50, kEntryMark = 0x02014b50, kLocalMark = 0x04034b50;
constexpr std::size_t kEndBytes = 22, kEntryBytes = 46, kLocalBytes = 30;
constexpr std::size_t kLongestComment = 65535;
constexpr std::uint32_t kIn64Bits = 0xffffffff;  // the number stands in another record
constexpr std::uint32_t kStored = 0;

std::uint32_t NumberAt(std::string_view bytes, std::size_t at, int width) {
  if (at > bytes.size() || bytes.size() - at < static_cast<std::size_t>(width))
    throw DataLoss("the archive ends in its directory");
  std::uint32_t number = 0;
  for (int i = width - 1; i >= 0; --i)
    number = number << 8U | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
  return number;
}

std::string_view PartAt(std::string_view bytes, std::size_t at, std::size_t length) {
  if (at > bytes.size() || bytes.size() - at < length)
    throw DataLoss("an entry of the archive lies outside the file");
  return bytes.substr(at, length);
}

// The checksum of zip: CRC-32 with the polynomial 0xedb88320.
std::uint32_t Crc32(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> values{};
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit)
        value = (value & 1U) != 0 ? value >> 1U ^ 0xedb88320U : value >> 1U;
      values[i] = value;
    }
    return values;
  }();
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) crc = crc >> 8U ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xffU];
  return ~crc;
}

std::size_t EndRecord(std::string_view bytes) {
  if (bytes.size() >= kEndBytes) {
    const std::size_t last = bytes.size() - kEndBytes;
    for (std::size_t back = 0; back <= std::min(last, kLongestComment); ++back) {
      if (NumberAt(bytes, last - back, 4) == kEndMark) return last - back;
    }
  }
  throw InvalidArgument("this is not a .npz file: it has no end of a zip archive");
}

NDArray ReadEntry(std::string_view bytes, std::size_t entry, const std::string& name) {
  const std::uint32_t method = NumberAt(bytes, entry + 10, 2);
  if (method != kStored)
    throw Unimplemented(StrCat("the array ", name,
                               " is compressed; write the file with numpy.savez, not "
                               "numpy.savez_compressed"));
  const std::uint32_t length = NumberAt(bytes, entry + 20, 4);
  const std::uint32_t local = NumberAt(bytes, entry + 42, 4);
  if (length == kIn64Bits || local == kIn64Bits)
    throw Unimplemented("archives of 4 GiB and more cannot be read; split the parameters");
  if (NumberAt(bytes, local, 4) != kLocalMark)
    throw DataLoss(StrCat("the array ", name, " is not where the directory says"));
  const std::size_t start =
      local + kLocalBytes + NumberAt(bytes, local + 26, 2) + NumberAt(bytes, local + 28, 2);
  const std::string_view content = PartAt(bytes, start, length);
  if (Crc32(content) != NumberAt(bytes, entry + 16, 4))
    throw DataLoss(StrCat("the array ", name, " is damaged: its checksum is another"));
  std::istringstream in{std::string(content)};
  try {
    return ReadNpyFrom(in, content.size());
  } catch (const Error& error) {
    throw Error(error.code(), StrCat("the array ", name, ": ", error.message()));
  }
}

NamedArrays Read(std::string_view bytes) {
  const std::size_t end = EndRecord(bytes);
  const std::uint32_t count = NumberAt(bytes, end + 10, 2);
  std::size_t entry = NumberAt(bytes, end + 16, 4);
  NamedArrays arrays;
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (NumberAt(bytes, entry, 4) != kEntryMark)
      throw DataLoss(StrCat("the archive's directory has no entry ", i, " of ", count));
    const std::size_t name_bytes = NumberAt(bytes, entry + 28, 2);
    std::string name(PartAt(bytes, entry + kEntryBytes, name_bytes));
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    if (!names.insert(name).second)
      throw InvalidArgument(StrCat("the archive has two arrays ", name));
    arrays.emplace_back(name, ReadEntry(bytes, entry, name));
    entry +=
        kEntryBytes + name_bytes + NumberAt(bytes, entry + 30, 2) + NumberAt(bytes, entry + 32, 2);
  }
  return arrays;
}

}  // namespace

absl::StatusOr<NamedArrays> ReadNpz(const std::string& path) {
  return CatchErrors([&] {
    try {
      return Read(MappedFile::Open(path)->bytes());
    } catch (Error& error) {
      throw error.At({.source = path});
    }
  });
}

}  // namespace tenon::runtime
