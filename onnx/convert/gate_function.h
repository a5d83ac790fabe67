// The activations of recurrent layers: attributes activations, activation_alpha, activation_beta
// and clip.
#ifndef TENON_ONNX_CONVERT_GATE_FUNCTION_H_
#define TENON_ONNX_CONVERT_GATE_FUNCTION_H_

#include <functional>
#include <string>
#include <vector>

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// Takes and gives a value; its argument need not be typed.
struct GateFunction {
  std::function<Expr(const Expr& x)> make;
  // Its name in the attributes of nn.lstm and its kin; null where it has none there.
  const char* field = nullptr;
  Expr operator()(const Expr& x) const { return make(x); }
};

// Those of all directions, one after the other; `defaults` are those of one direction. The
// attribute clip bounds the arguments of the first `gates` of a direction, as other runtimes do it:
// not that of the function which an LSTM's cell goes through. Throws InvalidArgument for a wrong
// number of names and Unimplemented for unknown ones.
std::vector<GateFunction> GateFunctionsOf(Node& node, const std::vector<std::string>& defaults,
                                          std::size_t gates, std::int64_t directions);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_GATE_FUNCTION_H_
