// Does jobs of a search on this machine: whoever measures is one.
//
//   Worker worker([] { return Worker::Model{module}; }, {.threads = 2});
//   Answer answer = worker.Do(BriefJob(), stopped);
#ifndef TENON_TUNE_WORKER_H_
#define TENON_TUNE_WORKER_H_

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/tune/contest.h"
#include "tenon/tune/floors.h"
#include "tenon/tune/jobs.h"
#include "tenon/tune/kernel.h"

namespace tenon::tune {

class Worker {
 public:
  using Stopped = std::function<bool()>;  // whether to cut a race short
  struct Model {
    ir::Module module;
    Shapes shapes = {};  // as in TuneOptions
  };
  // The model is loaded and lowered when the first job comes. `measured` is not read.
  Worker(std::function<Model()> load, const CompileOptions& options);

  // A job that cannot be done has a Failure. Throws nothing.
  Answer Do(const Job& job, const Stopped& stopped);

  // The two steps of a TryJob, for those who have more threads than one. Once it is ready, which it
  // is after its first job, any thread may compile while another one races.
  bool is_ready() const { return standard_.has_value(); }
  absl::StatusOr<Contender> Compile(const TryJob& job) const;
  Answer Race(const TryJob& job, absl::StatusOr<Contender> contender, const Stopped& stopped);

 private:
  void Load();
  ModelBrief Brief();
  Floor FloorOfCalls(const ModelKernel& kernel, const MachineSpeed& machine) const;
  Floor FloorIn(const Shapes& shapes, const ModelKernel& kernel, const MachineSpeed& machine) const;
  const ModelKernel& KernelOf(const std::string& content) const;
  Outcome OutcomeOf(const TryJob& job, absl::StatusOr<Contender> contender, const Stopped& stopped);
  Contest& ContestOf(const ModelKernel& kernel);

  std::function<Model()> load_;
  CompileOptions options_;
  std::string run_;  // of the records
  std::optional<Lowered> lowered_;
  std::optional<Executable> standard_;
  Shapes shapes_;
  std::vector<ModelKernel> kernels_;
  // Those used last, the latest first.
  std::list<std::pair<std::string, std::unique_ptr<Contest>>> contests_;
};

}  // namespace tenon::tune

#endif  // TENON_TUNE_WORKER_H_
