// Zip archives, for tests.
#ifndef TENON_TESTS_TESTING_ZIP_BYTES_H_
#define TENON_TESTS_TESTING_ZIP_BYTES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <zlib.h>

namespace tenon::runtime {

inline std::string LittleEndian(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

// CRC-32 bit by bit.
inline std::uint32_t ChecksumOf(const std::string& bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
  }
  return ~crc;
}

// By deflate, without zlib's header.
inline std::string Deflated(const std::string& content) {
  std::string compressed(compressBound(static_cast<uLong>(content.size())), '\0');
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  deflate(&stream, Z_FINISH);
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  return compressed;
}

inline std::string ZipOf(const std::vector<std::pair<std::string, std::string>>& files,
                         bool compressed = false) {
  std::string bytes, directory;
  for (const auto& [name, file] : files) {
    const auto size = static_cast<std::uint32_t>(file.size());
    const std::string content = compressed ? Deflated(file) : file;
    // Version, flags, method, time and date; checksum, sizes; lengths of the name and of extras.
    const std::string head =
        LittleEndian(20, 2) + LittleEndian(0, 2) + LittleEndian(compressed ? 8 : 0, 2) +
        LittleEndian(0, 4) + LittleEndian(ChecksumOf(file), 4) +
        LittleEndian(static_cast<std::uint32_t>(content.size()), 4) + LittleEndian(size, 4) +
        LittleEndian(static_cast<std::uint32_t>(name.size()), 2) + LittleEndian(0, 2);
    const auto place = static_cast<std::uint32_t>(bytes.size());
    bytes += LittleEndian(0x04034b50, 4) + head + name + content;
    directory += LittleEndian(0x02014b50, 4) + LittleEndian(20, 2) + head + std::string(10, '\0') +
                 LittleEndian(place, 4) + name;
  }
  const auto count = static_cast<std::uint32_t>(files.size());
  const auto start = static_cast<std::uint32_t>(bytes.size());
  return bytes + directory + LittleEndian(0x06054b50, 4) + std::string(4, '\0') +
         LittleEndian(count, 2) + LittleEndian(count, 2) +
         LittleEndian(static_cast<std::uint32_t>(directory.size()), 4) + LittleEndian(start, 4) +
         LittleEndian(0, 2);
}

}  // namespace tenon::runtime

#endif  // TENON_TESTS_TESTING_ZIP_BYTES_H_
