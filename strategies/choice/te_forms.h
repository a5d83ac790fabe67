// The choice among the forms of an operator's tensor expression.
//
//   const std::vector<Candidate> rows = WeighForms(compute, call);
#ifndef TENON_STRATEGIES_CHOICE_TE_FORMS_H_
#define TENON_STRATEGIES_CHOICE_TE_FORMS_H_

#include <vector>

#include "tenon/strategies/choice/candidate.h"
#include "tenon/strategies/te_compute.h"

namespace tenon::strategies {

// What becomes of each form, in the order of the table. Names begin with "te.".
std::vector<Candidate> WeighForms(const TeCompute& compute, const TeCall& call);

// What computes a call if nothing else is asked for: its only way, or the best form of those that
// round as the plain sum does.
const TeMake& MakeOf(const TeCompute& compute, const TeCall& call);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_CHOICE_TE_FORMS_H_
