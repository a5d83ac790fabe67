// MergeCompositeFunctions: joins calls of composite functions of one code generator into regions.
//
// Composites that feed one another become one function @fused_<operators>_<codegen>, which has
// Codegen=<text before the first dot of Composite> and global_symbol and holds the composites as
// function literals without Primitive. A single composite gets such a function, too. A call joins
// the region of an argument unless the region would then read what depends on it. Composite
// functions that are no longer named leave the module.
//
//   MergeCompositeFunctions(FuseOpsByPattern(module, patterns));
#ifndef TENON_PASSES_PARTITION_MERGE_COMPOSITE_FUNCTIONS_H_
#define TENON_PASSES_PARTITION_MERGE_COMPOSITE_FUNCTIONS_H_

#include <optional>

#include "tenon/ir/module.h"
#include "tenon/ops/relax_names.h"

namespace tenon::passes {

// `names`: whose names of operators the names of the functions are made of. Nothing: as in the text
// that the module came from.
ir::Module MergeCompositeFunctions(const ir::Module& module,
                                   std::optional<ops::OperatorNames> names = std::nullopt);

}  // namespace tenon::passes

#endif  // TENON_PASSES_PARTITION_MERGE_COMPOSITE_FUNCTIONS_H_
