// Modules with variables in place of some extents of their inputs, and values for these variables:
// what a compile for all shapes is checked with.
//
//   const std::optional<ir::Module> symbolic = WithSymbols(module, seed);
//   for (const Dim::Values& values : DrawValues(OwnValues(*symbolic, shapes), random))
//     Interpret(WithValues(*symbolic, values), inputs);
#ifndef TENON_VERIFY_DRAW_SYMBOLIC_MODULE_H_
#define TENON_VERIFY_DRAW_SYMBOLIC_MODULE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/ir/module.h"
#include "tenon/support/dim.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

// Equal extents of at least 2 become one variable, or stay, as the seed says. Nothing where none
// does, or where types do not follow from such variables.
std::optional<ir::Module> WithSymbols(const ir::Module& module, std::uint64_t seed);
// The module with numbers in place of the variables of its inputs. Throws what inference throws:
// where operators do not take these numbers.
ir::Module WithValues(const ir::Module& module, const Dim::Values& values);

// The variables of the types of a module's inputs, without those that only results have.
std::set<std::string> VariablesOf(const ir::Module& module);
// What the variables are where the inputs have these shapes. Variables that are nowhere an extent
// alone are left out.
Dim::Values OwnValues(const ir::Module& module, const std::vector<Shape>& shapes);
// The shapes of inputs at these values. An extent that has no value, or one below 0, is 0.
std::vector<Shape> ShapesAt(const ir::Module& module, const Dim::Values& values);

// "n = 3, w = 7".
std::string ToString(const Dim::Values& values);
// Sets of values, their own ones first: ones, primes, numbers around the widths of vectors, larger
// ones, and sometimes zeros. In each of the others, some variables keep their own value.
std::vector<Dim::Values> DrawValues(const Dim::Values& own, Random& random);

// An array of this shape whose elements are some of those of `array`, in any order.
NDArray Resized(const NDArray& array, const Shape& shape, Random& random);

// A condition on the variables that `--explain` prints of the module, or one of `more`, that these
// values break. Nothing where there is none.
std::optional<std::string> BrokenCondition(const ir::Module& module, const Dim::Values& values,
                                           const CompileOptions& options,
                                           std::vector<ExtentCondition> more = {});

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_SYMBOLIC_MODULE_H_
