// PartitionGraph: moves marked regions into functions for their code generators.
//
// Each region, except those of "default", becomes a function
// @tvmgen_<mod_name>_<target>_<function>_<n> of what it reads, with Compiler=<target>,
// global_symbol, Primitive=1 and Inline=1. Several results become a tuple. A tuple that is read
// only outside is made outside. Composites become literals inside. All marks go. Requires checked
// types and keeps them.
//
//   PartitionGraph(MergeCompilerRegions(AnnotateTarget(module, generators)));
#ifndef TENON_PASSES_PARTITION_PARTITION_GRAPH_H_
#define TENON_PASSES_PARTITION_PARTITION_GRAPH_H_

#include <string>

#include "tenon/ir/module.h"

namespace tenon::passes {

struct PartitionOptions {
  std::string mod_name = "default";
  bool bind_constants = true;  // constants stay inside; if false they become parameters
};

// Throws InvalidArgument when a region reads what depends on it.
ir::Module PartitionGraph(const ir::Module& module, const PartitionOptions& options = {});

}  // namespace tenon::passes

#endif  // TENON_PASSES_PARTITION_PARTITION_GRAPH_H_
