// What a user registered - an operator, a code generator, a converter - and where. Its code runs so
// that whatever it throws names both.
//
//   return RunAuthorCode(site, "its compute", [&] { return make(call); });
#ifndef TENON_OPS_AUTHOR_CODE_H_
#define TENON_OPS_AUTHOR_CODE_H_

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

namespace tenon::ops {

struct AuthorSite {
  std::string name;
  std::source_location where;

  std::string ToString() const;  // "my.swish, registered at swish.cc:12"
};

// "my.swish (swish.cc:12): MESSAGE"
std::string AtSite(const AuthorSite& site, std::string_view message);
// Adds that to the registry's errors of registration.
void Refuse(const AuthorSite& site, std::string_view message);
// Whether the registering code was compiled with the headers of this program; an error if not. The
// library that holds it stays loaded.
bool Admits(const AuthorSite& site, std::uint64_t headers);

// To be called while an exception is handled. An Error gets a note and keeps its code; other
// exceptions become InvalidArgument. Memory that is out stays what it is.
[[noreturn]] void RethrowFor(const AuthorSite& site, std::string_view what);

template <typename Call>
auto RunAuthorCode(const AuthorSite& site, std::string_view what, const Call& call) {
  try {
    return call();
  } catch (...) {
    RethrowFor(site, what);
  }
}

}  // namespace tenon::ops

#endif  // TENON_OPS_AUTHOR_CODE_H_
