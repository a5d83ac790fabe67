// Which functions only say where elements lie: reshapes, cuts and joins along the outermost axis.
//
// A result of such a function is pieces of its arguments, one after the other. One piece is a view
// of memory; several can be written in place by those who compute the arguments.
//
//   PiecesOf(fn (%p0: (1, 8, 4, 4)) { split(%p0, 2, axis=1) });  // {{{0, 0, 64}}, {{0, 64, 64}}}
#ifndef TENON_COMPILER_PLAN_MEMORY_PIECES_H_
#define TENON_COMPILER_PLAN_MEMORY_PIECES_H_

#include <cstddef>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/support/dim.h"

namespace tenon::compiler {

// `count` elements of an argument (tuples flattened), from element `begin` on.
struct Piece {
  std::size_t input = 0;
  Dim begin = 0;
  Dim count = 0;
  friend bool operator==(const Piece&, const Piece&) = default;
};
using Pieces = std::vector<Piece>;

// For each result of the function (tuples flattened), the pieces of which it consists for all
// values of variables. Nothing if a result does not consist of pieces. Requires checked types.
std::vector<Pieces> PiecesOf(const ir::FunctionNode& function);

// Whether each result is one piece, all of the same argument.
bool IsView(const std::vector<Pieces>& results);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_PLAN_MEMORY_PIECES_H_
