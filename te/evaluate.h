// Evaluates expressions for a block of elements at a time. Only files inside te/ and verify/
// include this header.
//
// An expression evaluates to one column of values, so the cost of walking it is shared by the
// block's elements. Integers are computed in int64 and wrapped to their type, floats in double and
// rounded to theirs.
#ifndef TENON_TE_EVALUATE_H_
#define TENON_TE_EVALUATE_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tenon/loop/expr.h"
#include "tenon/support/ndarray.h"

namespace tenon::te {

struct Column {
  bool is_float = false;
  std::vector<double> f;
  std::vector<std::int64_t> i;
  std::size_t size() const { return is_float ? f.size() : i.size(); }
};
Column MakeColumn(DataType type, std::size_t size);

// Elements [first, first + values.size()) of `array`.
void WriteColumn(const NDArray& array, std::int64_t first, const Column& values);

using Arrays = std::unordered_map<const loop::BufferNode*, NDArray>;
using Extents = std::unordered_map<loop::Expr, std::int64_t, loop::ExprHash, loop::ExprSame>;
using Columns = std::unordered_map<const loop::ExprNode*, Column>;

class Evaluator {
 public:
  // Both must outlive it. Arithmetic takes denormals for zero where that of this thread does, as in
  // kernels; what is only moved keeps its bits.
  Evaluator(const Arrays& arrays, const Extents& extents);

  // Starts a block of `size` elements. Restart forgets what was computed and gives variables their
  // values.
  void Start(std::size_t size);
  void Restart(Columns bound);
  const Column& Evaluate(const loop::Expr& expr);

 private:
  Column Constant(DataType type, double f, std::int64_t i) const;
  Column Compute(const loop::Expr& expr);
  const Column& Operand(const loop::Expr& expr, Column* flushed);
  Column ComputeCast(DataType to, const Column& value, DataType from) const;
  Column ComputeBinary(const loop::BinaryNode& n);
  Column ComputeSelect(const loop::SelectNode& n);
  Column Guarded(const loop::Expr& e, const Column& condition, bool wanted);
  Column ComputeLoad(const loop::LoadNode& n);
  Column ComputeCall(const loop::CallNode& n);
  Column ComputeReinterpret(DataType to, const Column& value, DataType from) const;
  Column ComputeExternCall(const loop::ExternCallNode& n);

  const Arrays& arrays_;
  const Extents& extents_;
  const bool flushes_denormals_;
  std::size_t size_ = 0;
  std::vector<Columns> scopes_;
  std::vector<bool> active_;  // empty: all
};

}  // namespace tenon::te

#endif  // TENON_TE_EVALUATE_H_
