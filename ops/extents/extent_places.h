// The tensors that have the variables of shapes as extents. Operators take a shape over variables
// as text over the extents of other tensors (ops/extents/extent_attrs.h).
//
//   places.Add(x);                     // (n, 3): n is the extent of x along axis 0
//   places.NamesIn({2 * n, 4});        // {{x}, "(2*x0_0, 4)"}
#ifndef TENON_OPS_EXTENTS_EXTENT_PLACES_H_
#define TENON_OPS_EXTENTS_EXTENT_PLACES_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::ops {

class ExtentPlaces {
 public:
  // The variables that are extents of the typed value alone and were not known before. Of values
  // that are no tensors there are none.
  void Add(const ir::Expr& value);
  // Extents of the typed value that are expressions, for HasExtent.
  void AddExpressions(const ir::Expr& value);

  struct Place {
    ir::Expr value;
    std::size_t axis;
  };
  // The variables that are known.
  std::set<std::string> Symbols() const;
  // Null for a variable that no value has as an extent.
  const Place* Find(const std::string& symbol) const;
  // Whether a value has this variable or expression as an extent, so that it is not negative.
  bool HasExtent(const ir::Dim& dim) const;

  struct NamedShape {
    std::vector<ir::Expr> others;
    std::string text;  // in which "x1_0" is the extent of axis 0 of others[1]
  };
  // Throws Unimplemented for a shape with a variable that is not known. Nothing but that it is an
  // extent is assumed of a variable, since other values may stand there later.
  NamedShape NamesIn(const std::vector<ir::Dim>& shape) const;

 private:
  std::map<std::string, Place> places_;
  std::set<std::string> expressions_;  // as text
};

// Whether two extents are equal for some values of their variables, as far as bounds show.
bool MayBeEqual(const ir::Dim& a, const ir::Dim& b);

}  // namespace tenon::ops

#endif  // TENON_OPS_EXTENTS_EXTENT_PLACES_H_
