// What a model says about one of its inputs before its shape is fixed. Open extents have a name, or
// are "?" when the model gives none.
//
//   InputSpec x{"x", Float32, {{Dim::Symbol("batch"), 3, 48, Dim()}}};
//   x.Fits({1, 3, 48, 192});       // true
//   x.ExtentsToString();           // "(batch, 3, 48, ?)"
#ifndef TENON_IR_INPUT_SPEC_H_
#define TENON_IR_INPUT_SPEC_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/ir/type.h"

namespace tenon::ir {

struct InputSpec {
  std::string name;
  DataType dtype;
  std::optional<std::vector<Dim>> extents;  // none: any shape

  // Whether `shape` has the right rank and equals each extent that the model fixes.
  bool Fits(const Shape& shape) const;
  // The shape, when it is fixed.
  std::optional<Shape> Fixed() const;
  std::string ExtentsToString() const;
};

}  // namespace tenon::ir

#endif  // TENON_IR_INPUT_SPEC_H_
