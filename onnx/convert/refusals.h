// The nodes of a model that an import refuses. It goes on after them, so that one error names all
// problems of the model.
//
//   refusals.Add(node, error);
//   Expr value = refusals.StandIn("y");   // of the type that the model declares; null without one
//   refusals.Throw();
#ifndef TENON_ONNX_CONVERT_REFUSALS_H_
#define TENON_ONNX_CONVERT_REFUSALS_H_

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tenon/ir/expr.h"
#include "tenon/support/error.h"

namespace tenon::onnx_import {

class Refusals {
 public:
  // `values` are those of the graph's inputs. The graph must outlive this.
  Refusals(const onnx::GraphProto& graph, const std::unordered_map<std::string, ir::Expr>& values);

  bool empty() const { return count_ == 0; }
  void Add(Error error);
  // From now on the value has no type.
  void AddMissing(const std::string& name) { missing_.insert(name); }
  bool IsMissing(const std::string& name) const { return missing_.contains(name); }
  // In place of a value that a refused node would make. Only a floating tensor of rank 2 or more
  // has one: others may be what an import needs to know, and would be refused for not being known.
  ir::Expr StandIn(const std::string& name) const;

  // One error for all: it alone, or a list of them. There must be one.
  [[noreturn]] void Throw() const;

 private:
  std::size_t count_ = 0;
  std::vector<Error> listed_;
  std::unordered_set<std::string> missing_;
  std::unordered_map<std::string, const onnx::ValueInfoProto*> declared_;
  std::unordered_map<std::string, Dim> extents_;  // by the names that the model gives them
};

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_REFUSALS_H_
