// The page that tenon explore writes: HTML with its style, its script and its data inside.
#ifndef TENON_TOOLS_EXPLORE_PAGE_H_
#define TENON_TOOLS_EXPLORE_PAGE_H_

#include <string>

namespace tenon::tools {

// `json`: {"model", "nanoseconds", "repeat", "threads", "decisions", "module", "kernels": [{"name",
// "implementation", "library", "texts": {"graph", "choice", "te", "loops", "llvm", "asm"}}],
// "nodes": [{"name", "kernel", "ns"}]}.
std::string ExplorePage(const std::string& json);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_EXPLORE_PAGE_H_
