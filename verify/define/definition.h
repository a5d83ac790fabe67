// What the elements of results must be, in the widest numbers. Only
// verify/define/plain_definition.cc, verify/define*.cc and verify/check_*.cc include this header.
#ifndef TENON_VERIFY_DEFINE_DEFINITION_H_
#define TENON_VERIFY_DEFINE_DEFINITION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/ops/ints.h"
#include "tenon/support/ndarray.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

using Whole = __int128;
using Real = long double;

// One of the two counts, by the element type.
struct Number {
  Whole whole = 0;
  Real real = 0;
};

// Denormals are zeros, as kernels take them.
Number ElementAt(const NDArray& array, std::int64_t i);
// The same of a float or an integer, as a real number.
Real RealAt(const NDArray& array, std::int64_t i);
// An integer.
std::int64_t IndexAt(const NDArray& array, std::int64_t i);

// To the nearest number of the type, ties to even.
Real Rounded(Real value, DataType type);
Whole Wrapped(Whole value, DataType type);
// The number of the type that is nearest to it.
Real Within(Real value, DataType type);
// Of a real number without its fraction; 0 for NaN.
Whole Saturated(Real value, DataType type);
// As a cast has it, before it is rounded.
Number Converted(const Number& value, DataType from, DataType to);

// Of an attribute with a number for each axis, or one for all: that of axis `d`.
inline std::int64_t OfAxis(const ops::Ints& numbers, std::size_t d) {
  return numbers[numbers.size() == 1 ? 0 : d];
}

// An integer that a tolerance stands beside is `real`, rounded to either side within it.
struct Definition {
  std::vector<Number> elements;
  std::vector<Real> tolerances;
  std::optional<Shape> shape = std::nullopt;  // of the result, where the definition says it

  void Add(const Number& element, Real tolerance) {
    elements.push_back(element);
    tolerances.push_back(tolerance);
  }
};

// A number that is computed in a floating type and converted to `type`; integers lose its fraction,
// which within the tolerance may take a whole.
void AddConverted(Real value, Real tolerance, DataType type, Definition* to);

// A call whose arguments, and results, are tuples laid out one array after the other. Of the
// results, shapes and types are read.
struct DefinedCall {
  const ir::CallNode& call;
  const std::vector<NDArray>& args;
  const std::vector<NDArray>& results;

  const Shape& shape(std::size_t arg) const { return args.at(arg).shape(); }
  Real Arg(std::size_t arg, std::int64_t i = 0) const { return RealAt(args.at(arg), i); }
};

// A definition for each result.
using Definitions = std::vector<Definition>;  // of the results of a call
using Define = std::function<Definitions(const DefinedCall& call)>;
using DefinitionTable = std::map<std::string, Define>;

// These hold for all values of the arguments.
void AddBlockDefinitions(DefinitionTable* table);
void AddCreatedDefinitions(DefinitionTable* table);
void AddMovedDefinitions(DefinitionTable* table);
void AddOrderedDefinitions(DefinitionTable* table);
void AddReshapedDefinitions(DefinitionTable* table);
void AddScalarDefinitions(DefinitionTable* table);
void AddScatteredDefinitions(DefinitionTable* table);
void AddTakenDefinitions(DefinitionTable* table);
// The others are held against calls whose values are drawn for them.
void AddBoxDefinitions(DefinitionTable* table);
void AddCollapsedDefinitions(DefinitionTable* table);
void AddConvolutionDefinitions(DefinitionTable* table);
void AddDetectionDefinitions(DefinitionTable* table);
void AddFourierDefinitions(DefinitionTable* table);
void AddIndexedDefinitions(DefinitionTable* table);
void AddNormDefinitions(DefinitionTable* table);
void AddPoolDefinitions(DefinitionTable* table);
void AddProductDefinitions(DefinitionTable* table);
void AddQuantizedDefinitions(DefinitionTable* table);
void AddQuantizedProductDefinitions(DefinitionTable* table);
void AddRecurrentDefinitions(DefinitionTable* table);
void AddRegionDefinitions(DefinitionTable* table);
void AddResizeDefinitions(DefinitionTable* table);
void AddSampledDefinitions(DefinitionTable* table);
void AddSparseDefinitions(DefinitionTable* table);
void AddWindowDefinitions(DefinitionTable* table);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DEFINE_DEFINITION_H_
