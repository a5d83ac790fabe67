#include "tenon/jit/c/c_reference.h"

#include "tenon/jit/c/c_function_codegen.h"
#include "tenon/loop/verify.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

constexpr const char* kPrologue = R"(// target: c -keys=cpu -link-params=0
#define TENON_EXPORTS
#include "dlpack/dlpack.h"
#include ")";

std::string Function(const loop::Function& function, CHelpers& helpers, CPrototypes& externs) {
  loop::Verify(function);
  if (!function.scalars.empty())
    throw Unimplemented(StrCat("the kernel ", function.name,
                               " has symbolic extents, which the reference form has not"));
  const CFunctionText loops = GenerateC(function, helpers, externs);
  if (!externs.empty())
    throw Unimplemented(StrCat("the kernel ", function.name, " calls ", externs.begin()->first,
                               ", which the reference form has not"));
  CBlock out;
  out.Line("#ifdef __cplusplus");
  out.Line("extern \"C\"");
  out.Line("#endif");
  out.Open(StrCat("TENON_DLL int32_t ", CIdentifier(function.name),
                  "(void* args, void* arg_type_ids, int32_t num_args, void* out_ret_value, "
                  "void* out_ret_tcode, void* resource_handle) {"));
  const std::size_t count = function.buffers.size();
  for (std::size_t i = 0; i < count; ++i) {
    out.Line(StrCat("void* arg", i, " = (((TenonValue*)args)[", i, "].v_handle);"));
    out.Line(StrCat("int32_t arg", i, "_code = ((int32_t*)arg_type_ids)[(", i, ")];"));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [type, name] = loops.parameters[i];
    out.Line(StrCat(type, " ", name, " = (", type, ")(((DLTensor*)arg", i, ")[0].data);"));
    for (const char* field : {"shape", "strides"})
      out.Line(StrCat("void* arg", i, "_", field, " = (((DLTensor*)arg", i, ")[0].", field, ");"));
    if (i == 0) out.Line("int32_t dev_id = (((DLTensor*)arg0)[0].device.device_id);");
  }
  for (std::size_t i = 0; i < count; ++i) {
    out.Open(StrCat("if (!(arg", i, "_strides == NULL)) {"));
    out.Close();
  }
  std::string text = out.Text();
  // Its body begins with the brace that the prologue has opened.
  return text + loops.body.substr(loops.body.find('\n') + 1);
}

}  // namespace

std::string PackedRuntimeHeader() {
  return R"(/* What kernels in the packed calling convention need besides DLPack. */
#ifndef TENON_PACKED_RUNTIME_H_
#define TENON_PACKED_RUNTIME_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One argument; a tensor is a DLTensor* in v_handle, of type code 7. */
typedef union {
  int64_t v_int64;
  double v_float64;
  void* v_handle;
  const char* v_str;
} TenonValue;

#if defined(_WIN32)
#define TENON_DLL __declspec(dllexport)
#elif defined(__GNUC__)
#define TENON_DLL __attribute__((visibility("default")))
#else
#define TENON_DLL
#endif
#if defined(__GNUC__)
#define TENON_ALIGNED __attribute__((aligned(64)))
#else
#define TENON_ALIGNED
#endif
#define TENON_OMP(text)

#endif  /* TENON_PACKED_RUNTIME_H_ */
)";
}

std::string ReferenceC(std::span<const loop::Function> functions) {
  CHelpers helpers;
  CPrototypes externs;
  std::string definitions;
  for (const loop::Function& function : functions)
    definitions += Function(function, helpers, externs);
  return StrCat(kPrologue, kPackedRuntimeHeader, "\"\n#include <math.h>\n", helpers.Text(),
                definitions);
}

}  // namespace tenon::jit
