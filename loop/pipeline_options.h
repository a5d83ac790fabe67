// How the loop pipeline (loop/pipeline.h) is watched.
//
//   jit::Compile(function, {.pipeline = {.observer = [](const loop::PipelineStep& step) {
//                  if (step.changed) std::puts(loop::Print(step.function).c_str());
//                }}});
#ifndef TENON_LOOP_PIPELINE_OPTIONS_H_
#define TENON_LOOP_PIPELINE_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

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

// A user's transform, which runs after the step of that name (loop::StepNames) and gives loops that
// compute the same. It keeps the facts that hold there: it allocates and vectorises nothing that
// earlier steps have already taken apart. Its result is verified.
struct UserTransform {
  std::string name;
  std::string after;
  std::function<Stmt(const Stmt& body, const Function& function)> run;  // not of function's body
};

struct PipelineOptions {
  // Checks the facts that must hold, and all else that Verify checks, after every step.
  bool verify = IsDebugBuild();
  PipelineObserver observer;
  std::vector<UserTransform> transforms;  // in order, those after one step
};

}  // namespace tenon::loop

#endif  // TENON_LOOP_PIPELINE_OPTIONS_H_
