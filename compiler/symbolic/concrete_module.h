// A typed module of symbolic extents, for given values of its variables.
#ifndef TENON_COMPILER_SYMBOLIC_CONCRETE_MODULE_H_
#define TENON_COMPILER_SYMBOLIC_CONCRETE_MODULE_H_

#include <map>
#include <string>

#include "tenon/ir/module.h"
#include "tenon/ir/visit.h"

namespace tenon::compiler {

struct ConcreteModule {
  ir::Module module;  // with checked types
  ir::ExprMap
      functions;  // fused functions of the result, and what they were in the symbolic module
};

// Types are inferred again from those of the inputs and compared with the symbolic ones. So what an
// operator refuses for such extents is refused here, with its words. Throws Unimplemented if both
// differ.
ConcreteModule MakeConcrete(const ir::Module& module, const Dim::Values& values);
// The values, in the form in which Dim::Substitute puts them in the place of variables.
std::map<std::string, Dim> AsDims(const Dim::Values& values);
// The module with numbers for some of its variables. Throws as above.
ConcreteModule WithExtents(const ir::Module& module, const Dim::Values& values);
// The same with any expressions in their place.
ConcreteModule WithExtents(const ir::Module& module, const std::map<std::string, Dim>& dims);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_SYMBOLIC_CONCRETE_MODULE_H_
