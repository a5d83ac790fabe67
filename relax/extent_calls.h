// Calls of operators whose shape has variables in it.
//
// Tenon's attributes are numbers. A reshape copies and infers extents instead, where that gives the
// shape. Otherwise they are expressions of the extents of parameters.
//
//   ir::Expr call = CallWithExtents("reshape", {x}, {}, shape, scope, span);
#ifndef TENON_RELAX_EXTENT_CALLS_H_
#define TENON_RELAX_EXTENT_CALLS_H_

#include <string>
#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ir/expr.h"
#include "tenon/relax/scope.h"

namespace tenon::relax {

// With its type. `dtype` is that of full, zeros and ones. Throws Unimplemented for other operators
// and for variables that no parameter has as an extent, InvalidArgument for a reshape to another
// number of elements. Where the variables decide that number, a run refuses the values.
ir::Expr CallWithExtents(const std::string& op, const std::vector<ir::Expr>& inputs,
                         const attrs::Value& dtype, const std::vector<Dim>& shape,
                         const Scope& scope, const Span& span);

}  // namespace tenon::relax

#endif  // TENON_RELAX_EXTENT_CALLS_H_
