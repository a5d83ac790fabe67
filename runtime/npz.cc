// A zip archive ends in a record that names its directory, whose entries name the places of the
// files. Source: the ZIP application note of PKWARE. All numbers are little-endian. zlib inflates
// what is compressed.
#include "tenon/runtime/npz.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <sstream>
#include <string_view>

#include <zlib.h>

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
constexpr std::uint32_t kStored = 0, kDeflated = 8;
// Deflate makes at most this many bytes of one.
constexpr std::uint64_t kMaxBytesOfAByte = 1032;

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

const Bytef* BytesOf(std::string_view bytes) {
  return reinterpret_cast<const Bytef*>(bytes.data());
}

std::uint32_t Checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32(0, BytesOf(bytes), static_cast<uInt>(bytes.size())));
}

// `size` bytes of an entry that is compressed.
std::string Inflated(std::string_view compressed, std::uint32_t size, const std::string& name) {
  const auto damaged = [&] {
    return DataLoss(StrCat("the array ", name, " is damaged: it does not inflate to the ", size,
                           " bytes that the directory says"));
  };
  // So that a small file cannot ask for much memory.
  if (size > kMaxBytesOfAByte * (compressed.size() + 1)) throw damaged();
  std::string content(size, '\0');
  z_stream stream{};
  // Without the header of zlib's own format.
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    throw Error(absl::StatusCode::kResourceExhausted, "there is no memory to inflate an archive");
  stream.next_in = const_cast<Bytef*>(BytesOf(compressed));  // which zlib only reads
  stream.avail_in = static_cast<uInt>(compressed.size());
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  stream.avail_out = size;
  const int status = inflate(&stream, Z_FINISH);
  const bool is_whole = status == Z_STREAM_END && stream.avail_in == 0 && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!is_whole) throw damaged();
  return content;
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
  if (method != kStored && method != kDeflated)
    throw Unimplemented(StrCat("the array ", name, " is compressed by method ", method,
                               " of zip; numpy.savez and numpy.savez_compressed write others"));
  const std::uint32_t length = NumberAt(bytes, entry + 20, 4);
  const std::uint32_t size = NumberAt(bytes, entry + 24, 4);
  const std::uint32_t local = NumberAt(bytes, entry + 42, 4);
  if (length == kIn64Bits || size == kIn64Bits || local == kIn64Bits)
    throw Unimplemented("archives of 4 GiB and more cannot be read; split the parameters");
  if (NumberAt(bytes, local, 4) != kLocalMark)
    throw DataLoss(StrCat("the array ", name, " is not where the directory says"));
  const std::size_t start =
      local + kLocalBytes + NumberAt(bytes, local + 26, 2) + NumberAt(bytes, local + 28, 2);
  const std::string_view stored = PartAt(bytes, start, length);
  std::string content = method == kDeflated ? Inflated(stored, size, name) : std::string(stored);
  if (Checksum(content) != NumberAt(bytes, entry + 16, 4))
    throw DataLoss(StrCat("the array ", name, " is damaged: its checksum is another"));
  const std::size_t num_bytes = content.size();
  std::istringstream in(std::move(content));
  try {
    return ReadNpyFrom(in, num_bytes);
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
  std::uint64_t stored = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (NumberAt(bytes, entry, 4) != kEntryMark)
      throw DataLoss(StrCat("the archive's directory has no entry ", i, " of ", count));
    const std::size_t name_bytes = NumberAt(bytes, entry + 28, 2);
    std::string name(PartAt(bytes, entry + kEntryBytes, name_bytes));
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    if (!names.insert(name).second)
      throw InvalidArgument(StrCat("the archive has two arrays ", name));
    arrays.emplace_back(name, ReadEntry(bytes, entry, name));
    // Entries that share bytes would let a small file ask for much memory.
    stored += NumberAt(bytes, entry + 20, 4);
    if (stored > bytes.size())
      throw DataLoss(StrCat("the arrays up to ", name, " take more bytes than the archive has"));
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
