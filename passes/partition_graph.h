// PartitionGraph: moves marked regions into functions for their code generators.
//
// Each region but those of "default" becomes a function @tvmgen_<mod_name>_<target>_<function>_<n>
// with Compiler=<target>, global_symbol, Primitive=1 and Inline=1 of what it reads; several results
// are a tuple, and a tuple that only others read is made outside. Composites become literals
// inside. All marks go. Checked types are found and kept.
//
//   PartitionGraph(MergeCompilerRegions(AnnotateTarget(module, generators)));
#ifndef TENON_PASSES_PARTITION_GRAPH_H_
#define TENON_PASSES_PARTITION_GRAPH_H_

#include <string>

#include "tenon/ir/module.h"

namespace tenon::passes {

struct PartitionOptions {
  std::string mod_name = "default";
  bool bind_constants = true;  // constants stay inside; otherwise they become parameters
};

// Throws InvalidArgument when a region reads what depends on it.
ir::Module PartitionGraph(const ir::Module& module, const PartitionOptions& options = {});

}  // namespace tenon::passes

#endif  // TENON_PASSES_PARTITION_GRAPH_H_
