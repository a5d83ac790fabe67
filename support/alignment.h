// The alignment of arrays and of every part of working memory: a cache line, which is also the
// widest vector. Kernels may rely on it.
#ifndef TENON_SUPPORT_ALIGNMENT_H_
#define TENON_SUPPORT_ALIGNMENT_H_

#include <cstddef>

namespace tenon {

inline constexpr std::size_t kAlignment = 64;  // bytes

}  // namespace tenon

#endif  // TENON_SUPPORT_ALIGNMENT_H_
