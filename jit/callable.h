// One ready-to-run kernel, whatever made it: generated code or a library primitive.
//
// Call is safe from many threads at once as long as the buffers and the workspace are not shared.
#ifndef TENON_JIT_CALLABLE_H_
#define TENON_JIT_CALLABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace tenon::jit {

// The states of a kernel on its way from tensor expressions to machine code.
enum class KernelText : std::uint8_t {
  kTensorExpressions,
  kSchedule,
  kLoops,
  kLlvmIr,
  kAssembly,
  kC,  // jit/c/c_source.h, of the same loops
};

class Callable {
 public:
  virtual ~Callable() = default;

  // `buffers` are the kernel's arrays, inputs first, each row-major and aligned to its elements;
  // `workspace` has workspace_bytes() bytes, 64-byte aligned (may be null when that is 0).
  virtual void Call(void* const* buffers, void* workspace) const = 0;
  virtual std::size_t workspace_bytes() const { return 0; }
  // What runs, for people: "tenon" or "onednn brgconv:avx512_core".
  virtual std::string implementation() const = 0;
  // The text of what runs, at that state, made again at each call. There is one for generated code,
  // not for a library's primitive; it is empty then. Throws what making the kernel may throw.
  virtual std::string Text(KernelText) const { return ""; }
};

}  // namespace tenon::jit

#endif  // TENON_JIT_CALLABLE_H_
