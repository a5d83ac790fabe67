// PartitionForOneDnn: moves what oneDNN computes in one primitive into composite functions.
//
// Runs the default passes up to fusion (scales and constants folded), then a table of patterns -
// conv2d, conv2d_transpose, dense, matmul, batch_matmul and the 2-D poolings, each with up to two
// additions (bias, residual) and an activation: relu, clip, sigmoid, tanh, swish, hard-swish, gelu;
// softmax, log_softmax and layer_norm alone - and merges what is left next to each other
// (MergeCompositeFunctions, code generator "dnnl"). A match stays as it is when oneDNN's
// strategy refuses it or when a value inside is used elsewhere. Compile then makes one kernel of
// each composite.
//
//   Executable exe = Compile(PartitionForOneDnn(module)).value();
#ifndef TENON_COMPILER_PARTITION_ONEDNN_H_
#define TENON_COMPILER_PARTITION_ONEDNN_H_

#include <vector>

#include "tenon/ir/module.h"
#include "tenon/passes/partition/annotate_target.h"
#include "tenon/passes/pattern/fuse_ops_by_pattern.h"

namespace tenon {

// The name of the code generator.
inline constexpr char kOneDnnName[] = "dnnl";

// PartitionFor(module, kOneDnnName) of compiler/code_generator.h.
ir::Module PartitionForOneDnn(const ir::Module& module);

// The table, longest patterns first. Its checks ask oneDNN's strategy.
std::vector<passes::FusionPattern> OneDnnPatterns();

// The code generator "dnnl" for AnnotateTarget. It takes its composites and the calls that the
// strategy takes alone. A call that is not a composite is compiled as if it were in no region.
passes::CodeGenerator OneDnnCodeGenerator();

}  // namespace tenon

#endif  // TENON_COMPILER_PARTITION_ONEDNN_H_
