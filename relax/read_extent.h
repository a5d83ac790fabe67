// Extents in Relax text: sums of products of numbers, variables, a // 2, T.max(a, b) and T.min.
//
//   Dim extent = ReadExtent(&cursor, [&](const Token& name) { ... });
#ifndef TENON_RELAX_READ_EXTENT_H_
#define TENON_RELAX_READ_EXTENT_H_

#include <functional>

#include "tenon/relax/cursor.h"
#include "tenon/support/dim.h"

namespace tenon::relax {

// `know` is told of each variable; it throws for one that is not allowed.
Dim ReadExtent(Cursor* text, const std::function<void(const Token& name)>& know);

}  // namespace tenon::relax

#endif  // TENON_RELAX_READ_EXTENT_H_
