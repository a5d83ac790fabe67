#include "tenon/runtime/origins_text.h"

#include <algorithm>

#include "tenon/support/strings.h"

namespace tenon::runtime {

std::string OriginsText(const std::vector<std::string>& origins) {
  constexpr std::size_t kMaxShown = 8;
  const std::size_t shown = std::min(origins.size(), kMaxShown);
  const std::vector<std::string> first(origins.begin(),
                                       origins.begin() + static_cast<std::ptrdiff_t>(shown));
  const std::size_t rest = origins.size() - shown;
  return StrCat(StrJoin(first, ", "), rest > 0 ? StrCat(" and ", rest, " more") : "");
}

}  // namespace tenon::runtime
