// Structural equality and hashing of graphs, up to the names of variables (alpha-equivalence).
//
// Two graphs are equal when they have the same shape, including sharing: a node used twice is not
// equal to two copies of it. Bound variables correspond by position; free variables must be the
// same node unless they are mapped. Checked types, spans and name hints do not count; type
// annotations, attributes and the bytes of constants do. Equal graphs have equal hashes, and hashes
// are the same in every run and on every machine. Iterative, so graphs may be of any depth.
//
//   StructuralEqual(a, b);  StructuralHash(function);
#ifndef TENON_IR_STRUCTURAL_H_
#define TENON_IR_STRUCTURAL_H_

#include <cstdint>

#include "tenon/ir/module.h"

namespace tenon::ir {

enum class FreeVarRule { kSameNode, kMapped };

bool StructuralEqual(const Expr& a, const Expr& b, FreeVarRule rule = FreeVarRule::kSameNode);
// Functions are matched by name. Attributes of the modules count.
bool StructuralEqual(const Module& a, const Module& b);
std::uint64_t StructuralHash(const Expr& expr);

}  // namespace tenon::ir

#endif  // TENON_IR_STRUCTURAL_H_
