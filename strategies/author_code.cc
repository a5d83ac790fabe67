#include "tenon/strategies/author_code.h"

#include <new>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {

std::string OpSite::ToString() const {
  return StrCat(name, ", registered at ", where.file_name(), ":", where.line());
}

void RethrowFor(const OpSite& site, std::string_view what) {
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

}  // namespace tenon::strategies
