// What is wrong with types once nothing more can be learned. Only files inside passes/ include this
// header.
//
//   TypeErrors unknown = UnknownTypes(inferred);
//   if (!unknown.errors.empty()) throw unknown.AsOne();
#ifndef TENON_PASSES_TYPE_ERRORS_H_
#define TENON_PASSES_TYPE_ERRORS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/support/error.h"

namespace tenon::passes {

struct TypeErrors {
  std::vector<Error> errors;
  std::size_t left_out = 0;  // more of them, which are counted but not shown

  // Requires an error.
  Error AsOne() const;
};

struct InferredTypes {
  const std::vector<ir::Expr>& vars;         // in the order of the text
  const std::vector<ir::Expr>& constraints;  // all that is computed
  const std::map<std::string, ir::Expr>& globals;
  std::function<const ir::Type&(const ir::Expr&)> type_of;
};

// The value with which the types of a module become too many. Passes walk the type of each value,
// so the sum bounds their work, where one value that many others read may have a large type.
TypeErrors TooManyParts(const InferredTypes& inferred);

// Names the expressions that block: variables first, then functions that call themselves, then the
// first call whose inputs are known.
TypeErrors UnknownTypes(const InferredTypes& inferred);

// The first tensor, or one in a tuple, whose bytes cannot be counted. Code that counts the elements
// or bytes of a value later need not check that they can be.
TypeErrors UncountableTypes(const InferredTypes& inferred);
// Throws InvalidArgument for such a type.
void RequireCountable(const ir::Type& type);

}  // namespace tenon::passes

#endif  // TENON_PASSES_TYPE_ERRORS_H_
