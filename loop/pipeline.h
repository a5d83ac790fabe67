// The loop pipeline: every transform between a schedule's loops and code, in one table.
//
// A row names a transform, says when it runs, and which facts about the loops (loop/facts.h) it
// needs, ensures and breaks. The compiler refuses a table in which a row needs what no earlier row
// ensures. One driver runs the rows of a phase, simplifies where they say so, verifies the loops
// and tells an observer. Thread-safe, as long as the observer is.
//
//   body = RunPipeline(Phase::kLowering, body, {.function = &function, .bounds = bounds},
//                      {.observer = [](const PipelineStep& step) {
//                        if (step.changed) std::puts(step.name.data());
//                      }});
#ifndef TENON_LOOP_PIPELINE_H_
#define TENON_LOOP_PIPELINE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/loop/facts.h"
#include "tenon/loop/function.h"
#include "tenon/loop/pipeline_options.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"

namespace tenon::loop {

enum class Phase : std::uint8_t {
  kLowering,  // from a schedule's loops to lowered ones
  kCodegen,   // from lowered loops to those that machine code or C source is made of
};

// What transforms know besides the loops.
struct TransformContext {
  const Function* function;  // its name, buffers and scalars; not its body
  Bounds bounds;             // for simplifications
  UnrollLimits unrolls;
  RowLoads row_loads = RowLoads::kParts;
  bool stream_results = true;
  bool reassociate_sums = true;
};

struct Transform {
  std::string_view name;
  Phase phase;
  Stmt (*run)(const Stmt&, const TransformContext&);
  bool (*when)(const TransformContext&);  // null: always
  Facts needs, ensures, breaks;
  bool simplify;  // afterwards, if the loops have changed since they were last simplified
  std::string_view summary;
};

std::span<const Transform> LoopTransforms();

// The name of the first step, whose loops are the schedule's.
inline constexpr std::string_view kNests = "Nests";
// That name and the names of all rows, in order.
std::vector<std::string> StepNames();
// The table for readers, in Markdown.
std::string PipelineMarkdown();

// What is wrong with an order of rows, or null. A row must not need what does not hold there. It
// must not ensure what is not sure to hold, because it does not always run or breaks it. A phase
// must not end without flat buffers and expanded vectors.
constexpr const char* OrderError(std::span<const Transform> rows) {
  Facts known = kFactsOfNests;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Transform& row = rows[i];
    if (!known.Has(row.needs)) return "a row needs a fact that no row before it ensures";
    if (row.when != nullptr && !row.ensures.empty())
      return "a row that does not always run ensures a fact";
    if (!(row.ensures - row.breaks == row.ensures)) return "a row breaks a fact that it ensures";
    known = (known - row.breaks) | row.ensures;
    const bool ends = i + 1 == rows.size() || rows[i + 1].phase != row.phase;
    if (ends && !known.Has(kFactsOfLoweredLoops)) return "a phase ends without a fact";
  }
  return nullptr;
}

// Runs the rows of a phase on `body`, simplified loops with kFactsOfNests or kFactsOfLoweredLoops.
// Throws what transforms throw, and InvalidArgument for a user's transform that names no step of
// the table. With `verify`, and after such a transform, what Verify throws gets a note that names
// the step.
Stmt RunPipeline(Phase phase, const Stmt& body, const TransformContext& context,
                 const PipelineOptions& options = {});

}  // namespace tenon::loop

#endif  // TENON_LOOP_PIPELINE_H_
