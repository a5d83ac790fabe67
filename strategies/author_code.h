// Code of an operator's author - computes, type relations, implementations - run so that whatever
// it throws names the operator and the place where it was registered.
//
//   return RunAuthorCode(site, "its compute", [&] { return make(call); });
#ifndef TENON_STRATEGIES_AUTHOR_CODE_H_
#define TENON_STRATEGIES_AUTHOR_CODE_H_

#include <source_location>
#include <string>
#include <string_view>

namespace tenon::strategies {

struct OpSite {
  std::string name;
  std::source_location where;

  std::string ToString() const;  // "my.swish, registered at swish.cc:12"
};

// To be called while an exception is handled. An Error gets a note and keeps its code; other
// exceptions become InvalidArgument. Memory that is out stays what it is.
[[noreturn]] void RethrowFor(const OpSite& site, std::string_view what);

template <typename Call>
auto RunAuthorCode(const OpSite& site, std::string_view what, const Call& call) {
  try {
    return call();
  } catch (...) {
    RethrowFor(site, what);
  }
}

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_AUTHOR_CODE_H_
