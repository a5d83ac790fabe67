#include "tenon/jit/compile_functions.h"

#include <atomic>
#include <exception>
#include <vector>

#include "tenon/support/on_threads.h"

namespace tenon::jit {

CodegenOptions CodegenOptionsFor(const CompileOptions& options) {
  const Target& target = options.target;
  const bool is_free = !options.reproducible;
  // Some instructions are taken by their names, with registers of 512 bits among others.
  const bool is_wide = target.vector_bytes == 64;
  return {
      .vector_bits = static_cast<int>(8 * target.vector_bytes),
      .native_bfloat16 = is_free && is_wide && target.Has("avx512bf16") && target.Has("avx512vl"),
      .reassociate_reductions = options.may_reassociate(),
      .math_by_table = is_free && is_wide && target.Has("avx512dq"),
      .byte_dots = is_wide && target.Has("avx512vnni"),
      .bfloat_dots = is_free && is_wide && target.Has("avx512bf16"),
      .narrow_dots = target.Has("avx512vl"),
      .word_dots = target.Has("avx2"),
      .check_bounds = options.check_bounds,
      .runs_once = options.runs_once,
      .reproducible = options.reproducible};
}

Effort EffortFor(const CompileOptions& options) {
  return options.runs_once ? Effort::kQuick : Effort::kFull;
}

void CompileEach(std::size_t count, const Target& target,
                 const std::function<void(std::size_t, LazyCompiler&)>& work) {
  std::vector<std::exception_ptr> errors(count);
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    LazyCompiler compiler(target);
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i, compiler);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  OnThreads(count, run);
  for (const std::exception_ptr& error : errors) {
    if (error != nullptr) std::rethrow_exception(error);
  }
}

}  // namespace tenon::jit
