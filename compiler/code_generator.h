// Code generators: users' libraries that make the kernels of what their patterns match.
//
// A generator is registered once, when the program starts or a plug-in is loaded. PartitionFor
// moves what its patterns match into composite functions "<name>.<pattern>". Compile asks it for
// the kernel of each. What it refuses is generated, and --explain says why.
//
//   const bool registered = tenon::RegisterCodeGenerator(
//       {.name = "acme", .patterns = AcmePatterns, .refusal = RefuseWide, .build = BuildAcme});
//   Executable exe = Compile(PartitionFor(module, "acme")).value();
//
// Its functions may be called by several threads at once. Whatever they throw names the generator
// and where it was registered. Registering is not thread-safe.
#ifndef TENON_COMPILER_CODE_GENERATOR_H_
#define TENON_COMPILER_CODE_GENERATOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/jit/callable.h"
#include "tenon/passes/partition/annotate_target.h"
#include "tenon/passes/pass_manager.h"
#include "tenon/passes/pattern/fuse_ops_by_pattern.h"
#include "tenon/strategies/strategy.h"
#include "tenon_headers_stamp.h"

namespace tenon {

// The kernel of a composite.
struct CompositeKernel {
  std::shared_ptr<const jit::Callable> kernel;
  // The parameters that it is called with, in order. What it packed of constants is left out.
  std::vector<int> arguments;
  // The tensor types of what it writes, which come after the arguments. They must be the
  // composite's.
  std::vector<ir::Type> results;
};

struct CodeGenerator {
  // A name without a dot. No generator may take "default".
  std::string name;
  // The patterns, the longest first. Their names begin with `name` and a dot.
  std::function<std::vector<passes::FusionPattern>()> patterns;
  // Whether AnnotateTarget gives it a call that is in no composite. Null: it takes only composites.
  std::function<bool(const ir::Expr& call)> supports = nullptr;
  // Gives why it cannot build a composite, or nothing. Null: it builds all.
  std::function<std::optional<std::string>(const strategies::Group& composite)> refusal = nullptr;
  // The constants among the arguments are in `composite.constants`, to be packed here. May refuse,
  // where it shows only now that there is no kernel.
  std::function<strategies::OrRefused<CompositeKernel>(const strategies::Group& composite)> build;
};

class CodeGeneratorRegistry {
 public:
  // It has "dnnl", whose rows are in the tables of operators.
  static CodeGeneratorRegistry& Global();

  // Throws AlreadyExists for a name that is taken, naming both places. Throws InvalidArgument for a
  // name that is empty, "default" or has a dot, and if patterns or a function that builds is
  // missing.
  void Register(CodeGenerator generator,
                std::source_location where = std::source_location::current());
  // Throws NotFound with the nearest name.
  std::vector<passes::FusionPattern> PatternsOf(const std::string& name) const;
  // The generator for AnnotateTarget. Throws NotFound with the nearest name.
  passes::CodeGenerator AnnotatorOf(const std::string& name) const;
  std::vector<std::string> Names() const;  // sorted
  // What strategies::Choose asks.
  std::vector<strategies::CompositeMaker> Makers() const;

 private:
  struct Entry {
    std::function<std::vector<passes::FusionPattern>()> patterns;
    std::function<bool(const ir::Expr& call)> supports;
    strategies::CompositeMaker maker;
    std::source_location where;
  };
  CodeGeneratorRegistry();
  const Entry& Find(const std::string& name) const;
  std::map<std::string, Entry> entries_;
};

// Registers it with Global(). Errors are kept, and thrown by the next Compile or plug-in load.
// False when there were any.
bool RegisterCodeGenerator(CodeGenerator generator,
                           std::source_location where = std::source_location::current(),
                           std::uint64_t headers = TENON_HEADERS_STAMP);

// Runs the default passes of the context's level up to fusion, and moves what the generator's
// patterns match into composite functions. Composites that feed one another share a function with
// Codegen=<name>. Throws NotFound for a name that nobody registered, and what the passes and the
// patterns throw.
ir::Module PartitionFor(const ir::Module& module, const std::string& name,
                        passes::PassContext context = {});

}  // namespace tenon

#endif  // TENON_COMPILER_CODE_GENERATOR_H_
