#include "tenon/jit/compile_functions.h"

#include <atomic>
#include <exception>
#include <vector>

#include "tenon/support/on_threads.h"

namespace tenon::jit {

CpuFeatures FeaturesFor(const CompileOptions& options) {
  CpuFeatures features = CpuFeatures::Host();
  features.Apply(options.cpu_features);
  return features;
}

CodegenOptions CodegenOptionsFor(const CompileOptions& options, const CpuFeatures& features) {
  return {.vector_bits = features.vector_bits(),
          .native_bfloat16 = features.Has("avx512bf16") && features.Has("avx512vl"),
          .reassociate_reductions = options.reassociate_reductions,
          .math_by_table = features.vector_bits() == 512 && features.Has("avx512dq"),
          .byte_dots = features.Has("avx512vnni"),
          .bfloat_dots = features.Has("avx512bf16"),
          .narrow_dots = features.Has("avx512vl"),
          .check_bounds = options.check_bounds};
}

void CompileEach(std::size_t count, const CpuFeatures& features,
                 const std::function<void(std::size_t, LazyCompiler&)>& work) {
  std::vector<std::exception_ptr> errors(count);
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    LazyCompiler compiler(features);
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
