/* Tenon in C, for programs of any language. The library is libtenon_c.so.
 *
 *   TenonModule* module;
 *   TenonError* error = tenon_parse("def @main(%x: Tensor[(3), float32]) { exp(%x) }", "text",
 * &module); if (error != NULL) { puts(tenon_error_message(error)); tenon_error_free(error); }
 *
 * A function that may fail returns NULL, or an error to be freed. It sets its results only when it
 * succeeds. What it gives out belongs to the caller; each kind of handle has a function that frees
 * it, which takes NULL, too. Handles do not change, so several threads may use one. Texts are
 * UTF-8. A null pointer where a handle or a text belongs is an error. Of later versions, this one
 * keeps all names, types and meanings; they only add.
 */
#ifndef TENON_C_API_TENON_C_H_
#define TENON_C_API_TENON_C_H_

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What was added later stands at its version. */
#define TENON_C_API_VERSION 3
/* That of the library, at least that of the header. */
int tenon_c_api_version(void);

typedef struct TenonError TenonError;
typedef struct TenonText TenonText;
typedef struct TenonExpr TenonExpr;
typedef struct TenonModule TenonModule;
typedef struct TenonExecutable TenonExecutable;

/* --- errors and texts */

typedef enum TenonErrorCode {
  TENON_INVALID_ARGUMENT = 3,
  TENON_NOT_FOUND = 5,
  TENON_ALREADY_EXISTS = 6,
  TENON_RESOURCE_EXHAUSTED = 8,
  TENON_FAILED_PRECONDITION = 9,
  TENON_OUT_OF_RANGE = 11,
  TENON_UNIMPLEMENTED = 12,
  TENON_INTERNAL = 13,
  TENON_DATA_LOSS = 15
} TenonErrorCode;

/* A TenonErrorCode, or one of a later version. */
int tenon_error_code(const TenonError* error);
/* What is wrong, where, and what is allowed. It lives as long as the error. */
const char* tenon_error_message(const TenonError* error);
void tenon_error_free(TenonError* error);

/* Ends in a zero, which the size does not count. */
const char* tenon_text_data(const TenonText* text);
size_t tenon_text_size(const TenonText* text);
void tenon_text_free(TenonText* text);

/* --- operators, by name */

/* Loads a shared object that registers operators, code generators or conversions. Not while another
 * thread compiles. */
TenonError* tenon_load_plugin(const char* path);
/* A line for each operator. */
TenonError* tenon_op_names(TenonText** names);
/* "nn.leaky_relu(data: Tensor, *, alpha: a number = 0.25f)" */
TenonError* tenon_op_signature(const char* op, TenonText** signature);
/* Attributes by the key of their type ("relay.attrs.Conv2DAttrs"): the JSON object `fields` with
 * its values checked and defaults filled in. */
TenonError* tenon_make_attrs(const char* type_key, const char* fields, TenonText** json);

/* --- expressions */

/* dtype: "float32". An extent of -1 is not known. */
TenonError* tenon_variable(const char* name, const char* dtype, const int64_t* shape, int rank,
                           TenonExpr** variable);
/* A copy of the elements. */
TenonError* tenon_constant(const DLTensor* data, TenonExpr** constant);
/* attrs: a JSON object of fields, {"strides": [2, 2]}; NULL leaves all at their defaults. */
TenonError* tenon_call_op(const char* op, const TenonExpr* const* args, size_t num_args,
                          const char* attrs, TenonExpr** call);
TenonError* tenon_tuple(const TenonExpr* const* fields, size_t num_fields, TenonExpr** tuple);
TenonError* tenon_tuple_field(const TenonExpr* tuple, int index, TenonExpr** field);
void tenon_expr_free(TenonExpr* expr);

/* --- modules */

/* The expression becomes the body of @main, and its variables the inputs in order of first use. */
TenonError* tenon_module_from_expr(const TenonExpr* expr, TenonModule** module);
/* Relay text, or Relax text if it begins like that. `source` names it in errors. */
TenonError* tenon_parse(const char* text, const char* source, TenonModule** module);
/* shapes: a JSON object of what the model leaves open, {"x": [1, 3, 48, 192]}, or NULL. Where it
 * is possible, branches of an If are both computed and a Loop is unrolled; otherwise the module is
 * a program (since version 3). */
TenonError* tenon_read_onnx(const char* path, const char* shapes, TenonModule** module);
/* passes: names in order, some with options: "InferType,FuseOps{extended}". */
TenonError* tenon_run_passes(const TenonModule* module, const char* passes, TenonModule** changed);
/* Composite functions for a code generator: "dnnl", or one of a plug-in. */
TenonError* tenon_partition(const TenonModule* module, const char* generator,
                            TenonModule** changed);
/* Relay text, which tenon_parse reads. Without metadata the bytes of constants are left out. */
TenonError* tenon_print(const TenonModule* module, int with_metadata, TenonText** text);
/* Version 2. Relax text, which tenon_parse reads. An error says what has no text in it. */
TenonError* tenon_print_relax(const TenonModule* module, int with_metadata, TenonText** text);
void tenon_module_free(TenonModule* module);

/* --- compiling and running */

/* options: a JSON object or NULL. "opt_level": 0 to 4; "threads"; "library": "auto", "te" or
 * "library"; "fusion": "relay" or "extended"; "winograd", "keep_nan", "reproducible",
 * "check_bounds": true or false; "mixed_precision": "bfloat16" or "float16"; "cpu_features",
 * "cache_dir": texts; "disabled_passes", "required_passes": lists of names. */
TenonError* tenon_compile(const TenonModule* module, const char* options,
                          TenonExecutable** executable);
/* Since version 3, a module may be a program: one with ifs or recursion, or with extents in its
 * middle that values decide, as of detectors with non-maximum suppression. The kernels of a
 * program have no names and are not explained, and it has no plan in JSON. */
/* JSON: {"inputs": [{"name", "dtype", "shape"}], "results": [{"name", "dtype", "shape"}],
 * "kernels": [{"name", "implementation"}]}. Extents that are expressions of variables are texts.
 * Results have names (since version 2) where the model gives them some. */
TenonError* tenon_describe(const TenonExecutable* executable, TenonText** json);
TenonError* tenon_num_results(const TenonExecutable* executable, size_t* count);
/* Inputs by name: CPU memory, row-major, which is only read. Gives `num_results` tensors, as many
 * as the executable has; each is freed by its deleter. */
TenonError* tenon_run(const TenonExecutable* executable, const char* const* names,
                      const DLTensor* const* inputs, size_t num_inputs, DLManagedTensor** results,
                      size_t num_results);
/* kind: "te", "schedule", "loops", "llvm", "asm", "c" (version 2), or "explain", which says why it
 * was chosen. Empty where there is none, as for a library's kernel. */
TenonError* tenon_kernel_text(const TenonExecutable* executable, size_t kernel, const char* kind,
                              TenonText** text);
/* The plan in the form of the graph executor's JSON. */
TenonError* tenon_graph_json(const TenonExecutable* executable, TenonText** json);
void tenon_executable_free(TenonExecutable* executable);

#ifdef __cplusplus
}
#endif

#endif /* TENON_C_API_TENON_C_H_ */
