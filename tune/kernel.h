// One kernel of a model as a model of its own, so that choices for it can be raced.
//
// The module has one call of the fused function. Arguments that are constants in the model keep
// their values; the others are inputs. In a model of variable extents, the function has variables
// of its own (compiler/symbolic/local_extents.h), and the kernel is raced for the values that they
// have in the model's shapes.
//
//   for (const ModelKernel& kernel : KernelsOf(lowered, shapes)) ...
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
#include "tenon/tune/inputs.h"

namespace tenon::tune {

struct ModelKernel {
  std::string name;
  std::string text, content;  // strategies/choice/content.h
  ir::Module module;
  std::vector<std::string> nodes;  // of the model's plan, that call it
  strategies::Choice chosen;       // for the model
  Shapes shapes;                   // of the module, for each call in each of the model's shapes

  // The shapes that differ, and of these at most kMaxShapes from the least to the greatest.
  static constexpr std::size_t kMaxShapes = 8;
  Shapes RacedShapes() const;
};

// The kernels of a model that was lowered: each once, where its arguments are known apart. Throws
// InvalidArgument where the model's shapes lack a variable.
std::vector<ModelKernel> KernelsOf(const Lowered& lowered, const Shapes& shapes = {{}});

// A kernel by one choice, ready to run on inputs of its own.
class Contender {
 public:
  // Runs once on the inputs of each shape.
  void Run();
  std::vector<std::vector<NDArray>> Results();  // by shape
  const strategies::Choice& choice() const { return choice_; }
  // "te.dense.tiled rows=4 vectors=4"
  std::string ChoiceText() const;

 private:
  friend absl::StatusOr<Contender> MakeContender(const ModelKernel& kernel,
                                                 const strategies::MeasuredChoices& choices,
                                                 const CompileOptions& options,
                                                 const std::set<std::string>& known);
  Contender(strategies::Choice choice, const Executable& executable, const Shapes& shapes);
  strategies::Choice choice_;
  std::vector<runtime::Inputs> inputs_;  // by shape
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
