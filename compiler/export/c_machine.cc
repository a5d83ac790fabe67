#include "tenon/compiler/export/c_machine.h"

#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "tenon/runtime/program.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

constexpr const char* kTypes = R"(
/* An array, and how many hold it. Nobody counts who holds arrays of the caller and constants. */
typedef struct {
  unsigned char* data;
  int64_t* holders;
  int64_t shape[TENON_MOST_AXES];
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
  int64_t* extents; /* the variables of each call, -1 where one has no value */
  size_t extents_room;
} tenon_machine;
)";

// What programs of numbers do without.
constexpr const char* kForVariables[] = {
    "  int64_t shape[TENON_MOST_AXES];\n",
    "  int64_t* extents; /* the variables of each call, -1 where one has no value */\n",
    "  size_t extents_room;\n", ", {0}"};

// The functions of the machine, by name. What a function calls is above it.
constexpr std::pair<const char*, const char*> kFunctions[] = {{"tenon_take", R"(
/* Room for an array; without data where memory is out. */
static tenon_value tenon_take(size_t bytes) {
  tenon_value made = {NULL, NULL, {0}};
  made.holders = (int64_t*)malloc(bytes + 64 + sizeof(int64_t));
  if (made.holders == NULL) return made;
  *made.holders = 1;
  made.data = (unsigned char*)(((uintptr_t)(made.holders + 1) + 63) & ~(uintptr_t)63);
  return made;
}
)"},
                                                              {"tenon_borrow", R"(
static tenon_value tenon_borrow(const void* data) {
  tenon_value borrowed = {NULL, NULL, {0}};
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
    if (count != 0 && bytes != 0) memcpy(written.data, from->data, (size_t)count * bytes);
  }
  if (at < 0) at += count;
  if (at >= 0 && at < count && bytes != 0) memcpy(written.data + (size_t)at * bytes, element, bytes);
  return written;
}
)"},
                                                              {"tenon_set_extent", R"(
/* Gives a variable a value, or compares it with the one that it has. Gives 0, or 2. */
static int32_t tenon_set_extent(int64_t* extent, int64_t value, int64_t least) {
  if (*extent < 0) *extent = value;
  return *extent != value || value < least ? 2 : 0;
}
)"},
                                                              {"tenon_bytes", R"(
static size_t tenon_bytes(const tenon_value* of, size_t axes, size_t bytes) {
  size_t d;
  for (d = 0; d < axes; ++d) bytes *= (size_t)of->shape[d];
  return bytes;
}
)"},
                                                              {"tenon_cut", R"(
/* The first elements of an array along an axis. They share its memory where they lie together.
   Gives 0, or 1 when memory is out. */
static int32_t tenon_cut(tenon_value* cut, tenon_value* from, bool is_last, size_t axis,
                         size_t axes, int64_t count, size_t bytes) {
  size_t outer = 1, d, whole;
  for (d = 0; d < axis; ++d) outer *= (size_t)from->shape[d];
  for (d = axis + 1; d < axes; ++d) bytes *= (size_t)from->shape[d];
  whole = bytes * (size_t)from->shape[axis];
  bytes *= (size_t)count;
  if (outer == 1 || bytes == whole) {
    *cut = is_last ? tenon_move(from) : tenon_share(from);
  } else {
    *cut = tenon_take(outer * bytes);
    if (cut->data == NULL) return 1;
    memcpy(cut->shape, from->shape, sizeof(cut->shape));
    for (d = 0; d < outer && bytes != 0; ++d)
      memcpy(cut->data + d * bytes, from->data + d * whole, bytes);
  }
  cut->shape[axis] = count;
  return 0;
}
)"},
                                                              {"tenon_count_up", R"(
/* 0, 1, 2, ...; without data where memory is out. */
static tenon_value tenon_count_up(int64_t count) {
  tenon_value made = tenon_take((size_t)count * sizeof(int64_t));
  int64_t i;
  made.shape[0] = count;
  for (i = 0; made.data != NULL && i < count; ++i) ((int64_t*)made.data)[i] = i;
  return made;
}
)"},
                                                              {"tenon_give", R"(
/* A copy for the caller; NULL where memory is out. */
static void* tenon_give(const tenon_value* value, size_t bytes) {
  void* const made = malloc(bytes == 0 ? 1 : bytes);
  if (made != NULL && bytes != 0) memcpy(made, value->data, bytes);
  return made;
}
)"},
                                                              {"tenon_keep_extents", R"(
/* A call that begins has the variables of the one that waits for it; the first has none. Gives 0,
   or 1 when memory is out. */
static int32_t tenon_keep_extents(tenon_machine* machine, size_t count) {
  const size_t begin = machine->depth * count;
  size_t i;
  if (begin + count > machine->extents_room) {
    const size_t room = 2 * (begin + count);
    int64_t* const more = (int64_t*)realloc(machine->extents, room * sizeof(int64_t));
    if (more == NULL) return 1;
    machine->extents = more;
    machine->extents_room = room;
  }
  for (i = begin; i < begin + count; ++i)
    machine->extents[i] = begin == 0 ? -1 : machine->extents[i - count];
  return 0;
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

std::string MachineFor(const std::string& code, std::size_t axes) {
  // Those that functions call stand above them.
  std::vector<std::string> wanted;
  std::string callers = code;
  for (auto function = std::rbegin(kFunctions); function != std::rend(kFunctions); ++function) {
    if (callers.find(StrCat(function->first, "(")) == std::string::npos) continue;
    wanted.emplace_back(function->second);
    callers += function->second;
  }
  std::string made = kTypes;
  for (auto text = wanted.rbegin(); text != wanted.rend(); ++text) made += *text;
  if (axes == 0) {
    for (const char* text : kForVariables) made = absl::StrReplaceAll(made, {{text, ""}});
  } else {
    made = StrCat("\nenum { TENON_MOST_AXES = ", axes, " };\n", made);
  }
  if (code.find("tenon_wait(") != std::string::npos)
    made = StrCat("\nenum { TENON_MOST_CALLS = ", runtime::kMaxCallDepth, " };\n", made);
  return made + "\n";
}

}  // namespace tenon::compiler
