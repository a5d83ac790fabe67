// One ONNX node as its converter sees it: typed inputs, checked attributes, and calls that are
// typed and folded.
#ifndef TENON_ONNX_CONVERT_NODE_H_
#define TENON_ONNX_CONVERT_NODE_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tenon/attrs/attrs.h"
#include "tenon/ir/expr.h"
#include "tenon/onnx/convert/known_extents.h"
#include "tenon/onnx/convert/reshape_to.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/onnx/narrow_type.h"
#include "tenon/ops/ints.h"
#include "tenon/passes/simplify/fold_constant.h"
#include "tenon/support/error.h"

namespace tenon::onnx_import {

using ir::Expr;
using ops::Ints;

// The outputs of a graph inside a node, which may read values around it.
using GraphInliner = std::function<std::vector<Expr>(const onnx::GraphProto& graph,
                                                     const std::vector<Expr>& inputs)>;

// The values of types that wider ones carry.
using NarrowValues = std::unordered_map<Expr, const NarrowType*, ir::ExprHash>;

class LoopFunctions;  // loop_function.h

// What a node sees of the import that it is part of.
struct NodeSurroundings {
  GraphInliner inline_graph = nullptr;
  NarrowValues* narrow = nullptr;
  // Null where the module may have no control flow.
  LoopFunctions* loops = nullptr;
  // Whether a value has a name in a graph around the node.
  std::function<bool(const Expr& value)> is_around = nullptr;
  KnownExtents* extents = nullptr;  // never null
};

// How much work the import of a model may still do.
struct ImportBudget {
  // Loops and recurrent layers are unrolled, so a few bytes can ask for any number of expressions.
  static constexpr std::int64_t kMaxExpressions = std::int64_t{1} << 20;

  ops::FoldingBudget folding;
  std::int64_t expressions = kMaxExpressions;
};

// Its own, or what it makes.
std::string NameOf(const onnx::NodeProto& node);
// "conv1 (Conv)": what the calls that the node becomes carry to kernels, messages and profiles.
Span SpanOf(const onnx::NodeProto& node);

class Node {
 public:
  // `evaluate`, `budget` and what surrounds the node must outlive it.
  Node(const onnx::NodeProto& proto, int opset, std::vector<Expr> inputs,
       const passes::ConstantEvaluator& evaluate, ImportBudget* budget,
       NodeSurroundings surroundings = {})
      : proto_(proto),
        opset_(opset),
        inputs_(std::move(inputs)),
        evaluate_(evaluate),
        budget_(budget),
        surroundings_(std::move(surroundings)),
        span_(SpanOf(proto)) {}

  // The same node over other inputs. What it reads of the attributes is not marked in this one.
  Node Over(std::vector<Expr> inputs) const {
    return Node(proto_, opset_, std::move(inputs), evaluate_, budget_, surroundings_);
  }

  // Another node in the same surroundings, which must outlive what is returned.
  Node Over(const onnx::NodeProto& proto, std::vector<Expr> inputs) const {
    return Node(proto, opset_, std::move(inputs), evaluate_, budget_, surroundings_);
  }

  const onnx::NodeProto& proto() const { return proto_; }
  int opset() const { return opset_; }
  int num_outputs() const { return proto_.output_size(); }
  // Whether the model names output `i`; one that it leaves out may have an empty name.
  bool WantsOutput(int i) const { return i < num_outputs() && !proto_.output(i).empty(); }
  ImportBudget* budget() const { return budget_; }
  NarrowValues* narrow() const { return surroundings_.narrow; }
  LoopFunctions* loops() const { return surroundings_.loops; }
  KnownExtents& extents() const { return *surroundings_.extents; }
  bool IsAround(const Expr& value) const { return surroundings_.is_around(value); }
  const Span& span() const { return span_; }

  // --- inputs
  std::size_t num_inputs() const { return inputs_.size(); }
  bool has_input(std::size_t i) const { return i < inputs_.size() && inputs_[i]; }
  // Throws InvalidArgument when it is missing.
  const Expr& input(std::size_t i) const;
  // Null when it is missing.
  Expr optional_input(std::size_t i) const { return has_input(i) ? inputs_[i] : Expr(); }
  // A missing input is null.
  const std::vector<Expr>& inputs() const { return inputs_; }
  // Throws InvalidArgument when one is missing.
  const std::vector<Expr>& all_inputs() const;
  // The value of an input that must be known at import. Throws Unimplemented that says why it is
  // not.
  NDArray Constant(std::size_t i) const;
  Ints ConstantInts(std::size_t i) const;
  // The same as expressions of the extents of the model's inputs.
  std::vector<Dim> ShapeValue(std::size_t i) const;
  // The integer of an input with one element; of a floating element, its integral value.
  std::int64_t ConstantInt(std::size_t i) const;
  double ConstantScalar(std::size_t i) const;
  std::vector<double> ConstantNumbers(std::size_t i) const;

