#include "tenon/compiler/load_plugin.h"

#include <cstddef>
#include <filesystem>
#include <string_view>

#include <dlfcn.h>
#include <link.h>

#include "tenon/ops/registry.h"
#include "tenon/strategies/author/pending_patterns.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

// A program that loaded Tenon as a library of its own, as a language's runtime does, has its
// symbols where plug-ins do not look. In the program itself this changes nothing.
void ShowOurSymbols() {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&LoadPlugin), &here) != 0 && here.dli_fname != nullptr)
    (void)dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

// Whether one of the names that a library gives or takes is Tenon's. Every library that registers
// something takes one.
bool NamesTenon(void* library) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return true;
  const char* names = nullptr;
  std::size_t bytes = 0;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRSZ) bytes = entry->d_un.d_val;
  }
  return names == nullptr || std::string_view(names, bytes).find("tenon") != std::string_view::npos;
}

}  // namespace

void LoadPlugin(const std::string& path) {
  if (path.empty()) throw InvalidArgument("the path of a plug-in is empty; name a file");
  ShowOurSymbols();
  // The system's folders would be searched for a bare name.
  const std::string file = std::filesystem::absolute(path).string();
  // Plug-ins do not see each other's symbols.
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw NotFound(StrCat("the plug-in ", path, " cannot be loaded: ", dlerror()));
  if (!NamesTenon(library)) {
    dlclose(library);
    throw InvalidArgument(
        StrCat(path,
               " is no plug-in of Tenon: it calls nothing of Tenon's, and a plug-in registers "
               "operators, code generators or conversions when it is loaded, as by "
               "TENON_REGISTER_OP (docs/new-operator.md)"));
  }
  strategies::FinishPatterns();
  ops::OpRegistry::Global().ThrowStartupErrors();
}

}  // namespace tenon
