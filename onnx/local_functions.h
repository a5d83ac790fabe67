// The functions that a model defines (ModelProto.functions): operators whose bodies are graphs of
// others. Nodes that call them are replaced by these bodies.
//
//   const LocalFunctions functions(model, opset);
//   if (const LocalFunction* f = functions.Find(node)) body = f->BodyFor(node);
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
  std::vector<std::string> attributes;         // their names
  std::vector<onnx::AttributeProto> defaults;  // of those that a call need not give

  bool has_references = false;  // whether the body reads its attributes

  // Throws InvalidArgument for an attribute of a call that the function does not have.
  void RequireAttributesOf(const onnx::NodeProto& call) const;
  // The body with the attributes of a call.
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
