#include "tenon/jit/final_loops.h"

#include "tenon/loop/pipeline.h"

namespace tenon::jit {

loop::Function AfterPipeline(const loop::Function& lowered, bool reassociate_sums,
                             const loop::PipelineOptions& options) {
  loop::Function final_loops = lowered;
  final_loops.body = loop::Body([=] {
    loop::TransformContext context{
        .function = &lowered, .bounds = {}, .reassociate_sums = reassociate_sums};
    for (const loop::Var& extent : lowered.scalars) context.bounds.Bind(extent, loop::kExtents);
    return loop::RunPipeline(loop::Phase::kCodegen, lowered.body, context, options);
  });
  return final_loops;
}

}  // namespace tenon::jit
