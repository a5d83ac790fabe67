// Kernels as C99 source text that compiles with a C compiler alone, without any header of Tenon.
//
// For a kernel named vadd the text has two functions, both extern "C":
//   int32_t vadd_direct(const float* A, const float* B, float* C, int64_t n);
//     Data pointers in the order of the parameters, then the symbolic extents; 0, or
//     1 when memory for an intermediate result is out.
//   int32_t vadd(void* args, void* arg_type_ids, int32_t num_args, void* out_ret_value,
//                void* out_ret_tcode, void* resource_handle);
//     The packed convention of graph executors: arguments are tensors (DLPack's DLTensor), checked
//     before anything runs; 2 when they are not what the kernel takes.
// Results are those of the JIT's kernel, except that libm is called instead of libmvec and sums are
// added up in the order of the loops. Products are fused into sums as the C compiler is told to.
// With OpenMP (-fopenmp) parallel loops use its threads, without it they run on one; the results
// are the same.
//
//   std::ofstream("vadd.c") << jit::CSource(kernel.function()).value();
//   // cc -std=c99 -O3 -march=native -shared -fPIC vadd.c -lm -o libvadd.so
#ifndef TENON_JIT_C_C_SOURCE_H_
#define TENON_JIT_C_C_SOURCE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tenon/loop/function.h"

namespace tenon::jit {

// A whole file with one kernel. Errors: Unimplemented for an external function that takes 16-bit
// floats by value.
absl::StatusOr<std::string> CSource(const loop::Function& function);

// A file of several kernels and whatever else belongs to them. Methods throw Error.
class CFile {
 public:
  // `title` becomes the first line of the comment at the top.
  explicit CFile(std::string title);
  ~CFile();
  CFile(CFile&&) noexcept;
  CFile& operator=(CFile&&) noexcept;

  // Adds a kernel and gives the name of its direct function. With `native`, the symbol of machine
  // code that is linked to the file (jit/object/object_code.h), the direct function calls that.
  std::string AddKernel(const loop::Function& function, const std::string& native = "");
  // A statement at the top of every kernel that is added later.
  void GuardKernels(const std::string& statement);
  // Makes a name that nothing else in the file has.
  std::string Unique(const std::string& name);
  // Adds text after what was added before.
  void AddDefinitions(const std::string& text);
  // Adds an exported function. `prototype` has no semicolon; `comment` is put before it in the
  // header. With `comes_first` the header has it before what was added earlier.
  void AddFunction(const std::string& prototype, const std::string& body,
                   const std::string& comment, bool comes_first = false);
  // Adds text only to the header, before the functions: macros.
  void AddToHeader(const std::string& text);
  // Ensures that tenon_flush_denormals and tenon_restore_denormals are there.
  void UseDenormalControl();

  std::string Source() const;
  std::string Header() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_C_C_SOURCE_H_
