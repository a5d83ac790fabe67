// An ONNX model that is written node by node, for benchmarks that hand one file to Tenon and to its
// peers. Weights are generated, the same on every machine.
//
//   OnnxGraph graph;
//   const std::string x = graph.Input("x", {"batch", "64", "14", "14"});
//   const std::string y = graph.Call("Conv", {x, graph.Kernel({64, 64, 3, 3})}, {{"pads", Ints{1,
//   1, 1, 1}}}); WriteFile("conv.onnx", {graph.Write(y, {"batch", "64", "14", "14"})});
#ifndef TENON_BENCHMARKS_ONNX_GRAPH_H_
#define TENON_BENCHMARKS_ONNX_GRAPH_H_

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tenon/models/weights.h"
#include "tenon/ops/ints.h"
#include "tenon/support/ndarray.h"

namespace tenon::benchmarks {

class OnnxGraph {
 public:
  using Extents = std::vector<std::string>;  // numbers, or names of variables
  using Value = std::variant<std::int64_t, ops::Ints, std::string>;
  using Attributes = std::vector<std::pair<std::string, Value>>;

  OnnxGraph();

  std::string Input(const std::string& name, const Extents& extents);
  // The serialised model, whose result is `output`. An empty list leaves the extents open.
  std::string Write(const std::string& output, const Extents& extents);

  // The names of all results of a node; an input without a name is left out.
  std::vector<std::string> CallAll(const std::string& type, const std::vector<std::string>& inputs,
                                   const Attributes& attributes, std::size_t num_results);
  std::string Call(const std::string& type, const std::vector<std::string>& inputs,
                   const Attributes& attributes = {}) {
    return CallAll(type, inputs, attributes, 1)[0];
  }

  std::string Constant(const NDArray& values);
  // A weight whose variance keeps that of activations: 2 / the product of all axes but the first.
  std::string Kernel(Shape shape);
  std::string Vector(std::int64_t size, double low, double high);
  std::string Transpose(const std::string& x, const ops::Ints& order);
  std::string Reshape(const std::string& x, const ops::Ints& extents);

 private:
  onnx::GraphProto& graph() { return *model_.mutable_graph(); }

  onnx::ModelProto model_;
  models::Weights weights_{1};
};

}  // namespace tenon::benchmarks

#endif  // TENON_BENCHMARKS_ONNX_GRAPH_H_
