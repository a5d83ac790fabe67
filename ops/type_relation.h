// Type relations: what an operator's input types and result type say about each other.
//
// A relation is a function that looks at the types known so far and learns others from them, in any
// direction. The solver (passes/infer_type.h) calls it again whenever one of its types becomes
// known, until nothing changes; so a relation does what it can and returns. Its refusals say which
// argument and rule are broken and what is allowed.
//
//   void Identity(TypeCall& call) { call.LearnResult(call.input(0)); ... }
#ifndef TENON_OPS_TYPE_RELATION_H_
#define TENON_OPS_TYPE_RELATION_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ir/type.h"
#include "tenon/support/extent_condition.h"

namespace tenon::ops {

class TypeCall {
 public:
  TypeCall(std::string op, const attrs::Attrs& attrs, std::vector<ir::Type> inputs, ir::Type result)
      : op_(std::move(op)),
        attrs_(attrs),
        inputs_(std::move(inputs)),
        result_(std::move(result)),
        learned_inputs_(inputs_.size()) {}

  template <typename T>
  const T& attrs() const {
    return attrs_.As<T>();
  }
  const std::string& op() const { return op_; }
  std::size_t num_inputs() const { return inputs_.size(); }
  // Null when not known yet. All members that take the number of an input refuse a number that the
  // call does not have.
  const ir::Type& input(std::size_t i) const { return inputs_[Checked(i)]; }
  const ir::Type& result() const { return result_; }
  // The input as a tensor type; null when not known yet. Refuses any other type.
  const ir::TensorTypeNode* tensor(std::size_t i) const;
  // The fields of an input that is a tuple of tensors; nothing until all are known.
  std::optional<std::vector<const ir::TensorTypeNode*>> tensors(std::size_t i) const;

  void LearnResult(ir::Type type) { learned_result_ = std::move(type); }
  void LearnInput(std::size_t i, ir::Type type) { learned_inputs_[Checked(i)] = std::move(type); }
  const ir::Type& learned_result() const { return learned_result_; }
  const ir::Type& learned_input(std::size_t i) const { return learned_inputs_[Checked(i)]; }

  // Kernels read both extents as one. That does not hold for all values of their variables: either
  // may be 1 instead. Kernels for all values are then not taken (passes/infer_type.h).
  void AssumeEqual(const ir::Dim& a, const ir::Dim& b) { assumed_equal_.emplace_back(a, b); }
  const std::vector<std::pair<ir::Dim, ir::Dim>>& assumed_equal() const { return assumed_equal_; }

  // Whether a and b surely differ, and whether a is surely greater than b: what a relation refuses.
  // Where variables decide, the answer is no, and the call takes only values of which it is right.
  bool Differ(const ir::Dim& a, const ir::Dim& b);
  bool Exceeds(const ir::Dim& a, const ir::Dim& b);
  // Whether the shapes have different ranks, or extents that surely differ.
  bool Differ(const std::vector<ir::Dim>& a, const std::vector<ir::Dim>& b);
  // Whether `extent` is surely no multiple of `divisor`, which is positive.
  bool HasRest(const ir::Dim& extent, std::int64_t divisor);
  // What those answers depend on.
  const std::vector<ExtentCondition>& conditions() const { return conditions_; }
  // Takes over what a call of which this one consists assumes and depends on.
  void AddNeedsOf(const TypeCall& part);

  // Throws InvalidArgument: "op: rule", with the input types as a note.
  [[noreturn]] void Refuse(const std::string& rule) const;

 private:
  std::size_t Checked(std::size_t i) const;

  std::string op_;
  const attrs::Attrs& attrs_;
  std::vector<ir::Type> inputs_;
  ir::Type result_;
  std::vector<ir::Type> learned_inputs_;
  ir::Type learned_result_;
  std::vector<std::pair<ir::Dim, ir::Dim>> assumed_equal_;
  std::vector<ExtentCondition> conditions_;
};

using TypeRelation = std::function<void(TypeCall& call)>;

// What both types say together: unknown parts of one are filled from the other. Throws
// InvalidArgument when they contradict each other.
ir::Type Unify(const ir::Type& a, const ir::Type& b);

// --- relations and rules that operators share

// One input. The result has its type, and the input has the result's.
void Identity(TypeCall& call);
// As Identity, but the result is bool.
void IdentityToBool(TypeCall& call);
// Two inputs of one element type whose shapes broadcast together (NumPy's rule).
void Broadcast(TypeCall& call);
// The same with a bool result.
void BroadcastToBool(TypeCall& call);

// The extent that two broadcast extents give; nothing when they cannot be broadcast.
std::optional<ir::Dim> BroadcastDim(const ir::Dim& a, const ir::Dim& b);
// Of two extents that may differ for some values of their variables, the greater one is it; the
// call then assumes that they are equal.
std::vector<ir::Dim> BroadcastShapes(TypeCall& call, const std::vector<ir::Dim>& a,
                                     const std::vector<ir::Dim>& b);
// `axis` counted from 0. Refuses one outside [-rank, rank).
int NormalizeAxis(const TypeCall& call, std::int64_t axis, std::size_t rank,
                  const char* attribute = "axis");
// All axes, normalised, in the given order. Refuses one that occurs twice.
std::vector<int> NormalizeAxes(const TypeCall& call, const std::vector<std::int64_t>& axes,
                               std::size_t rank, const char* attribute = "axis");
// Refuses indices that are not integers.
void RequireIntegers(const TypeCall& call, const ir::TensorTypeNode& indices);
// Refuses to take elements by index along an axis without elements, unless `result` has none
// either. Extents that are "?" pass. `axis` names the axis in the message.
void RequireElements(TypeCall& call, const ir::Dim& extent, std::string_view axis,
                     const std::vector<ir::Dim>& result);
// How many elements `count` of them span that are `step` apart. An expression must be at least 1
// then: nothing spans nothing.
ir::Dim SpanOf(TypeCall& call, const ir::Dim& count, std::int64_t step);
// Refuses data that is not a batch of images, and regions that are not rows of batch index, x1, y1,
// x2 and y2 of the data's type.
void RequireRegions(TypeCall& call, const ir::TensorTypeNode& data,
                    const ir::TensorTypeNode& regions);
// Whether signed and unsigned bytes are summed in int32, for which CPUs have instructions.
bool AreBytesIntoInt32(DataType a, DataType b, DataType out);
// The product of the extents; unknown when one of them is.
ir::Dim Product(const std::vector<ir::Dim>& dims);

}  // namespace tenon::ops

#endif  // TENON_OPS_TYPE_RELATION_H_
