// Runs named passes in order, as far as the optimisation level asks, and reports on them.
//
//   Pipeline pipeline = {{"InferType", 0, [](const Module& m) { return InferType(m); }}};
//   PassReport report;
//   Module out = RunPasses(pipeline, module, {.opt_level = 3, .report = &report});
#ifndef TENON_PASSES_PASS_MANAGER_H_
#define TENON_PASSES_PASS_MANAGER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/passes/facts.h"

namespace tenon::passes {

// How a pass sees control flow.
enum class Flow : bool {
  kWhole,     // ifs where they are
  kStraight,  // straight-line code: the branches of ifs are functions of their own while it runs
};

struct Pass {
  std::string name;
  int min_opt_level = 0;
  std::function<ir::Module(const ir::Module&)> function;
  // Whether values change at most by rounding in the types that they have.
  bool keeps_values = true;
  // What must hold before the pass. Types are inferred first where they are needed but unknown.
  Facts needs;
  // For a module that the pass changed: what holds after it, and what holds if it held before.
  Facts makes, keeps;
  Flow flow = Flow::kStraight;
  // Null, or the same for a module that nobody else reads: it frees constants as it replaces them,
  // where `function` holds the old and the new ones at once. Returns whether it changed the module.
  std::function<bool(ir::Module* module)> in_place = nullptr;
};
using Pipeline = std::vector<Pass>;

// What one pass did.
struct PassRecord {
  std::string name;
  std::int64_t nanoseconds = 0;
  bool changed = false;
};
using PassReport = std::vector<PassRecord>;

// What watches passes. Any function may be null.
struct PassInstrument {
  // Before a pass runs; false leaves it out, unless it is required.
  std::function<bool(const Pass& pass, const ir::Module& module)> should_run = nullptr;
  std::function<void(const Pass& pass, const ir::Module& module)> before = nullptr;
  // After a pass has run, with the module that it made.
  std::function<void(const Pass& pass, const ir::Module& module, const PassRecord& record)> after =
      nullptr;
};

struct PassContext {
  int opt_level = 3;
  std::vector<std::string> required;  // run whatever the level
  std::vector<std::string> disabled;  // never run
  bool verify = false;                // check the module, and what the pass leaves, after each one
  PassReport* report = nullptr;
  // Called with the name of the pass and the new module after each pass that changed it.
  std::function<void(const std::string& pass, const ir::Module& module)> dump;
  // Asked in order; what they throw ends the run like an error of the pass.
  std::vector<PassInstrument> instruments = {};
};

// Throws NotFound when `required` or `disabled` names a pass that is not in the pipeline. An error
// that a pass throws gets a note with the pass's name.
ir::Module RunPasses(const Pipeline& pipeline, ir::Module module, const PassContext& context);

// The inverse of OutlineBranches: the functions that it made are put back where they are called.
ir::Module RestoreBranches(const ir::Module& module);

// One pass on one expression: the rewritten function of a function, the rewritten body of anything
// else.
ir::Expr RunPass(const ir::Expr& expr, const std::function<ir::Module(const ir::Module&)>& pass);

}  // namespace tenon::passes

#endif  // TENON_PASSES_PASS_MANAGER_H_
