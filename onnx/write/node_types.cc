// The type constraints of the standard's operators, as its schemas of opset 17 have them.
#include "tenon/onnx/write/node_types.h"

#include <algorithm>
#include <vector>

namespace tenon::onnx_export {
namespace {

using Types = std::vector<DataType>;

struct Row {
  std::vector<std::string> nodes;
  Types types;
};

Types Joined(Types types, const Types& more) {
  types.insert(types.end(), more.begin(), more.end());
  return types;
}

const std::vector<Row>& Rows() {
  static const auto& rows = *[] {
    const Types floats = {Float16, Float32, Float64}, halves_too = Joined(floats, {BFloat16}),
                wide = Joined(halves_too, {Int32, Int64, UInt32, UInt64}),
                with_sign = Joined(halves_too, {Int8, Int16, Int32, Int64}),
                numbers = Joined(with_sign, {UInt8, UInt16, UInt32, UInt64});
    return new std::vector<Row>{
        {{"Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Sin", "Sinh", "Tan"},
         floats},
        {{"AveragePool", "Conv", "ConvTranspose", "GlobalAveragePool", "GlobalMaxPool"}, floats},
        {{"GRU", "LSTM", "RNN", "Round"}, floats},
        {{"BatchNormalization", "Ceil", "Exp", "Floor", "IsNaN", "LayerNormalization"}, halves_too},
        {{"LeakyRelu", "Log", "LogSoftmax", "Reciprocal", "Sigmoid", "Softmax", "Sqrt", "Tanh"},
         halves_too},
        {{"IsInf"}, {Float32, Float64}},
        {{"MaxPool"}, Joined(floats, {Int8, UInt8})},
        {{"Pow"}, Joined(halves_too, {Int32, Int64})},
        {{"Gemm", "MatMul", "ReduceMean", "ReduceProd", "ReduceSum"}, wide},
        {{"ReduceMax", "ReduceMin"}, Joined(wide, {Int8, UInt8})},
        {{"Neg", "Relu"}, with_sign},
        {{"Abs", "Add", "ArgMax", "ArgMin", "Clip", "Div", "Erf", "Greater", "GreaterOrEqual"},
         numbers},
        {{"Less", "LessOrEqual", "Max", "Min", "Mod", "Mul", "Sign", "Sub"}, numbers},
        {{"And", "Not", "Or", "Where", "Xor"}, {Bool}},
        {{"QuantizeLinear"}, {Float32, Int32}},
        {{"DequantizeLinear"}, {Int8, UInt8, Int32}},
    };
  }();
  return rows;
}

}  // namespace

bool TakesType(const std::string& node, DataType type) {
  return std::ranges::all_of(Rows(), [&](const Row& row) {
    return std::ranges::find(row.nodes, node) == row.nodes.end() ||
           std::ranges::find(row.types, type) != row.types.end();
  });
}

}  // namespace tenon::onnx_export
