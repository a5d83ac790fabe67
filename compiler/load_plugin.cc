#include "tenon/compiler/load_plugin.h"

#include <filesystem>

#include <dlfcn.h>

#include "tenon/ops/registry.h"
#include "tenon/strategies/pending_patterns.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

// A program that loaded Tenon as a library of its own, as a language's runtime does, has its
// symbols where plug-ins do not look. Of the program itself nothing comes of this.
void ShowOurSymbols() {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&LoadPlugin), &here) != 0 && here.dli_fname != nullptr)
    (void)dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

}  // namespace

void LoadPlugin(const std::string& path) {
  if (path.empty()) throw InvalidArgument("the path of a plug-in is empty; name a file");
  ShowOurSymbols();
  // The system's folders would be searched for a bare name.
  const std::string file = std::filesystem::absolute(path).string();
  // Plug-ins do not see each other's symbols.
  if (dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr)
    throw NotFound(StrCat("the plug-in ", path, " cannot be loaded: ", dlerror()));
  strategies::FinishPatterns();
  ops::OpRegistry::Global().ThrowStartupErrors();
}

}  // namespace tenon
