// Operators of users whose patterns are to be inferred or checked, before anything is compiled.
//
// This is not done at registration itself, which may run before main, when what their computes use
// need not be there yet. The functions may be called by several threads.
#ifndef TENON_STRATEGIES_AUTHOR_PENDING_PATTERNS_H_
#define TENON_STRATEGIES_AUTHOR_PENDING_PATTERNS_H_

#include <string>

#include "tenon/ops/author_code.h"
#include "tenon/ops/op.h"

namespace tenon::strategies {

// Call it when `op` has got its compute. Without a pattern it is kOpaque until FinishPatterns.
void AwaitPattern(const ops::AuthorSite& site, Ref<ops::OpDef> op);
// Says that the operator's pattern will be declared. False if it was declared before.
bool DeclarePattern(const ops::OpDef& op);

// Infers what is open from sample calls (infer_pattern.h), and adds an error of the registration
// for each declared pattern that contradicts one. Compile and plug-in loads begin with it.
void FinishPatterns();

// "the pattern kElemWise contradicts the compute: sum is a reduction"
std::string ContradictionText(ops::OpPattern pattern, const std::string& reason);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_AUTHOR_PENDING_PATTERNS_H_
