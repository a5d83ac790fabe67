// Step 0 of the scan is the start, step t joins term t - 1, and the last step is the result.
#include "tenon/te/fold.h"

#include "tenon/loop/simplify/simplify.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/scan.h"

namespace tenon::te {
namespace {

std::vector<Expr> AtTime(const Expr& time, std::vector<Expr> indices) {
  indices.insert(indices.begin(), time);
  return indices;
}
std::vector<Var> WithoutTime(const std::vector<Var>& axes) {
  return {axes.begin() + 1, axes.end()};
}

Expr Read(const std::vector<Tensor>& values, std::size_t value, const Expr& time,
          std::vector<Expr> indices, std::string_view when) {
  if (value >= values.size())
    throw OutOfRange(StrCat("fold: value ", value, " is read ", when, "; there are ", values.size(),
                            " such values"));
  return values[value][AtTime(time, std::move(indices))];
}

}  // namespace

Expr FoldStep::Before(std::size_t value, std::vector<Expr> indices) const {
  return Read(before_, value, Expr(time_) - 1, std::move(indices), "before the term");
}
Expr FoldStep::Now(std::size_t value, std::vector<Expr> indices) const {
  return Read(now_, value, time_, std::move(indices), "after the term");
}

Folded Fold(const std::vector<FoldValue>& values, const Expr& terms, const std::string& name) {
  if (values.empty()) throw InvalidArgument(StrCat("fold ", name, ": there is no value"));
  const Expr steps = loop::Simplify(terms + 1);
  Folded folded;
  std::vector<Tensor> states;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].start == nullptr || values[i].join == nullptr)
      throw InvalidArgument(StrCat("fold ", name, ": value ", i, " has no function that ",
                                   values[i].start == nullptr ? "starts it" : "joins a term"));
    folded.start.push_back(ComputeTuple(
        AtTime(1, values[i].shape),
        [&](const std::vector<Var>& axes) {
          return std::vector<Expr>{values[i].start(WithoutTime(axes))};
        },
        StrCat(name, ".start", i))[0]);
    states.push_back(Placeholder(AtTime(steps, values[i].shape), folded.start[i].dtype(),
                                 StrCat(name, ".state", i)));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    folded.step.push_back(ComputeTuple(
        AtTime(steps, values[i].shape),
        [&](const std::vector<Var>& axes) {
          return std::vector<Expr>{
              values[i].join(FoldStep(axes[0], states, folded.step), WithoutTime(axes))};
        },
        StrCat(name, ".step", i))[0]);
  }
  folded.scan = Scan(folded.start, folded.step, states, StrCat(name, ".scan"));
  for (std::size_t i = 0; i < values.size(); ++i) {
    folded.results.push_back(ComputeTuple(
        values[i].shape,
        [&](const std::vector<Var>& axes) {
          return std::vector<Expr>{folded.scan[i][AtTime(terms, {axes.begin(), axes.end()})]};
        },
        values.size() == 1 ? name : StrCat(name, ".v", i))[0]);
  }
  return folded;
}

}  // namespace tenon::te
