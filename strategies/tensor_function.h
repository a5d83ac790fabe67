// A tensor expression as a function of a module, which graphs call as they call any other.
//
//   te::Tensor A = te::Placeholder({n}, Float32, "A"), B = te::Placeholder({n}, Float32, "B");
//   te::Tensor C = te::Compute({n}, [&](te::Var i) { return A(i) + B(i); }, "C");
//   module = module.With("vadd", TensorFunction("vadd", {A, B}, {C}));
//   ir::Expr sum = ir::Call::Make(ir::GlobalVar::Make("vadd"), {x, y});
//
// The operator inside belongs to this function alone and is in no registry: two functions of one
// name do not meet, and the text of such a module is for people. What texts should read is
// registered: TENON_REGISTER_OP(..).Tensors({A, B}, {C}).
#ifndef TENON_STRATEGIES_TENSOR_FUNCTION_H_
#define TENON_STRATEGIES_TENSOR_FUNCTION_H_

#include <source_location>
#include <string>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/ops/author_code.h"
#include "tenon/ops/op.h"
#include "tenon/schedule/schedule.h"
#include "tenon/te/tensor.h"

namespace tenon::strategies {

// The operator that computes `results` of `inputs`, to be called: Call::Make(op, {x, y}). Variables
// that are extents of inputs stand for any number, so that it can be called with several shapes. It
// fuses with its neighbours as far as its pattern allows, which is read from the expressions.
//
// Throws InvalidArgument, naming the tensor: an input that is not a placeholder or is given twice,
// a result that is not computed, a placeholder that is read but not given, an extent with a
// variable that is not an extent of an input.
ir::Expr TensorOperator(const std::string& name, const std::vector<te::Tensor>& inputs,
                        const std::vector<te::Tensor>& results,
                        std::source_location where = std::source_location::current());
// The same, computed by the calls of `schedule` in a kernel of its own. A call that gives one
// value for several inputs has other stages; it runs in plain loops.
ir::Expr ScheduledOperator(const std::string& name, const std::vector<te::Tensor>& inputs,
                           const schedule::Schedule& schedule,
                           std::source_location where = std::source_location::current());

// The function that calls it, with a parameter for each input, named after the input.
ir::Expr TensorFunction(const std::string& name, const std::vector<te::Tensor>& inputs,
                        const std::vector<te::Tensor>& results,
                        std::source_location where = std::source_location::current());
ir::Expr ScheduledFunction(const std::string& name, const std::vector<te::Tensor>& inputs,
                           const schedule::Schedule& schedule,
                           std::source_location where = std::source_location::current());

// Sets arguments, type relation, pattern and compute of an operator that has none of them. Throws
// as above.
void DefineByTensors(const ops::AuthorSite& site, const std::vector<te::Tensor>& inputs,
                     const std::vector<te::Tensor>& results, ops::OpDef* op);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TENSOR_FUNCTION_H_
