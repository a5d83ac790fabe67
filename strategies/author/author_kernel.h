// Kernels that authors of operators and of code generators make by their own code.
#ifndef TENON_STRATEGIES_AUTHOR_AUTHOR_KERNEL_H_
#define TENON_STRATEGIES_AUTHOR_AUTHOR_KERNEL_H_

#include <string>

#include "tenon/ops/author_code.h"
#include "tenon/strategies/strategy.h"

namespace tenon::strategies {

// The same kernel. What a finished one throws when it runs names its author and `what`, "a kernel
// of its implementation mine".
Built GuardRuns(const ops::AuthorSite& site, const std::string& what, Built built);

// Runs `build`, an author's code. If it throws Unimplemented, that is a refusal; whatever else it
// throws names the author and `what`.
template <typename Build>
BuildResult BuildByAuthor(const ops::AuthorSite& site, const std::string& what,
                          const Build& build) {
  return RefusedIfUnimplemented([&] { return ops::RunAuthorCode(site, what, build); });
}

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_AUTHOR_AUTHOR_KERNEL_H_
