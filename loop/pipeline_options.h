// How the loop pipeline (loop/pipeline.h) is watched.
//
//   jit::Compile(function, {.pipeline = {.observer = [](const loop::PipelineStep& step) {
//                  if (step.changed) std::puts(loop::Print(step.function).c_str());
//                }}});
#ifndef TENON_LOOP_PIPELINE_OPTIONS_H_
#define TENON_LOOP_PIPELINE_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <string_view>

#include "tenon/loop/function.h"

namespace tenon::loop {

// What an observer is told after each step, also after one that did not run.
struct PipelineStep {
  std::string_view name;
  int number = 0;                // in StepNames
  bool changed = false;          // more than names
  std::int64_t nanoseconds = 0;  // of the transform and the simplification after it
  const Function& function;      // with the loops after the step
};
using PipelineObserver = std::function<void(const PipelineStep&)>;

// Whether this library was built for debugging.
bool IsDebugBuild();

struct PipelineOptions {
  // Checks the facts that must hold, and all else that Verify checks, after every step.
  bool verify = IsDebugBuild();
  PipelineObserver observer;
};

}  // namespace tenon::loop

#endif  // TENON_LOOP_PIPELINE_OPTIONS_H_
