// The shapes that tenon tune measures a model of variable extents for.
//
//   tune::Shapes shapes = ShapesToTune(module, {"x=1..8,3,48,32..640:32"});
#ifndef TENON_TOOLS_SHAPES_TO_TUNE_H_
#define TENON_TOOLS_SHAPES_TO_TUNE_H_

#include <string>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/tune/inputs.h"

namespace tenon::tools {

// Each text gives the extents of an input of @main, whose variables must have names: a number, a
// range a..b, or a..b:step. Where there is a range, five shapes have values from one end to the
// other. The values of several ranges are combined so that each has all of its values, and they do
// not grow together. Throws InvalidArgument naming what is wrong, and each variable without a
// value.
tune::Shapes ShapesToTune(const ir::Module& module, const std::vector<std::string>& texts);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_SHAPES_TO_TUNE_H_
