// What follows a heavy operator in a fused function, as oneDNN's bias and post-ops.
//
// Read from the graph, never from names: relu, leaky_relu, clip, sigmoid, tanh, x * sigmoid(x),
// hard-swish and the gelu of erf however they are spelled, sums and products with scalars, a
// per-channel bias (reshaped inside the function or not), and sums and products with a tensor of
// the result's type.
#ifndef TENON_STRATEGIES_ONEDNN_EPILOGUE_H_
#define TENON_STRATEGIES_ONEDNN_EPILOGUE_H_

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/strategies/onednn/adapter.h"

namespace tenon::strategies::onednn {

struct Epilogue {
  ir::Expr bias;  // a parameter of one value per channel, or null
  std::vector<PostOp> post_ops;
  std::vector<ir::Expr> operands;  // parameters that tensor post-ops read, in order
};

// Why NaN would not stay NaN, or nothing. oneDNN's relu and clip are a maximum and a minimum that
// give their second operand for NaN, and its exponential cuts its argument off the same way.
std::optional<std::string> LossOfNan(const Epilogue& epilogue);

// Why the library cannot take the operands after a convolution or pooling in `layout`, or nothing.
std::optional<std::string> RefuseTensors(const Epilogue& epilogue, ActivationLayout layout);

// `channel_axis` is that of the anchor's result. If something cannot be expressed, says what.
std::variant<Epilogue, std::string> ReadEpilogue(const ir::FunctionNode& function,
                                                 const ir::CallNode& anchor, int channel_axis);

}  // namespace tenon::strategies::onednn

#endif  // TENON_STRATEGIES_ONEDNN_EPILOGUE_H_
