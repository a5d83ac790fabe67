// Zip archives of stored files, for tests.
#ifndef TENON_TESTS_RUNTIME_ZIP_BYTES_H_
#define TENON_TESTS_RUNTIME_ZIP_BYTES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

inline std::string ZipOf(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string bytes, directory;
  for (const auto& [name, content] : files) {
    const auto size = static_cast<std::uint32_t>(content.size());
    // Version, flags, method, time and date; checksum, sizes; lengths of the name and of extras.
    const std::string head =
        LittleEndian(20, 2) + std::string(8, '\0') + LittleEndian(ChecksumOf(content), 4) +
        LittleEndian(size, 4) + LittleEndian(size, 4) +
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

#endif  // TENON_TESTS_RUNTIME_ZIP_BYTES_H_
