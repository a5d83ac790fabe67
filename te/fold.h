// Reductions of several values of different shapes, for instance one that has one element per row
// and one that has elements along the row.
//
// The terms are joined one after the other, by a scan over them (te/scan.h). What joins them need
// not be associative, and the results of the scan's last step are those of the fold. So schedules
// know it as a scan. Computed at a loop of a reader, it keeps only that iteration's values.
//
//   // The greatest score of a row, the sum of exp(score - greatest), and the weighted sum of v.
//   Folded f = Fold({{{n}, lowest, greatest}, {{n}, zero, weight}, {{n, d}, zero, sum}}, terms);
//   Tensor out = Compute({n, d}, [&](Var i, Var j) { return f.results[2](i, j) / f.results[1](i);
//   });
#ifndef TENON_TE_FOLD_H_
#define TENON_TE_FOLD_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tenon/te/tensor.h"

namespace tenon::te {

// What an element reads when a term is joined.
class FoldStep {
 public:
  FoldStep(Var time, const std::vector<Tensor>& before, const std::vector<Tensor>& now)
      : time_(std::move(time)), before_(before), now_(now) {}

  Expr term() const { return Expr(time_) - 1; }  // its number, from 0
  // An element of a value before the term is joined. Throws OutOfRange.
  Expr Before(std::size_t value, std::vector<Expr> indices) const;
  // An element after the term is joined, of a value that comes before this one in the list. Throws
  // OutOfRange.
  Expr Now(std::size_t value, std::vector<Expr> indices) const;

 private:
  Var time_;
  const std::vector<Tensor>& before_;
  const std::vector<Tensor>& now_;
};

struct FoldValue {
  std::vector<Expr> shape;
  std::function<Expr(const std::vector<Var>& indices)> start;  // of no terms
  std::function<Expr(const FoldStep& step, const std::vector<Var>& indices)> join;
};

struct Folded {
  std::vector<Tensor> results;  // one per value
  // What they are made of: the scan, with one output per value, and the start and the step of each
  // value.
  std::vector<Tensor> scan, start, step;
};

// Throws InvalidArgument if there are no values, and what Scan throws, for instance for values that
// have other types when they join than when they start.
Folded Fold(const std::vector<FoldValue>& values, const Expr& terms,
            const std::string& name = "fold");

}  // namespace tenon::te

#endif  // TENON_TE_FOLD_H_
