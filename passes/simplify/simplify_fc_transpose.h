// SimplifyFCTranspose: lets the caller transpose weights of dense layers once, instead of the model
// at each run.
//
// nn.dense(%x, transpose(%w)) of a named parameter %w of @main becomes nn.dense(%x, %w_T), where
// the parameter %w_T has the transposed type. The values to run with are those of TransposeWeights.
// All errors come before anything changes: NotFound for a name that no parameter has;
// InvalidArgument for a parameter that something other than such layers reads. Run InferType after
// it.
//
//   const std::vector<std::string> weights = TransposedWeights(module);
//   Module simple = SimplifyFCTranspose(module, weights);
//   TransposeWeights(weights, &values);
#ifndef TENON_PASSES_SIMPLIFY_SIMPLIFY_FC_TRANSPOSE_H_
#define TENON_PASSES_SIMPLIFY_SIMPLIFY_FC_TRANSPOSE_H_

#include <map>
#include <string>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/support/ndarray.h"

namespace tenon::passes {

// The parameters of @main that only such layers read, in order.
std::vector<std::string> TransposedWeights(const ir::Module& module);
ir::Module SimplifyFCTranspose(const ir::Module& module, const std::vector<std::string>& weights);
// Each weight becomes its transpose, under the name of the new parameter. Throws InvalidArgument
// for a value that is not a matrix, before anything changes. Names without a value are left out.
void TransposeWeights(const std::vector<std::string>& weights,
                      std::map<std::string, NDArray>* values);

}  // namespace tenon::passes

#endif  // TENON_PASSES_SIMPLIFY_SIMPLIFY_FC_TRANSPOSE_H_
