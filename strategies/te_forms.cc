#include "tenon/strategies/te_forms.h"

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {

std::vector<Candidate> WeighForms(const TeCompute& compute, const TeCall& call) {
  std::vector<Candidate> rows;
  for (const TeForm& form : compute.forms) {
    Candidate& row = rows.emplace_back();
    row.name = StrCat("te.", form.name);
    row.priority = form.priority;
    try {
      if (form.refusal) row.refusal = form.refusal(call);
      if (!row.refusal && form.cycles) row.cycles = form.cycles(call);
    } catch (const Error& error) {
      // The form is one for numbers, and extents are variables.
      if (error.code() != absl::StatusCode::kUnimplemented) throw;
      row.refusal = error.message();
    }
  }
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
