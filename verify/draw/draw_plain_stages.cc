// Stages that compute each element by itself, and those that other files make.
#include "tenon/support/strings.h"
#include "tenon/verify/draw/graph_stages.h"
#include "tenon/verify/draw/random_patterns.h"

namespace tenon::verify {

using loop::Expr;
using loop::Var;
using te::Tensor;

namespace {

constexpr double kMaxFactor = 4;  // for the magnitudes that patterns read

// Makes a stage with the type and shape that a pattern reads.
Operand MakeOperandOf(GraphDraft& draft, DataType type, const std::vector<std::int64_t>& sizes,
                      bool special) {
  std::vector<Extent> shape;
  for (const std::int64_t size : sizes) shape.push_back({Expr(size), size});
  Term term;
  const Tensor made = te::ComputeTuple(
      ExprsOf(shape),
      [&](const std::vector<Var>& vars) {
        term = draft.RandomTerm(type, Axes(vars, shape), static_cast<int>(draft.random().Below(2)));
        if (type.is_float()) term = Within(term, kMaxFactor);
        if (!special) term = Finite(term);
        return std::vector<Expr>{term.value};
      },
      draft.Name())[0];
  draft.Remember({made}, shape, {term});
  return {made, term.bound, term.grain, term.error, term.may_be_special};
}

}  // namespace

void AddPattern(GraphDraft& draft) {
  const Pattern pattern = RandomPattern(
      draft.random(),
      [&](DataType type, const std::vector<std::int64_t>& shape, bool special) {
        return MakeOperandOf(draft, type, shape, special);
      },
      StrCat("P", draft.known().size()));
  std::vector<Extent> shape;
  for (const std::int64_t size : pattern.shape) shape.push_back({Expr(size), size});
  std::vector<Term> terms = {pattern.term};
  FixIntegers(&terms);
  draft.Remember({pattern.tensor}, shape, terms);
}

void AddExtern(GraphDraft& draft) {
  const Known source = draft.random().Of(draft.known());
  const int outputs = draft.random().Chance(30) ? 2 : 1;
  const Term term{loop::Constant(source.tensor.dtype(), 0), source.bound, source.grain,
                  source.error, source.may_be_special};
  draft.Remember(ReorderedByC(source.tensor, outputs, draft.Name()), source.shape,
                 std::vector<Term>(static_cast<std::size_t>(outputs), term));
}

void AddElementwise(GraphDraft& draft) {
  const std::vector<Extent> shape = draft.RandomShape(kMaxElements);
  const std::int64_t outputs = draft.random().Chance(10) ? 2 : 1;
  std::vector<Term> terms;
  const std::vector<Tensor> made = te::ComputeTuple(
      ExprsOf(shape),
      [&](const std::vector<Var>& vars) {
        std::vector<Expr> body;
        for (std::int64_t i = 0; i < outputs; ++i) {
          terms.push_back(draft.RandomTerm(draft.random().Of(Types()), Axes(vars, shape),
                                           static_cast<int>(1 + draft.random().Below(3))));
          body.push_back(terms.back().value);
        }
        return body;
      },
      draft.Name());
  draft.Remember(made, shape, terms);
}

}  // namespace tenon::verify
