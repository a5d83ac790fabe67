/* A program of version 1 of the C interface, with the header of that version beside it. It never
 * changes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon_c.h"

/* Ends the program where there is an error. */
static void Check(TenonError* error) {
  if (error == NULL) return;
  fprintf(stderr, "%s\n", tenon_error_message(error));
  tenon_error_free(error);
  exit(1);
}

static DLTensor Tensor(float* data, int64_t* shape, int rank) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof(tensor));
  tensor.data = data;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = rank;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  return tensor;
}

int main(void) {
  /* relu(conv2d(x, w)) */
  int64_t x_shape[] = {1, 1, 3, 3};
  int64_t w_shape[] = {1, 1, 2, 2};
  float x_data[] = {1, 2, 3, 4, 5, 6, 7, 8, -90};
  float w_data[] = {1, 1, 1, 1};
  DLTensor x = Tensor(x_data, x_shape, 4);
  DLTensor w = Tensor(w_data, w_shape, 4);

  TenonExpr *var, *weight, *conv, *relu;
  Check(tenon_variable("x", "float32", x_shape, 4, &var));
  Check(tenon_constant(&w, &weight));
  const TenonExpr* operands[] = {var, weight};
  Check(tenon_call_op("nn.conv2d", operands, 2, "{\"strides\": [1, 1]}", &conv));
  const TenonExpr* operand = conv;
  Check(tenon_call_op("nn.relu", &operand, 1, NULL, &relu));

  TenonModule* module;
  TenonText* text;
  Check(tenon_module_from_expr(relu, &module));
  Check(tenon_print(module, 0, &text));
  printf("%s", tenon_text_data(text));
  tenon_text_free(text);

  TenonExecutable* executable;
  Check(tenon_compile(module, "{\"threads\": 1}", &executable));
  const char* names[] = {"x"};
  const DLTensor* inputs[] = {&x};
  DLManagedTensor* result;
  Check(tenon_run(executable, names, inputs, 1, &result, 1));
  const float* y = result->dl_tensor.data;
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
  const int is_right = y[0] == 12 && y[1] == 16 && y[2] == 24 && y[3] == 0;
  result->deleter(result);

  Check(tenon_kernel_text(executable, 0, "explain", &text));
  printf("%s", tenon_text_data(text));
  tenon_text_free(text);

  /* Errors are values. */
  TenonExpr* wrong;
  TenonError* error = tenon_call_op("nn.conv2d", operands, 2, "{\"stride\": [1, 1]}", &wrong);
  printf("%s\n", tenon_error_message(error));
  const int is_refused = tenon_error_code(error) == TENON_INVALID_ARGUMENT;
  tenon_error_free(error);

  tenon_executable_free(executable);
  tenon_module_free(module);
  tenon_expr_free(relu);
  tenon_expr_free(conv);
  tenon_expr_free(weight);
  tenon_expr_free(var);
  return is_right && is_refused ? 0 : 1;
}
