// Takes lowered loops to those that code is made from. Only files inside jit/ include this header;
// others call jit::FinalLoops (jit/kernel.h).
#ifndef TENON_JIT_FINAL_LOOPS_H_
#define TENON_JIT_FINAL_LOOPS_H_

#include "tenon/loop/function.h"
#include "tenon/loop/pipeline_options.h"

namespace tenon::jit {

// The function after the last phase of the loop pipeline, whose body is made when somebody asks for
// it. Sums that may go in any order do so if `reassociate_sums`.
loop::Function AfterPipeline(const loop::Function& lowered, bool reassociate_sums,
                             const loop::PipelineOptions& options = {});

}  // namespace tenon::jit

#endif  // TENON_JIT_FINAL_LOOPS_H_
