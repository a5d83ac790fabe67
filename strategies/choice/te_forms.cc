#include "tenon/strategies/choice/te_forms.h"

#include "tenon/strategies/built.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {

namespace {

Candidate Weighed(const TeForm& form, const TeCall& call) {
  Candidate row{.name = StrCat("te.", form.name), .priority = form.priority};
  const auto weighed = RefusedIfUnimplemented([&]() -> OrRefused<std::optional<double>> {
    if (auto refusal = form.refusal ? form.refusal(call) : std::nullopt)
      return Refused{*std::move(refusal)};
    return form.cycles ? std::optional(form.cycles(call)) : std::nullopt;
  });
  if (const auto* refused = std::get_if<Refused>(&weighed)) {
    row.refusal = refused->why;
  } else {
    row.cycles = std::get<std::optional<double>>(weighed);
  }
  return row;
}

}  // namespace

std::vector<Candidate> WeighForms(const TeCompute& compute, const TeCall& call) {
  std::vector<Candidate> rows;
  for (const TeForm& form : compute.forms) rows.push_back(Weighed(form, call));
  return rows;
}

const TeMake& MakeOf(const TeCompute& compute, const TeCall& call) {
  if (compute.forms.empty()) return compute.make;
  std::vector<Candidate> rows = WeighForms(compute, call);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (compute.forms[i].rounds_differently) rows[i].refusal = "it rounds differently";
  }
  const std::optional<std::size_t> best = BestOf(rows);
  CheckInvariant(best.has_value(), "the last form of an operator suits all calls");
  return compute.forms[*best].make;
}

}  // namespace tenon::strategies
