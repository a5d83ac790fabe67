// The machine code of functions, made or taken from the cache. Only files inside jit/ include this
// header.
//
// Functions that differ in numbers only have one object file between them, which takes the numbers
// as further extents (loop/skeleton.h), if they take extents anyway or run once. Functions with
// neither are faster with their numbers in the code.
//
//   MachineCode code = MakeMachineCode(functions, finals, options, *session);
//   code.uses[0].symbol;  // in code.objects[code.uses[0].object].bytes
#ifndef TENON_JIT_MACHINE_CODE_H_
#define TENON_JIT_MACHINE_CODE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tenon/jit/kernel.h"
#include "tenon/jit/object/orc_session.h"
#include "tenon/loop/function.h"

namespace tenon::jit {

struct MachineCode {
  struct Object {
    std::string bytes;
    SymbolAddresses externs;
  };
  // What a function runs.
  struct Use {
    std::size_t object = 0;
    std::string symbol;
    std::vector<std::int64_t> numbers;  // passed after its extents
  };
  std::vector<Object> objects;
  std::vector<Use> uses;     // by function
  bool is_compiled = false;  // some of it, and not all taken from the cache
};

// One of several shares of the work: every `of`th function.
struct Part {
  std::size_t number = 0, of = 1;
  bool Has(std::size_t function) const { return function % of == number; }
};

// `finals` are the functions after the pipeline (jit/final_loops.h). Compiles on all cores. Throws
// what verifying, compiling and looking for external functions throw. Of a part of the work, only
// the code is made whose first function it has; the uses of the others are empty.
MachineCode MakeMachineCode(std::span<const loop::Function> functions,
                            std::span<const loop::Function> finals, const CompileOptions& options,
                            OrcSession& session, Part part = {});

}  // namespace tenon::jit

#endif  // TENON_JIT_MACHINE_CODE_H_
