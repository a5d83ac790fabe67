// Linking moves sections as wholes. So a function lies where another one of its section lies, plus
// the difference of their offsets.
#include "tenon/jit/object/code_registration.h"

#include <utility>
#include <vector>

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "tenon/jit/object/perf_map.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

using llvm::object::ELF64LEObjectFile;
using llvm::object::ObjectFile;

template <typename T>
T Read(llvm::Expected<T> value) {
  if (!value) Unreachable(StrCat("made objects can be read: ", llvm::toString(value.takeError())));
  return std::move(*value);
}

struct Function {
  std::string name;
  std::uint64_t section, offset, size;
};

std::vector<Function> FunctionsOf(std::string_view object) {
  const auto file = Read(ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), "kernel")));
  const auto* elf = llvm::dyn_cast<ELF64LEObjectFile>(file.get());
  CheckInvariant(elf != nullptr, "made objects are 64-bit ELF files");
  std::vector<Function> functions;
  for (const llvm::object::ELFSymbolRef symbol : elf->symbols()) {
    if (symbol.getELFType() != llvm::ELF::STT_FUNC) continue;
    functions.push_back({Read(symbol.getName()).str(), Read(symbol.getSection())->getIndex(),
                         Read(symbol.getValue()), symbol.getSize()});
  }
  return functions;
}

}  // namespace

std::unique_ptr<GdbEntry> RegisterCode(std::string_view object, const std::string& symbol,
                                       const void* address) {
  const std::vector<Function> functions = FunctionsOf(object);
  const Function* entry = nullptr;
  for (const Function& function : functions) {
    if (function.name == symbol) entry = &function;
  }
  CheckInvariant(entry != nullptr, "an object defines its kernel");
  const std::uint64_t base = reinterpret_cast<std::uint64_t>(address) - entry->offset;
  std::vector<PerfMapEntry> entries;
  for (const Function& function : functions) {
    if (function.section != entry->section) continue;
    entries.push_back({base + function.offset, function.size, function.name});
  }
  AppendToPerfMap(entries);
  return std::make_unique<GdbEntry>(object, entry->section, base);
}

}  // namespace tenon::jit
