#include "tenon/ops/author_code.h"

#include <new>

#include <dlfcn.h>

#include "tenon/ops/registry.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon_headers_stamp.h"

namespace tenon::ops {

std::string AuthorSite::ToString() const {
  return StrCat(name, ", registered at ", where.file_name(), ":", where.line());
}

std::string AtSite(const AuthorSite& site, std::string_view message) {
  return StrCat(site.name, " (", site.where.file_name(), ":", site.where.line(), "): ", message);
}

void Refuse(const AuthorSite& site, std::string_view message) {
  OpRegistry::Global().AddStartupError(AtSite(site, message));
}

namespace {

// What is registered points to code of the library that registers it, which dlclose would take
// away. The name of the source file lies in that library.
void KeepLoaded(const AuthorSite& site) {
  Dl_info library;
  if (dladdr(site.where.file_name(), &library) != 0 && library.dli_fname != nullptr)
    (void)dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace

bool Admits(const AuthorSite& site, std::uint64_t headers) {
  if (headers == TENON_HEADERS_STAMP) {
    KeepLoaded(site);
    return true;
  }
  Refuse(site, "it was compiled with other headers of Tenon than this program; build it again");
  return false;
}

void RethrowFor(const AuthorSite& site, std::string_view what) {
  try {
    throw;
  } catch (Error& error) {
    throw error.AddNote(StrCat("in ", what, " of ", site.ToString()));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw InvalidArgument(StrCat(site.name, ": ", what, " threw an exception: ", error.what()))
        .AddNote(site.ToString());
  } catch (...) {
    throw InvalidArgument(
        StrCat(site.name, ": ", what, " threw something that is not a std::exception"))
        .AddNote(site.ToString());
  }
}

}  // namespace tenon::ops
