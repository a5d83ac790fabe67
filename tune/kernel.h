// One kernel of a model as a model of its own, so that choices for it can be raced.
//
// The module has one call of the fused function. Arguments that are constants in the model keep
// their values; the others are inputs.
//
//   for (const ModelKernel& kernel : KernelsOf(lowered)) ...
//   Contender contender = MakeContender(kernel, choice, options).value();
#ifndef TENON_TUNE_KERNEL_H_
#define TENON_TUNE_KERNEL_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tenon/compiler/compile.h"

namespace tenon::tune {

struct ModelKernel {
  std::string name;
  std::string text, content;  // strategies/content.h
  ir::Module module;
  std::vector<std::string> nodes;  // of the model's plan, that call it
  strategies::Choice chosen;       // for the model
};

// The kernels of a model that was lowered: each once, where its arguments are known apart.
std::vector<ModelKernel> KernelsOf(const Lowered& lowered);

// A kernel by one choice, ready to run on inputs of its own.
class Contender {
 public:
  // Runs once on the inputs.
  void Run();
  std::vector<NDArray> Results();
  const strategies::Choice& choice() const { return choice_; }
  // "te.dense.tiled rows=4 vectors=4"
  std::string ChoiceText() const;

 private:
  friend absl::StatusOr<Contender> MakeContender(const ModelKernel& kernel,
                                                 const strategies::MeasuredChoices& choices,
                                                 const CompileOptions& options,
                                                 const std::set<std::string>& known);
  Contender(strategies::Choice choice, const Executable& executable);
  strategies::Choice choice_;
  runtime::Inputs inputs_;
  std::unique_ptr<Session> session_;
};

// The kernel by what `choices` say; null: the default. Its inputs are random, and the same for all
// contenders of one kernel. Errors: those of compiling; FailedPrecondition, in words, where the
// choice is refused; AlreadyExists, before any code is made, where its text is among `known`.
absl::StatusOr<Contender> MakeContender(const ModelKernel& kernel,
                                        const strategies::MeasuredChoices& choices,
                                        const CompileOptions& options,
                                        const std::set<std::string>& known = {});
// What always gives that choice.
strategies::MeasuredChoices Always(std::string row, strategies::ConfigValues config);

// Why results differ by more than docs/numerics.md allows, or nothing.
std::optional<std::string> DifferenceOf(const std::vector<NDArray>& results,
                                        const std::vector<NDArray>& expected);

}  // namespace tenon::tune

#endif  // TENON_TUNE_KERNEL_H_
