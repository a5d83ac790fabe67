// The functions that a model defines (ModelProto.functions): operators whose bodies are graphs of
// others. Nodes that call them are replaced by these bodies.
//
//   const LocalFunctions functions(model, opset);
//   if (const LocalFunction* f = functions.Find(node)) nodes = f->BodyFor(node);
#ifndef TENON_ONNX_LOCAL_FUNCTIONS_H_
#define TENON_ONNX_LOCAL_FUNCTIONS_H_

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "onnx/onnx_pb.h"

namespace tenon::onnx_import {

struct LocalFunction {
  std::string name;  // "domain.Type", and its overload where it has one
  int opset = 0;     // of the standard's operators in its body
  onnx::GraphProto body;
  // Those that have a value when a call gives none, and the names of those that have not.
  std::vector<onnx::AttributeProto> defaults;
  std::vector<std::string> attributes;

  // The body with the attributes of a call. Throws InvalidArgument for an attribute that the
  // function does not have.
  onnx::GraphProto BodyFor(const onnx::NodeProto& call) const;
};

class LocalFunctions {
 public:
  LocalFunctions() = default;
  // `opset` is that of functions that import no operators of the standard. Throws InvalidArgument
  // for two functions of one name, Unimplemented for an opset out of range.
  LocalFunctions(const onnx::ModelProto& model, int opset);

  // Null when the node calls none.
  const LocalFunction* Find(const onnx::NodeProto& node) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // domain, type, overload
  std::map<Key, LocalFunction> functions_;
};

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_LOCAL_FUNCTIONS_H_
