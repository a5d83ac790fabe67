// Tune: finds faster kernels for a model by measuring, within a budget of time.
//
// Time goes to the kernels by what the model can win there: their part of its time above the floor
// of the machine, less for each candidate that won nothing. In the end the model itself races with
// and without the choices that won: what does not win inside of it is left, and if the whole is
// slower, all is. Every result is a record as soon as it is known; so a run may be stopped at any
// time, and the next one goes on.
//
//   Records records = Records::Open("records.sqlite", Access::kWrite).value();
//   TuneReport report = Tune(module, {.seconds = 600}, &records).value();
//   Executable exe = Compile(module, {.measured = ChoicesFor(records, target).value()}).value();
#ifndef TENON_TUNE_TUNE_H_
#define TENON_TUNE_TUNE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tenon/compiler/compile.h"
#include "tenon/tune/crew.h"
#include "tenon/tune/inputs.h"
#include "tenon/tune/race.h"
#include "tenon/tune/records.h"

namespace tenon::tune {

struct TuneProgress {
  double seconds_left = 0;  // of the search
  std::string kernel;       // whose turn it was
  std::string last;         // what became of the candidate
  // One call of that kernel: by default, at best on this machine, and the best ratio so far.
  double call_s = 0, floor_s = 0, best = 1;
  int raced = 0;    // candidates, of all kernels
  int wins = 0;     // kernels with a better choice
  int workers = 0;  // that measure
};

struct TuneOptions {
  CompileOptions compile;  // `measured` is not read
  // Values of the variables in the extents of the model's inputs. A candidate is timed for all of
  // them together. None for a model of numbers.
  Shapes shapes = {};
  double seconds = 600;
  // What a candidate may take for compiling and racing, apart from its runs; then it is given up.
  // Where the calling thread measures, nothing can end it.
  double candidate_seconds = 60;
  // Compiles candidates while others are measured, by cores that measuring leaves free
  // (local_crew.h). Where the calling thread measures.
  bool compile_ahead = true;
  // Workers for which a machine has not cores enough measure all the same.
  bool share_cores = false;
  std::function<void(const TuneProgress& progress)> progress = nullptr;
  // Ends the search; the race of the whole model is still run.
  std::function<bool()> stopped = nullptr;
};

struct KernelReport {
  std::string name, content;
  int calls = 0;                     // in a run of the model
  double model_s = 0, floor_s = 0;   // of all calls, by the default; at best on this machine
  int raced = 0;                     // candidates
  std::string over;                  // the default choice
  std::optional<Record> alone;       // the best win, of the kernel alone
  std::optional<Record> in_model;    // what became of it inside the model
  std::vector<std::string> wrong;    // candidates with wrong results, in words
  std::vector<std::string> crashed;  // candidates that ended with their process, in words
  std::string unmeasured;            // why the kernel cannot run alone; empty: it can
};

// One candidate on the way.
struct TryReport {
  double seconds = 0;  // since the start
  int worker = 0;
  std::string content, choice;
  // Of the race, if one was run; else why not, in words.
  std::optional<MedianRatio> outcome;
  std::string words;
};

struct TuneReport {
  std::string target;  // as records have it
  std::int64_t threads = 0;
  std::vector<KernelReport> kernels;  // those of the most time first
  int raced = 0;
  std::vector<TryReport> tries;  // in their order
  // The whole model by the choices that are kept, against the default; nothing where none is.
  std::optional<MedianRatio> model;
  double default_model_s = 0, model_s = 0;
  bool kept = false;
};

// On this thread. Errors: those of Compile and of Records::Add; InvalidArgument for shapes that do
// not fit the model; Unimplemented for a model that has no single plan.
absl::StatusOr<TuneReport> Tune(const ir::Module& module, const TuneOptions& options,
                                Records* records);

struct CrewReport {
  std::vector<TuneReport> reports;   // one for each target and number of threads
  std::vector<std::string> remarks;  // on workers that were lost or could not work
};
// By the workers of a crew, whose machines may differ; each kind fills its own records.
// `options.compile` and `options.shapes` are not read. Errors: the first failure where no worker
// could do anything; those of Records::Add.
absl::StatusOr<CrewReport> TuneWith(Crew* crew, const TuneOptions& options, Records* records);

std::string ToText(const TuneReport& report);

}  // namespace tenon::tune

#endif  // TENON_TUNE_TUNE_H_
