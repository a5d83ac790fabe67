#include "tenon/ops/author_code.h"

#include <new>

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

bool HasOurHeaders(const AuthorSite& site, std::uint64_t headers) {
  if (headers == TENON_HEADERS_STAMP) return true;
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
