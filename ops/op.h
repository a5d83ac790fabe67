// What the registry knows about an operator.
//
// An OpDef is built by the fluent setters of OpRegistry::Register and does not change afterwards,
// except for its columns. A column is typed extra data that another room attaches (a compute, a
// strategy, a layout rule); there is one value per C++ type.
//
//   const OpDef& op = OpRegistry::Global().Find("nn.conv2d");
//   if (const TeCompute* compute = op.Column<TeCompute>()) ...
#ifndef TENON_OPS_OP_H_
#define TENON_OPS_OP_H_

#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <typeindex>
#include <unordered_map>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/ops/type_relation.h"

namespace tenon::ops {

// How an operator's output elements depend on its input elements; FuseOps decides by it. The order
// matters: along a path, the greatest pattern counts.
enum class OpPattern {
  kElemWise = 0,         // one to one
  kBroadcast = 1,        // one to one, axes repeated
  kInjective = 2,        // each output element reads one input element
  kCommReduce = 3,       // a commutative reduction
  kOutEWiseFusable = 4,  // heavy; elementwise work can follow in the same kernel
  kTuple = 7,
  kOpaque = 8,
};
const char* ToString(OpPattern pattern);

struct ArgumentDoc {
  std::string name;
  std::string type;
  std::string help;
};

class OpDef : public ir::OpNode {
 public:
  explicit OpDef(std::string name, std::source_location where)
      : OpNode(std::move(name)), registered_at(where) {}

  const attrs::Schema* attrs_schema() const override { return schema; }
  int num_inputs() const override { return variadic ? -1 : static_cast<int>(arguments.size()); }

  std::string description;
  std::vector<ArgumentDoc> arguments;
  const attrs::Schema* schema = nullptr;
  int support_level = 10;  // 1: core, 10: at the edge, 11: quantised operators and einsum
  std::optional<OpPattern> pattern;
  TypeRelation type_relation;
  std::string relation_name;
  bool variadic = false;
  bool stateful = false;      // never folded or merged
  bool reshape_only = false;  // the elements of the result are those of the input, in order
  const std::source_location registered_at;

  // Null when nothing of that type is attached.
  template <typename T>
  const T* Column() const {
    const auto found = columns_.find(typeid(T));
    return found == columns_.end() ? nullptr : static_cast<const T*>(found->second.get());
  }
  template <typename T>
  void SetColumn(T value) {
    columns_[typeid(T)] = std::make_shared<const T>(std::move(value));
  }

 private:
  std::unordered_map<std::type_index, std::shared_ptr<const void>> columns_;
};

// A column: the type relation decides by TypeCall::Differ and Exceeds whatever the values of
// variables decide, so that TypeCall::conditions is all that it needs of them. Built-in operators
// have it, and so do those whose relation is a shared one (ops/type_relation.h).
struct KnownConditions {};
bool HasKnownConditions(const OpDef& op);

// The definition of the operator that is called, or null for any other callee.
inline const OpDef* OpOf(const ir::CallNode& call) { return static_cast<const OpDef*>(call.op()); }
inline const OpDef* OpOf(const ir::Expr& callee) {
  return static_cast<const OpDef*>(callee.As<ir::OpNode>());
}

}  // namespace tenon::ops

#endif  // TENON_OPS_OP_H_
