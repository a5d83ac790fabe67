// Tensor expressions: what each element of a tensor is, but not how it is computed.
//
// A Tensor is a value handle to one output of an operation: a placeholder (given) or a compute (an
// expression of its axes, maybe a reduction). Reading a tensor, A(i, j), gives an expression.
// Operations are immutable.
//
//   Var n("n");
//   Tensor A = Placeholder({n}, Float32, "A");
//   Tensor B = Compute({n}, [&](Var i) { return A(i) + 1.0F; }, "B");
#ifndef TENON_TE_TENSOR_H_
#define TENON_TE_TENSOR_H_

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/loop/expr.h"
#include "tenon/te/hint.h"

namespace tenon::te {

using loop::Expr;
using loop::Var;

// An axis of iteration: the range [min, min + extent) of `var`.
struct IterVar {
  Var var;
  Expr min;
  Expr extent;
  bool is_reduce = false;
  bool is_ordered = false;  // the time axis of a scan: steps run one after the other
  // True for a dimension in which a reduction computes where its terms go (Into in te/reduce.h).
  // The loop then only sets initial values.
  bool starts_only = false;
};

// How a reduction joins two (tuples of) values. `lhs` and `rhs` are the variables that `result` is
// written in.
struct Combiner {
  std::string name;
  std::vector<Var> lhs, rhs;
  std::vector<Expr> result;
  std::vector<Expr> identity;
  bool is_sum = false;         // its terms may be added in another order
  bool is_commutative = true;  // b joined with a is a joined with b
  // Values may be joined in any order, and one joined with itself gives itself.
  bool is_order_free = false;
};

// A reduction of `source` over `axes`; the body of a compute, never part of an expression.
struct Reduction {
  Combiner combiner;
  std::vector<Expr> source;
  std::vector<IterVar> axes;
  // As in OperationNode; the functions of te/reduce.h give them.
  std::vector<Expr> initial = {};
  Expr condition = {};
  std::vector<Expr> target = {};
};

class OperationNode;
using Operation = Ref<const OperationNode>;

class Tensor {
 public:
  Tensor() = default;
  Tensor(Operation op, int index) : op_(std::move(op)), index_(index) {}

  const Operation& op() const { return op_; }
  int index() const { return index_; }
  const loop::Buffer& buffer() const;
  const std::vector<Expr>& shape() const { return buffer()->shape; }
  std::size_t ndim() const { return shape().size(); }
  DataType dtype() const { return buffer()->dtype; }
  const std::string& name() const { return buffer()->name; }
  // Axes of the compute; they name loops in a schedule. Throw OutOfRange.
  const IterVar& axis(int i) const;
  const IterVar& reduce_axis(int i) const;

  // The element at the indices. Throws InvalidArgument when their number is not the rank.
  Expr operator[](std::vector<Expr> indices) const;
  template <typename... Indices>
  Expr operator()(const Indices&... indices) const {
    return (*this)[std::vector<Expr>{Expr(indices)...}];
  }
  friend bool operator==(const Tensor& a, const Tensor& b) {
    return a.op_ == b.op_ && a.index_ == b.index_;
  }

 private:
  Operation op_;
  int index_ = 0;
};

enum class OperationKind { kPlaceholder, kCompute, kExtern, kScan };

class OperationNode : public RefCounted {
 public:
  bool is_placeholder() const { return kind == OperationKind::kPlaceholder; }
  bool is_compute() const { return kind == OperationKind::kCompute; }
  bool is_reduction() const { return combiner.has_value(); }

