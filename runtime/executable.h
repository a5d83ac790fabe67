// A compiled graph: a plan, the kernels it calls and the constants it reads. Immutable; any number
// of threads may run it.
//
//   std::vector<NDArray> y = exe.Run({{"x", x}}).value();
//   Session session(exe, {.threads = 2});  // keeps its working memory between runs
//   session.Run({{"x", x}});
#ifndef TENON_RUNTIME_EXECUTABLE_H_
#define TENON_RUNTIME_EXECUTABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tenon/jit/callable.h"
#include "tenon/runtime/plan.h"
#include "tenon/runtime/thread_choice.h"
#include "tenon/support/dim.h"
#include "tenon/support/ndarray.h"

namespace tenon::runtime {

using Inputs = std::map<std::string, NDArray, std::less<>>;

// What an input must be.
struct InputInfo {
  std::string name;
  DataType dtype;
  std::vector<Dim> extents;  // numbers, or expressions of variables
};

// Time spent in one node of a profiled run.
struct NodeTime {
  std::string node;
  std::string implementation;
  std::int64_t nanoseconds = 0;
  std::vector<std::string> origins;  // as in the plan
};

struct Program;       // runtime/program.h
class WorkingMemory;  // runtime/working_memory.h

class Executable {
 public:
  struct Parts {
    Plan plan;  // storage assigned
    std::vector<std::shared_ptr<const jit::Callable>> kernels;
    std::vector<NDArray> constants;
    int threads = 0;  // of a run, unless a session says otherwise; 0: all
    // Of a model of symbolic extents, whose plan, if it has one, has variables: the executable for
    // inputs of these shapes. It throws for inputs that the model does not take.
    std::function<Executable(const Inputs& inputs)> bind = nullptr;
    std::vector<InputInfo> inputs = {};  // of such a model, or of a program
    // Of a model with control flow, which has no plan of its own.
    std::shared_ptr<const Program> program = nullptr;
    // Of runs. Without it, each stream of runs has memory of its own.
    std::shared_ptr<WorkingMemory> memory = nullptr;
  };
  explicit Executable(Parts parts);

  // Runs once with working memory taken from a pool. When the caller lets go of results, their
  // memory is kept for later runs: one block per result for each run that was active at the same
  // time. Errors: InvalidArgument for a missing or unknown input, a wrong shape or a wrong element
  // type; each names what is expected.
  absl::StatusOr<std::vector<NDArray>> Run(const Inputs& inputs) const;

  // Whether it takes inputs of any extents that suit the types of its model.
  bool is_symbolic() const;
  // What decides at run time which of its parts run; null for a model without control flow.
  const Program* program() const;
  // In the order of the model's parameters.
  std::vector<InputInfo> inputs() const;
  // As the model names them, in order; empty where it does not.
  const std::vector<std::string>& result_names() const { return result_names_; }
  // The same executable, whose results have these names.
  Executable WithResultNames(std::vector<std::string> names) const;
  // What runs inputs of these shapes: itself, unless it is symbolic. Errors as of Run.
  absl::StatusOr<Executable> Bind(const Inputs& inputs) const;
  // Empty for a program, whose parts have plans, and for what Compile made of a module of symbolic
  // extents. What was lowered first, or loaded, has the plan with variables.
  const Plan& plan() const;
  const std::vector<std::shared_ptr<const jit::Callable>>& kernels() const;
  const std::vector<NDArray>& constants() const;
  int threads() const;
  // How many threads runs take, by the last trial of the memory that was used last; nothing before
  // one has ended, for a program, and for what is not bound.
  std::optional<ThreadChoice> thread_choice() const;
  // Number of kernel launches of one run; of a program, as if each of its parts ran once, and each
  // kernel of a part with variables.
  int num_kernel_calls() const;
  // Bytes of intermediate results, after sharing.
  std::size_t working_bytes() const;
  std::string GraphJson() const { return ToGraphJson(plan()); }

  // For a program that runs this as a part: one array for each of inputs(), in that order, whose
  // element types nobody checks. Throws InvalidArgument for other shapes. Runs on the threads that
  // the caller has set. Adds to `times` unless it is null.
  std::vector<NDArray> RunPart(const std::vector<const NDArray*>& inputs,
                               std::vector<NodeTime>* times) const;

 private:
  friend class Session;
  struct State;
  Executable Bound(const Inputs& inputs) const;  // throws
  // What `body` makes with working memory from the pool.
  template <typename Body>
  std::vector<NDArray> WithWorkspace(const Body& body) const;
  std::vector<NDArray> RunOnce(const Inputs& inputs, int threads,
                               std::vector<NodeTime>* times) const;
  std::shared_ptr<State> state_;
  std::vector<std::string> result_names_;
};

// One stream of runs of an executable, with its own memory and thread count. Use it from one thread
// at a time.
class Session {
 public:
  struct Options {
    int threads = 0;  // 0: as the executable was compiled for
  };
  explicit Session(const Executable& executable) : Session(executable, Options()) {}
  Session(const Executable& executable, Options options);
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  absl::StatusOr<std::vector<NDArray>> Run(const Inputs& inputs);
  // The same, and the time of each kernel.
  absl::StatusOr<std::vector<NDArray>> RunProfiled(const Inputs& inputs,
                                                   std::vector<NodeTime>* times);
  // As Executable::thread_choice, of this session's runs.
  std::optional<ThreadChoice> thread_choice() const;

 private:
  friend class Executable;
  class Workspace;
  Executable executable_;
  std::unique_ptr<Workspace> workspace_;  // null where the executable has no plan of its own
  int threads_;
};

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_EXECUTABLE_H_
