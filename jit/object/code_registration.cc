// Linking moves sections as wholes. So a function lies where another one of its section lies, plus
// the difference of their offsets. gdb reads names from a copy of the object, which may have more
// of them.
#include "tenon/jit/object/code_registration.h"

#include <algorithm>
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

// Names of nodes are what a file says. They stay on their line.
std::string RemarkOf(std::string_view places) {
  constexpr std::size_t kMaxRemark = 400;
  if (places.empty()) return "";
  std::string remark =
      StrCat(" (", places.substr(0, kMaxRemark), places.size() > kMaxRemark ? "...)" : ")");
  for (char& c : remark) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return remark;
}

// A copy of the object with a second name for each function, which ends in `remark`. gdb finds a
// function by both and shows the second. The tables of symbols and names come after everything
// else, as nothing in the file may move.
std::string WithRemark(std::string_view object, const std::string& remark) {
  using llvm::ELF::Elf64_Shdr, llvm::ELF::Elf64_Sym;
  std::string copy(object);
  const auto* header = reinterpret_cast<const llvm::ELF::Elf64_Ehdr*>(copy.data());
  auto* sections = reinterpret_cast<Elf64_Shdr*>(copy.data() + header->e_shoff);
  Elf64_Shdr& symbols = *std::find_if(sections, sections + header->e_shnum, [](const auto& s) {
    return s.sh_type == llvm::ELF::SHT_SYMTAB;
  });
  Elf64_Shdr& names = sections[symbols.sh_link];
  std::string name_table(copy.data() + names.sh_offset, names.sh_size);
  const auto* first = reinterpret_cast<const Elf64_Sym*>(copy.data() + symbols.sh_offset);
  std::vector<Elf64_Sym> table(first, first + symbols.sh_size / sizeof(Elf64_Sym));
  for (std::size_t i = 0, count = table.size(); i < count; ++i) {
    if (table[i].getType() != llvm::ELF::STT_FUNC) continue;
    Elf64_Sym second = table[i];
    second.setBinding(llvm::ELF::STB_GLOBAL);  // local symbols come first in a table
    const std::string name = name_table.c_str() + second.st_name;
    second.st_name = static_cast<llvm::ELF::Elf64_Word>(name_table.size());
    name_table.append(name).append(remark).push_back('\0');
    table.push_back(second);
  }
  const std::string padding(-copy.size() % alignof(Elf64_Sym), '\0');
  const std::string table_bytes(reinterpret_cast<const char*>(table.data()),
                                table.size() * sizeof(Elf64_Sym));
  symbols.sh_offset = copy.size() + padding.size();
  symbols.sh_size = table_bytes.size();
  names.sh_offset = symbols.sh_offset + symbols.sh_size;
  names.sh_size = name_table.size();
  return StrCat(copy, padding, table_bytes, name_table);
}

}  // namespace

std::unique_ptr<GdbEntry> RegisterCode(std::string_view object, const std::string& symbol,
                                       const void* address, std::string_view places) {
  const std::vector<Function> functions = FunctionsOf(object);
  const auto entry = std::ranges::find(functions, symbol, &Function::name);
  CheckInvariant(entry != functions.end(), "an object defines its kernel");
  const std::uint64_t base = reinterpret_cast<std::uint64_t>(address) - entry->offset;
  const std::string remark = RemarkOf(places);
  std::vector<PerfMapEntry> entries;
  for (const Function& function : functions) {
    if (function.section != entry->section) continue;
    entries.push_back({base + function.offset, function.size, function.name + remark});
  }
  AppendToPerfMap(entries);
  const std::string shown = remark.empty() ? "" : WithRemark(object, remark);
  return std::make_unique<GdbEntry>(remark.empty() ? object : shown, entry->section, base);
}

}  // namespace tenon::jit
