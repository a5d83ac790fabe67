// Kernels that authors of operators and of code generators make by their own code.
#ifndef TENON_STRATEGIES_AUTHOR_KERNEL_H_
#define TENON_STRATEGIES_AUTHOR_KERNEL_H_

#include <string>

#include "tenon/ops/author_code.h"
#include "tenon/strategies/strategy.h"

namespace tenon::strategies {

// The same kernel. What a finished one throws when it runs names its author and `what`, "a kernel
// of its implementation mine".
Built GuardRuns(const ops::AuthorSite& site, const std::string& what, Built built);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_AUTHOR_KERNEL_H_
