// Passes of the rooms above passes/, by name. These read files or ask code generators. Users add
// their own, also from plug-ins.
//
//   RegisterNamedPasses();
//   passes::Pipeline p = passes::ParsePipeline("BindParams{params.npz}, FuseOpsByPattern{dnnl}");
//
//   const bool registered = tenon::RegisterPass(
//       {.name = "acme.Simplify", .summary = "...", .make = MakeSimplify});
#ifndef TENON_COMPILER_NAMED_PASSES_H_
#define TENON_COMPILER_NAMED_PASSES_H_

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

#include "tenon/passes/partition/annotate_target.h"
#include "tenon/passes/pass_registry.h"
#include "tenon/passes/pattern/fuse_ops_by_pattern.h"
#include "tenon_headers_stamp.h"

namespace tenon {

// Adds BindParams, AnnotateTarget, FuseOpsByPattern, PartitionFor and PartitionForOneDnn to the
// global registry. It may be called again, and by several threads.
void RegisterNamedPasses();

// What ParsePipeline gives to passes by default: the evaluator of constants.
passes::PassArguments DefaultPassArguments();

// Registers a user's pass. Errors are kept, and thrown by the next Compile or plug-in load.
// Whatever the pass throws names it and the place. False when there were errors.
bool RegisterPass(passes::PassDefinition definition,
                  std::source_location where = std::source_location::current(),
                  std::uint64_t headers = TENON_HEADERS_STAMP);

// Registers a table of patterns for FuseOpsByPattern{NAME}, in the order in which they are applied.
// Errors are treated as above.
bool RegisterPatterns(std::string name,
                      std::function<std::vector<passes::FusionPattern>()> patterns,
                      std::source_location where = std::source_location::current(),
                      std::uint64_t headers = TENON_HEADERS_STAMP);

// What AnnotateTarget{text} asks: a registered generator, or the name and the operators of another
// one, such as "npu=nn.conv2d+nn.relu". Throws NotFound for an unknown name.
passes::CodeGenerator ParseAnnotator(const std::string& text);
// The patterns of a table, or of a code generator. Throws NotFound with the nearest name.
std::vector<passes::FusionPattern> PatternsNamed(const std::string& name);

}  // namespace tenon

#endif  // TENON_COMPILER_NAMED_PASSES_H_
