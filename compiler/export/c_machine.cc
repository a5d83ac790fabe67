#include "tenon/compiler/export/c_machine.h"

#include <utility>

#include "tenon/runtime/program.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

constexpr const char* kTypes = R"(
/* An array, and how many hold it. Nobody counts who holds arrays of the caller and constants. */
typedef struct {
  unsigned char* data;
  int64_t* holders;
} tenon_value;

/* A call that waits for another: where its registers begin, and what it does next. */
typedef struct {
  size_t base;
  int32_t next;
} tenon_waiting;

/* The registers of all calls, of which those from base on are of the one that runs. */
typedef struct {
  tenon_value* registers;
  size_t base, count, room;
  tenon_waiting* waiting;
  size_t depth, waiting_room;
} tenon_machine;
)";

// The functions of the machine, by name.
constexpr std::pair<const char*, const char*> kFunctions[] = {{"tenon_take", R"(
/* Room for an array; without data where memory is out. */
static tenon_value tenon_take(size_t bytes) {
  tenon_value made = {NULL, NULL};
  made.holders = (int64_t*)malloc(bytes + 64 + sizeof(int64_t));
  if (made.holders == NULL) return made;
  *made.holders = 1;
  made.data = (unsigned char*)(((uintptr_t)(made.holders + 1) + 63) & ~(uintptr_t)63);
  return made;
}
)"},
                                                              {"tenon_borrow", R"(
static tenon_value tenon_borrow(const void* data) {
  tenon_value borrowed = {NULL, NULL};
  borrowed.data = (unsigned char*)data;
  return borrowed;
}
)"},
                                                              {"tenon_move", R"(
static tenon_value tenon_move(tenon_value* from) {
  const tenon_value moved = *from;
  from->data = NULL;
  from->holders = NULL;
  return moved;
}
)"},
                                                              {"tenon_share", R"(
static tenon_value tenon_share(const tenon_value* of) {
  if (of->holders != NULL) ++*of->holders;
  return *of;
}
)"},
                                                              {"tenon_let_go", R"(
static void tenon_let_go(tenon_value* value) {
  if (value->holders != NULL && --*value->holders == 0) free(value->holders);
  value->data = NULL;
  value->holders = NULL;
}
)"},
                                                              {"tenon_write", R"(
/* `from` with another element, in place where nobody else holds it. */
static tenon_value tenon_write(tenon_value* from, bool is_last, const unsigned char* element,
                               int64_t at, int64_t count, size_t bytes) {
  tenon_value written;
  if (is_last && from->holders != NULL && *from->holders == 1) {
    written = *from;
    from->data = NULL;
    from->holders = NULL;
  } else {
    written = tenon_take((size_t)count * bytes);
    if (written.data == NULL) return written;
    memcpy(written.data, from->data, (size_t)count * bytes);
  }
  if (at < 0) at += count;
  if (at >= 0 && at < count) memcpy(written.data + (size_t)at * bytes, element, bytes);
  return written;
}
)"},
                                                              {"tenon_enter", R"(
/* Gives a call its registers, which hold nothing yet. Gives 0, or 1 when memory is out. */
static int32_t tenon_enter(tenon_machine* machine, size_t registers) {
  const size_t count = machine->base + registers;
  if (count > machine->room) {
    const size_t room = 2 * count;
    tenon_value* const more =
        (tenon_value*)realloc(machine->registers, room * sizeof(tenon_value));
    if (more == NULL) return 1;
    machine->registers = more;
    machine->room = room;
  }
  for (; machine->count < count; ++machine->count) {
    machine->registers[machine->count].data = NULL;
    machine->registers[machine->count].holders = NULL;
  }
  return 0;
}
)"},
                                                              {"tenon_leave", R"(
/* Lets go of the registers of the call that runs. */
static void tenon_leave(tenon_machine* machine) {
  while (machine->count > machine->base) tenon_let_go(&machine->registers[--machine->count]);
}
)"},
                                                              {"tenon_wait", R"(
/* The call that runs waits for one that it makes. Gives 0, 1 when memory is out, or 4 when too
   many wait. */
static int32_t tenon_wait(tenon_machine* machine, int32_t next) {
  if (machine->depth + 1 >= TENON_MOST_CALLS) return 4;
  if (machine->depth == machine->waiting_room) {
    const size_t room = 2 * machine->waiting_room + 4;
    tenon_waiting* const more =
        (tenon_waiting*)realloc(machine->waiting, room * sizeof(tenon_waiting));
    if (more == NULL) return 1;
    machine->waiting = more;
    machine->waiting_room = room;
  }
  machine->waiting[machine->depth].base = machine->base;
  machine->waiting[machine->depth++].next = next;
  machine->base = machine->count;
  return 0;
}
)"}};

}  // namespace

std::string MachineFor(const std::string& code) {
  const auto calls = [](const std::string& text, const std::string& name) {
    return text.find(name + "(") != std::string::npos;
  };
  // What others call comes first.
  const bool writes = calls(code, "tenon_write");
  std::string made = kTypes;
  for (const auto& [name, text] : kFunctions) {
    const bool is_for_another = (writes && std::string(name) == "tenon_take") ||
                                (calls(code, "tenon_leave") && std::string(name) == "tenon_let_go");
    if (is_for_another || calls(code, name)) made += text;
  }
  if (calls(code, "tenon_wait"))
    made = StrCat("\nenum { TENON_MOST_CALLS = ", runtime::kMaxCallDepth, " };\n", made);
  return made + "\n";
}

}  // namespace tenon::compiler
