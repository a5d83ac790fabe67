/* A program that knows Tenon by its file alone, and shows kernels none of the libraries that it is
 * linked with, as hosts of other languages do. Gives 0 where kernels find what they call. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tenon/c_api/tenon_c.h"

/* Each calls a function: a conversion of libgcc, mathematics of libm and of libmvec. */
static const char* const kKernels[] = {
    "def @main(%x: Tensor[(3), float64]) { cast(%x, dtype=\"float16\") }",
    "def @main(%x: Tensor[(3), float64]) { tan(%x) }",
    "def @main(%x: Tensor[(37), float32]) { sinh(%x) }",
};

int main(void) {
  void* tenon = dlopen(TENON_C_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (tenon == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  TenonError* (*parse)(const char*, const char*, TenonModule**);
  TenonError* (*compile)(const TenonModule*, const char*, TenonExecutable**);
  const char* (*message)(const TenonError*);
  *(void**)&parse = dlsym(tenon, "tenon_parse");
  *(void**)&compile = dlsym(tenon, "tenon_compile");
  *(void**)&message = dlsym(tenon, "tenon_error_message");
  int failures = 0;
  for (size_t i = 0; i < sizeof(kKernels) / sizeof(kKernels[0]); ++i) {
    TenonModule* module = NULL;
    TenonExecutable* executable = NULL;
    TenonError* error = parse(kKernels[i], "text", &module);
    if (error == NULL) error = compile(module, "{\"library\": \"te\"}", &executable);
    if (error == NULL) continue;
    fprintf(stderr, "%s: %s\n", kKernels[i], message(error));
    ++failures;
  }
  return failures;
}