  OperationKind kind = OperationKind::kCompute;
  std::string name;
  Label label;                        // what the author tells schedules
  std::vector<loop::Buffer> outputs;  // of one shape, except for kExtern and kScan
  // A compute has one per dimension, a scan has time alone, and an external operation has none.
  std::vector<IterVar> axes;
  // A compute has one per output, which are the sources if it is a reduction. An external operation
  // has the call.
  std::vector<Expr> body;
  std::optional<Combiner> combiner;
  std::vector<IterVar> reduce_axes;
  // These are set for reductions. `initial` has what the elements start as, one per output (empty:
  // the identity). `condition` says which terms count (undefined: all). `target` is the element
  // that a term goes to, one index per dimension (empty: the axes); a term whose target lies
  // outside goes nowhere.
  std::vector<Expr> initial;
  Expr condition;
  std::vector<Expr> target;
  // All that it computes with: body, initial values, condition and target.
  std::vector<Expr> Expressions() const;
  std::vector<Tensor> inputs;        // of an external operation: what its call may read
  std::vector<Tensor> init, update;  // of a scan (te/scan.h), one per output
  std::vector<Tensor> state;
};

// Throws InvalidArgument for extents that are negative or not int64.
Tensor Placeholder(std::vector<Expr> shape, DataType dtype, std::string name = "placeholder");

using IndexedBody = std::function<std::vector<Expr>(const std::vector<Var>&)>;
using IndexedReduction = std::function<Reduction(const std::vector<Var>&)>;
// The general forms: any rank, several outputs. Errors: InvalidArgument for a body without a value,
// for source types that do not match the combiner, for extents that are negative or not int64, and
// for names of axes that are too many, too few, empty or equal.
std::vector<Tensor> ComputeTuple(std::vector<Expr> shape, const IndexedBody& body,
                                 std::string name = "compute", Label label = {});
std::vector<Tensor> ReduceTuple(std::vector<Expr> shape, const IndexedReduction& body,
                                std::string name = "reduce", Label label = {});

namespace te_internal {

template <typename Body, std::size_t... I>
auto Apply(const Body& body, const std::vector<Var>& axes, std::index_sequence<I...>) {
  return body(axes[I]...);
}
// Calls with the axes as a vector or, for up to eight of them, one by one.
template <std::size_t Rank, typename Body>
auto CallWith(const Body& body, const std::vector<Var>& axes) {
  if constexpr (std::is_invocable_v<Body, const std::vector<Var>&>) {
    return body(axes);
  } else {
    return Apply(body, axes, std::make_index_sequence<Rank>());
  }
}
inline constexpr std::size_t kMaxVars = 8;
// The number of Vars that the body takes, or 0 for one that takes a vector of them. More than
// kMaxVars: it takes neither.
template <typename Body, std::size_t Rank = 0>
constexpr std::size_t ArityOf() {
  if constexpr (Rank > kMaxVars) {
    return Rank;
  } else if constexpr (std::is_invocable_v<Body, const std::vector<Var>&>) {
    return 0;
  } else if constexpr ([]<std::size_t... I>(std::index_sequence<I...>) {
                         return std::is_invocable_v<
                             Body, decltype((void(I), std::declval<const Var&>()))...>;
                       }(std::make_index_sequence<Rank>())) {
    return Rank;
  } else {
    return ArityOf<Body, Rank + 1>();
  }
}
void RequireRank(std::size_t given, std::size_t rank, const std::string& name);

}  // namespace te_internal

// What a body takes: one Var a dimension, at most 8 of them, or a vector of them.
template <typename Body>
concept ElementBody = (te_internal::ArityOf<Body>() <= te_internal::kMaxVars);

// Computes each element with `body`, which takes one Var per dimension (or a vector of them) and
// returns an Expr or a Reduction.
template <ElementBody Body>
Tensor Compute(std::vector<Expr> shape, const Body& body, std::string name = "compute",
               Label label = {}) {
  constexpr std::size_t kArity = te_internal::ArityOf<Body>();
  if constexpr (!std::is_invocable_v<Body, const std::vector<Var>&>) {
    te_internal::RequireRank(kArity, shape.size(), name);
  }
  using Result =
      decltype(te_internal::CallWith<kArity>(body, std::declval<const std::vector<Var>&>()));
  if constexpr (std::is_same_v<Result, Reduction>) {
    return ReduceTuple(
        std::move(shape),
        [&](const std::vector<Var>& axes) { return te_internal::CallWith<kArity>(body, axes); },
        std::move(name), std::move(label))[0];
  } else {
    return ComputeTuple(
        std::move(shape),
        [&](const std::vector<Var>& axes) {
          return std::vector<Expr>{Expr(te_internal::CallWith<kArity>(body, axes))};
        },
        std::move(name), std::move(label))[0];
  }
}

// A dimension whose loop has a name: schedule::Stage::Loop finds it, and texts show it.
struct NamedExtent {
  std::string name;
  Expr extent;
};
// The same with names: Compute(NamedShape{{"y", h}, {"x", w}}, body, "blur").
using NamedShape = std::vector<NamedExtent>;
template <std::same_as<NamedShape> Shape, ElementBody Body>
Tensor Compute(const Shape& shape, const Body& body, std::string name = "compute",
               Label label = {}) {
  std::vector<Expr> extents;
  for (const auto& [axis, extent] : shape) {
    extents.push_back(extent);
    label.axes.push_back(axis);
  }
  return Compute(std::move(extents), body, std::move(name), std::move(label));
}

// Operations that `outputs` are computed from, producers first.
std::vector<Operation> PostOrder(const std::vector<Tensor>& outputs);
// Tensors that an operation reads, in order of first use.
std::vector<Tensor> InputsOf(const OperationNode& op);
// The tensor that a load made by Tensor::operator[] reads.
Tensor TensorOf(const loop::LoadNode& load);
// Readable text of the computation, one line per operation.
std::string Print(const std::vector<Tensor>& outputs);

}  // namespace tenon::te

#endif  // TENON_TE_TENSOR_H_
