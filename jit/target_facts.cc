#include "tenon/jit/target_facts.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

constexpr int kMaxCores = 4096;

struct Size {
  const char* name;
  std::int64_t Target::*bytes;
  std::int64_t least, most;
};
constexpr Size kSizes[] = {{"l1", &Target::l1_bytes, 1 << 10, std::int64_t{1} << 40},
                           {"l2", &Target::l2_bytes, 1 << 10, std::int64_t{1} << 40},
                           {"l3", &Target::l3_bytes, 1 << 10, std::int64_t{1} << 40},
                           {"line", &Target::line_bytes, 16, 1 << 10}};

// "512K" as 524288.
std::optional<std::int64_t> BytesOf(std::string_view text) {
  int shift = 0;
  if (text.ends_with('K')) shift = 10;
  if (text.ends_with('M')) shift = 20;
  if (shift > 0) text.remove_suffix(1);
  const auto number = ParseNumber<std::int64_t>(text);
  if (!number || *number < 0 || *number > (std::int64_t{1} << 40 >> shift)) return std::nullopt;
  return *number << shift;
}

void SetCpu(std::string_view value, Target* target) {
  llvm::SmallVector<llvm::StringRef> cpus;
  llvm::X86::fillValidCPUArchList(cpus, /*Only64Bit=*/true);
  std::vector<std::string> known;
  for (const llvm::StringRef cpu : cpus) known.push_back(cpu.str());
  if (std::find(known.begin(), known.end(), value) == known.end()) {
    Error error = InvalidArgument(StrCat("cpu=", value, ": LLVM knows no such CPU"));
    if (std::string hint = DidYouMean("", std::string(value), known); !hint.empty())
      error.AddNote(std::move(hint));
    throw error;
  }
  target->cpu = value;
}

}  // namespace

void SetFact(std::string_view fact, Target* target) {
  const std::size_t equals = fact.find('=');
  const std::string_view name = fact.substr(0, equals), value = fact.substr(equals + 1);
  if (name == "cpu") return SetCpu(value, target);
  if (name == "cores") {
    const auto cores = ParseNumber<int>(value);
    if (!cores || *cores < 1 || *cores > kMaxCores)
      throw InvalidArgument(StrCat(fact, ": cores are 1 to ", kMaxCores));
    target->cores = *cores;
    return;
  }
  for (const Size& size : kSizes) {
    if (name != size.name) continue;
    const std::optional<std::int64_t> bytes = BytesOf(value);
    if (!bytes || *bytes < size.least || *bytes > size.most)
      throw InvalidArgument(StrCat(fact, ": ", name, " is ", size.least, " to ", size.most,
                                   " bytes; K and M stand for KiB and MiB"));
    if (name == "line" && (*bytes & (*bytes - 1)) != 0)
      throw InvalidArgument(StrCat(fact, ": a cache line is a power of two of bytes"));
    target->*size.bytes = *bytes;
    return;
  }
  throw InvalidArgument(
      StrCat(fact, ": there is no fact ", name, "; known are cpu, cores, l1, l2, l3 and line"));
}

}  // namespace tenon::jit
