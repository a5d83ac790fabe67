#include "tenon/jit/object/gdb_interface.h"

#include <cstring>
#include <mutex>

#include "llvm/BinaryFormat/ELF.h"

namespace {
enum Action : std::uint32_t { kNone, kRegister, kUnregister };
}  // namespace

extern "C" {
__attribute__((weak)) jit_descriptor __jit_debug_descriptor = {1, kNone, nullptr, nullptr};

__attribute__((weak, noinline)) void __jit_debug_register_code() {
  // Keeps the compiler from dropping the calls.
  asm volatile("" ::: "memory");
}
}

namespace tenon::jit {
namespace {

// Kernels may die while statics are destroyed, so the lock must need no destruction.
std::mutex& ListLock() {
  static std::mutex lock;
  static_assert(std::is_trivially_destructible_v<std::mutex>);
  return lock;
}

void Announce(Action action, jit_code_entry* entry) {
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_descriptor.relevant_entry = entry;
  __jit_debug_register_code();
  __jit_debug_descriptor.action_flag = kNone;
  __jit_debug_descriptor.relevant_entry = nullptr;
}

}  // namespace

GdbEntry::GdbEntry(std::string_view object, std::uint64_t section, std::uint64_t address)
    : copy_(new char[object.size()]), entry_{nullptr, nullptr, copy_.get(), object.size()} {
  std::memcpy(copy_.get(), object.data(), object.size());
  // The file's header says where the table of sections begins.
  const auto* header = reinterpret_cast<const llvm::ELF::Elf64_Ehdr*>(copy_.get());
  auto* sections = reinterpret_cast<llvm::ELF::Elf64_Shdr*>(copy_.get() + header->e_shoff);
  sections[section].sh_addr = address;
  const std::scoped_lock lock(ListLock());
  entry_.next_entry = __jit_debug_descriptor.first_entry;
  if (entry_.next_entry != nullptr) entry_.next_entry->prev_entry = &entry_;
  __jit_debug_descriptor.first_entry = &entry_;
  Announce(kRegister, &entry_);
}

GdbEntry::~GdbEntry() {
  const std::scoped_lock lock(ListLock());
  if (entry_.prev_entry != nullptr) {
    entry_.prev_entry->next_entry = entry_.next_entry;
  } else {
    __jit_debug_descriptor.first_entry = entry_.next_entry;
  }
  if (entry_.next_entry != nullptr) entry_.next_entry->prev_entry = entry_.prev_entry;
  Announce(kUnregister, &entry_);
}

}  // namespace tenon::jit
