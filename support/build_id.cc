// The note NT_GNU_BUILD_ID among the loaded segments (elf(5), "Notes"; ld(1), --build-id).
#include "tenon/support/build_id.h"

#include <cstdint>
#include <cstring>
#include <span>

#include <elf.h>
#include <link.h>

namespace tenon {
namespace {

struct Search {
  std::uintptr_t code;
  std::string id;
};

std::span<const ElfW(Phdr)> SegmentsOf(const dl_phdr_info& object) {
  return {object.dlpi_phdr, object.dlpi_phnum};
}

bool Holds(const dl_phdr_info& object, std::uintptr_t code) {
  for (const auto& segment : SegmentsOf(object)) {
    const std::uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && code >= begin && code < begin + segment.p_memsz) return true;
  }
  return false;
}

// The ID among the notes in `bytes`. Names and descriptions fill whole words.
std::string IdAmong(std::span<const char> bytes) {
  constexpr std::string_view kOwner("GNU", 4);
  const auto rounded = [](std::size_t size) { return (size + 3) / 4 * 4; };
  while (bytes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, bytes.data(), sizeof(note));
    bytes = bytes.subspan(sizeof(note));
    const std::size_t name = rounded(note.n_namesz), description = rounded(note.n_descsz);
    if (bytes.size() < name + description) return "";
    if (note.n_type == NT_GNU_BUILD_ID && std::string_view(bytes.data(), note.n_namesz) == kOwner)
      return {bytes.data() + name, note.n_descsz};
    bytes = bytes.subspan(name + description);
  }
  return "";
}

int Visit(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!Holds(*object, search.code)) return 0;
  for (const auto& segment : SegmentsOf(*object)) {
    if (segment.p_type != PT_NOTE || !search.id.empty()) continue;
    const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    search.id = IdAmong({reinterpret_cast<const char*>(begin), segment.p_memsz});
  }
  return 1;
}

}  // namespace

std::string BuildIdOf(const void* code) {
  Search search{reinterpret_cast<std::uintptr_t>(code), ""};
  dl_iterate_phdr(Visit, &search);
  return search.id;
}

}  // namespace tenon