  // The type that a wider one carries in this input; null for all others.
  const NarrowType* NarrowTypeOf(std::size_t i) const;
  // The same of any value of the model.
  const NarrowType* NarrowTypeOf(const Expr& value) const;

  // --- attributes; reading one marks it as handled
  bool Has(const char* name);
  std::int64_t Int(const char* name, std::int64_t otherwise);
  double Float(const char* name, double otherwise);
  std::string String(const char* name, const std::string& otherwise);
  std::optional<Ints> OptionalInts(const char* name);
  Ints IntsOr(const char* name, Ints otherwise);
  std::optional<NDArray> TensorValue(const char* name);
  // Throws InvalidArgument when it is missing.
  const onnx::GraphProto& Graph(const char* name);
  // The attributes that another view of this node has read are read.
  void AddHandled(const Node& other) {
    handled_.insert(other.handled_.begin(), other.handled_.end());
  }
  // Marks an attribute as having no effect here.
  void Ignore(const char* name) { handled_.insert(name); }
  // Throws Unimplemented for an attribute that nobody read.
  void RequireAllHandled() const;
  const onnx::AttributeProto* Find(const char* name);
  // All that the node has. Throws Unimplemented for graphs, tensors and lists of texts.
  attrs::FieldValues AllAttributes();

  // --- results
  // The expression with checked types, folded when it is constant. Its arguments must be typed.
  Expr Typed(const Expr& expr) const;
  // The value, known from now on as one of a narrow type.
  Expr OfNarrowType(const Expr& value, const NarrowType& type) const;
  // The outputs of a graph of this node.
  std::vector<Expr> Inlined(const onnx::GraphProto& graph, const std::vector<Expr>& inputs) const {
    return surroundings_.inline_graph(graph, inputs);
  }

 private:
  const onnx::NodeProto& proto_;
  const int opset_;
  const std::vector<Expr> inputs_;
  std::string WhyUnknown(const Expr& value) const;

  const passes::ConstantEvaluator& evaluate_;
  ImportBudget* const budget_;
  const NodeSurroundings surroundings_;
  const Span span_;
  std::set<std::string> handled_;
};

// Throws InvalidArgument unless a constant of this many numbers may be made at import: a few bytes
// of a file can ask for any size.
void RequireConstantSize(double elements);
// A constant of zeros of that size at most.
Expr ZerosOf(const Shape& shape, DataType dtype);
// A constant of type int64.
Expr Integer(std::int64_t value);
// The value of an attribute as a number of the type. Throws InvalidArgument for a fraction where
// the type is one of integers.
Expr NumberOf(const char* attribute, double value, DataType type);
// Makes typed calls of operators of two operands. The node must outlive it.
inline auto TypedCalls(const Node& node) {
  return [&node](const Expr& op, const Expr& a, const Expr& b) {
    return node.Typed(ir::Call::Make(op, {a, b}));
  };
}
// The static extents of a typed tensor expression; its rank and element type.
Shape ShapeOf(const Expr& e);
std::int64_t RankOf(const Expr& e);
DataType DataTypeOf(const Expr& e);
// The element `index` along `axis` of a typed expression, without that axis.
Expr ElementAlong(const Expr& x, std::int64_t index, std::int64_t axis);
// The pieces of a typed expression that is cut at `places` along `axis`; there is one more than
// places.
std::vector<Expr> PartsAlong(const Node& node, const Expr& x, const Ints& places,
                             std::int64_t axis);
// The first `count` (one integer) elements of a typed expression along `axis`. It is a slice where
// the count is known at import. Where it is not, their number is a variable of the types from there
// on.
Expr FirstAlong(const Node& node, const Expr& x, const Expr& count, std::int64_t axis);
// The places of a vector of bool, in int64: those of true elements first, and how many there are
// (of rank 1).
struct PlacedFlags {
  Expr order, count;
};
PlacedFlags PlacedFirst(const Node& node, const Expr& flags);
// The int64 numbers 0, 1, ... along one axis of `rank`; the other extents are 1. Throws
// InvalidArgument for more numbers than a constant made at import may have.
Expr PlacesAlong(std::size_t rank, std::size_t axis, std::int64_t extent);
// The same for an extent that may be an expression. Typed.
Expr PlacesAlong(const Node& node, std::size_t rank, std::size_t axis, const Dim& extent);
// The attribute axis, in [0, rank of the first input). Throws InvalidArgument.
std::int64_t AxisOf(Node& node, std::int64_t otherwise);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_NODE_H_
