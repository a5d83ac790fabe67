// MergeCompilerRegions: joins marked calls of one code generator into regions.
//
// Marks between neighbours go when both have one target and their joint region would not read what
// depends on it. Calls marked "default" stay apart. Regions are made again from the single calls;
// earlier joins do not matter. Keeps checked types; the time is linear in the graph.
//
//   MergeCompilerRegions(AnnotateTarget(module, generators));
#ifndef TENON_PASSES_PARTITION_MERGE_COMPILER_REGIONS_H_
#define TENON_PASSES_PARTITION_MERGE_COMPILER_REGIONS_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

// Throws what ReadMarks throws.
ir::Module MergeCompilerRegions(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_PARTITION_MERGE_COMPILER_REGIONS_H_
