// Stable 64-bit hashing. A hash is the same on every run and machine, so it may be stored and
// shown.
#ifndef TENON_SUPPORT_HASH_H_
#define TENON_SUPPORT_HASH_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tenon {

// The finaliser of splitmix64 (Steele, Lea & Flood, 2014).
inline std::uint64_t MixHash(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}
inline std::uint64_t CombineHash(std::uint64_t seed, std::uint64_t value) {
  return MixHash(seed * 31 + value);
}

// FNV-1a over eight bytes at a time, then over the rest.
inline std::uint64_t HashBytes(std::string_view bytes, std::uint64_t seed = 0) {
  std::uint64_t hash = 0xcbf29ce484222325ULL ^ seed;
  while (bytes.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    hash = (hash ^ word) * 0x100000001b3ULL;
    hash ^= hash >> 29;
    bytes.remove_prefix(8);
  }
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
  return MixHash(hash);
}

// 16 hexadecimal digits.
inline std::string HashText(std::uint64_t hash) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(hash >> shift) & 15];
  return text;
}

}  // namespace tenon

#endif  // TENON_SUPPORT_HASH_H_
