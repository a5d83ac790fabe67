// Constants in the form in which kernels read them, such as packed weights. They are made when a
// plan is built, once for all kernels that want the same.
#ifndef TENON_COMPILER_PLAN_PREPARED_CONSTANTS_H_
#define TENON_COMPILER_PLAN_PREPARED_CONSTANTS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/jit/kernel.h"

namespace tenon::compiler {

// How kernels that prepare constants are compiled: each runs once.
jit::CompileOptions ForOneRun(jit::CompileOptions code);

// The shape of a buffer whose extents are numbers.
Shape StaticShape(const loop::Buffer& buffer);

class PreparedConstants {
 public:
  // Kernels that prepare are compiled by `code`.
  explicit PreparedConstants(jit::CompileOptions code) : code_(std::move(code)) {}

  // What `kernel`, number `index` of its plan, wants prepared from `constants`, its arguments. New
  // ones get room by `add`, which makes a constant node; Compute fills it.
  std::vector<runtime::EntryRef> For(const LoweredKernel& kernel, int index,
                                     const std::vector<NDArray>& constants,
                                     const std::function<runtime::EntryRef(const NDArray&)>& add);

  // Visits the entries that For gave, which may be changed when nodes move.
  void ForEach(const std::function<void(runtime::EntryRef&)>& visit);

  // Writes the constants of `lowered`, and frees each source with its last reader.
  void Compute(const Lowered& lowered);

 private:
  struct Preparation {
    std::vector<NDArray> sources;
    runtime::EntryRef constant;
  };

  const jit::CompileOptions code_;
  // Preparations by the kernel and the position among what it wants prepared. Those of one key are
  // made by the same code.
  std::map<std::pair<int, std::size_t>, std::vector<Preparation>> preparations_;
};

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_PLAN_PREPARED_CONSTANTS_H_
