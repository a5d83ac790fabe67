// Makes something that runs from a plan and its kernels. Only files of compiler/ include this
// header.
#ifndef TENON_COMPILER_PLAN_LINK_H_
#define TENON_COMPILER_PLAN_LINK_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/jit/kernel.h"

namespace tenon::compiler {

// Compiles the kernels of `lowered` that `ready`, which may be shorter, has no code for. Runs share
// `memory` with others, unless it is null.
runtime::Executable Linked(const Lowered& lowered,
                           const std::vector<std::shared_ptr<const jit::Callable>>& ready,
                           const jit::CompileOptions& code, int threads,
                           std::shared_ptr<runtime::WorkingMemory> memory = nullptr);

// All code of its kernels that is generated.
std::vector<loop::Function> FunctionsOf(const Lowered& lowered);

// By kernel: the places of the model that the nodes compute by it, in words.
std::vector<std::string> PlacesByKernel(const std::vector<runtime::Node>& nodes,
                                        std::size_t kernels);

// Links all of them, and compiles their kernels at the same time.
std::vector<runtime::Executable> AllLinked(const std::vector<Lowered>& all,
                                           const jit::CompileOptions& code, int threads);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_PLAN_LINK_H_
