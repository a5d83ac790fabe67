// Calls of C functions: on elements, inside expressions, and on whole buffers, as operations.
//
// CallIntrinsic makes an expression of a pure function; a vectorised loop calls it once per lane.
// Extern makes an operation that calls a function once, with the addresses of row-major buffers;
// schedules have no loops in it and compute what it reads at the root. Interpret calls the same
// functions.
//
//   ExternFunction f = ExternFunction::Named<float(float, float)>("hypotf", Effect::kPure);
//   Tensor C = Compute({n}, [&](Var i) { return CallIntrinsic(f, {A(i), B(i)}); }, "C");
//
//   ExternFunction sort = ExternFunction::At("sort", +[](const float* in, float* out, int64_t n) {
//     ... });
//   Tensor D = Extern({{n}}, {A}, {Float32},
//                     [&](auto& in, auto& out) { return ExternCall(sort, {in[0], out[0], n}); },
//                     "D")[0];
#ifndef TENON_TE_EXTERN_H_
#define TENON_TE_EXTERN_H_

#include <functional>
#include <string>
#include <vector>

#include "tenon/te/tensor.h"

namespace tenon::te {

using loop::Effect;
using loop::ExternCall;
using loop::ExternFunction;

// Throws InvalidArgument for a function that is not pure, returns nothing or takes pointers, and
// for arguments that do not fit its signature.
Expr CallIntrinsic(const ExternFunction& callee, std::vector<Expr> args);

// Gets the addresses of the inputs and of the outputs and gives the call. Its other arguments are
// constants and expressions of symbolic extents.
using ExternBody =
    std::function<Expr(const std::vector<Expr>& inputs, const std::vector<Expr>& outputs)>;

// One output for each shape and type. The call must write every element of all outputs and nothing
// else. Throws InvalidArgument when there is no output, when shapes and types differ in number,
// when the body is not a call of a function that returns nothing, and when its arguments read
// tensors.
std::vector<Tensor> Extern(const std::vector<std::vector<Expr>>& shapes, std::vector<Tensor> inputs,
                           const std::vector<DataType>& dtypes, const ExternBody& body,
                           std::string name = "extern");

}  // namespace tenon::te

#endif  // TENON_TE_EXTERN_H_
