// Rows that authors of operators and of plug-ins add to an operator's tables.
//
// Whatever a row's functions throw names the operator and where the row was registered. What they
// make is checked before it is used. A row that cannot be used is an error of the registration
// (OpRegistry::AddStartupError) and is left out.
//
//   AddForm(site, {.name = "dense.of_few", .refusal = ..., .make = ...}, &op);
#ifndef TENON_STRATEGIES_AUTHOR_AUTHOR_ROWS_H_
#define TENON_STRATEGIES_AUTHOR_AUTHOR_ROWS_H_

#include "tenon/ops/author_code.h"
#include "tenon/ops/op.h"
#include "tenon/strategies/strategy.h"
#include "tenon/strategies/te_compute.h"

namespace tenon::strategies {

// Adds `form` before the forms that `op` has. If the operator had a single compute, that becomes a
// form, too, which suits all calls.
void AddForm(const ops::AuthorSite& site, TeForm form, ops::OpDef* op);
// Sets the schedule of the operator's own compute, which is its last form.
void AddSchedule(const ops::AuthorSite& site, ScheduleFunction schedule, ops::OpDef* op);
void AddImplementation(const ops::AuthorSite& site, Implementation implementation, ops::OpDef* op);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_AUTHOR_AUTHOR_ROWS_H_
