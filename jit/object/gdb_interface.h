// The list of made code that gdb reads in a process that it debugs ("JIT Compilation Interface" in
// gdb's manual, which fixes names and layouts). Only files inside jit/ and their tests include this
// header.
//
// The symbols are hidden, so that each JIT in a process keeps a list, and a lock, of its own; gdb
// reads them all from version 11 on. They are weak, so that a program may hold another JIT's.
#ifndef TENON_JIT_OBJECT_GDB_INTERFACE_H_
#define TENON_JIT_OBJECT_GDB_INTERFACE_H_

#include <cstdint>
#include <memory>
#include <string_view>

extern "C" {

struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;  // an object file in memory
  std::uint64_t symfile_size;
};

struct jit_descriptor {
  std::uint32_t version;
  std::uint32_t action_flag;  // what happened last: 1 registered, 2 unregistered
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};

extern jit_descriptor __jit_debug_descriptor __attribute__((visibility("hidden")));
// gdb stops here after each change of the list.
void __jit_debug_register_code() __attribute__((visibility("hidden")));
}

namespace tenon::jit {

// An entry of the list for as long as it lives.
class GdbEntry {
 public:
  // An ELF object for 64 bits whose section number `section` lies at `address`; the bytes are
  // copied.
  GdbEntry(std::string_view object, std::uint64_t section, std::uint64_t address);
  ~GdbEntry();
  GdbEntry(const GdbEntry&) = delete;
  GdbEntry& operator=(const GdbEntry&) = delete;

 private:
  std::unique_ptr<char[]> copy_;
  jit_code_entry entry_;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_OBJECT_GDB_INTERFACE_H_
