// The alignment of arrays and of every part of working memory. It is a cache line, which is also
// the widest vector. Kernels may rely on it.
#ifndef TENON_SUPPORT_ALIGNMENT_H_
#define TENON_SUPPORT_ALIGNMENT_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

inline constexpr std::int64_t kCacheLineBytes = 64;
inline constexpr std::size_t kAlignment = kCacheLineBytes;  // bytes

}  // namespace tenon

#endif  // TENON_SUPPORT_ALIGNMENT_H_
