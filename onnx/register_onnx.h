// Conversions of users between nodes of ONNX models and calls of operators.
//
// Nodes of a domain that is not the standard's import by name without one (onnx/import.h); a
// converter says how names, inputs and attributes differ, or makes several calls of a node. They
// are registered when the program starts or a plug-in is loaded. Errors are kept and thrown by the
// next Compile or plug-in load: a node that has a converter already, an operator that can be
// written already or does not exist, a null function. Whatever the functions throw names the
// conversion and where it was registered. Registering is not thread-safe.
//
//   const bool reads = tenon::RegisterOnnxConverter("com.acme", "Sq", [](const OnnxNode& node) {
//     return std::vector<ir::Expr>{ops::Multiply(node.inputs[0], node.inputs[0])};
//   });
#ifndef TENON_ONNX_REGISTER_ONNX_H_
#define TENON_ONNX_REGISTER_ONNX_H_

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ir/expr.h"
#include "tenon_headers_stamp.h"

namespace tenon {

// A node as a converter reads it.
struct OnnxNode {
  int opset = 0;                  // of the standard's domain
  std::vector<ir::Expr> inputs;   // with types; null where one is left out
  attrs::FieldValues attributes;  // integers, numbers, strings and lists of numbers
  int num_outputs = 1;
};
// The node's outputs in order, at least as many as it has.
using OnnxConverter = std::function<std::vector<ir::Expr>(const OnnxNode& node)>;

// The node that a call is written as; its inputs and outputs are the call's.
struct OnnxNodeToWrite {
  std::string domain;
  std::string type;
  attrs::FieldValues attributes;  // None is left out
};
// May throw Unimplemented for what has no ONNX counterpart.
using OnnxExporter = std::function<OnnxNodeToWrite(const ir::CallNode& call)>;

// Both give false when there is an error.
bool RegisterOnnxConverter(const std::string& domain, const std::string& type,
                           OnnxConverter converter,
                           std::source_location where = std::source_location::current(),
                           std::uint64_t headers = TENON_HEADERS_STAMP);
bool RegisterOnnxExporter(const std::string& op, OnnxExporter exporter,
                          std::source_location where = std::source_location::current(),
                          std::uint64_t headers = TENON_HEADERS_STAMP);

}  // namespace tenon

#endif  // TENON_ONNX_REGISTER_ONNX_H_
