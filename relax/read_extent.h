// Extents in Relax text: sums of products of numbers, variables, a // 2, T.max(a, b) and T.min.
//
//   Dim extent = ReadExtent(&cursor, [&](const Token& name) { return Dim::Symbol(...); });
#ifndef TENON_RELAX_READ_EXTENT_H_
#define TENON_RELAX_READ_EXTENT_H_

#include <functional>

#include "tenon/relax/cursor.h"
#include "tenon/support/dim.h"

namespace tenon::relax {

// `meaning` gives what a variable stands for; the cursor is after its name. It throws for one that
// is not allowed.
Dim ReadExtent(Cursor* text, const std::function<Dim(const Token& name)>& meaning);

}  // namespace tenon::relax

#endif  // TENON_RELAX_READ_EXTENT_H_
