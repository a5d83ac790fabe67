/* The least program in C. */
#include <stdio.h>

#include "tenon/c_api/tenon_c.h"

int main(void) {
  TenonModule* module = NULL;
  TenonExecutable* executable = NULL;
  TenonError* error =
      tenon_parse("def @main(%x: Tensor[(3), float32]) { exp(%x) }", "text", &module);
  if (error == NULL) error = tenon_compile(module, NULL, &executable);
  if (error != NULL) puts(tenon_error_message(error));
  const int failed = error != NULL;
  tenon_error_free(error);
  tenon_executable_free(executable);
  tenon_module_free(module);
  return failed;
}
