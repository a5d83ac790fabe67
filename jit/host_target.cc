#include "tenon/jit/host_target.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include <unistd.h>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include "tenon/jit/target_facts.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {

Target Target::Host(std::string_view changes) {
  return changes.empty() ? jit::HostTarget() : jit::HostTarget(changes);
}

}  // namespace tenon

namespace tenon::jit {
namespace {

// All features that LLVM knows, and whether the host has them.
const std::map<std::string, bool>& HostFeatures() {
  static const std::map<std::string, bool> kFeatures = [] {
    std::map<std::string, bool> features;
    for (const auto& feature : llvm::sys::getHostCPUFeatures())
      features.emplace(feature.getKey().str(), feature.getValue());
    return features;
  }();
  return kFeatures;
}

// Whether LLVM switches `feature` off together with `base`, or makes no code for it alone.
bool BuildsOn(const std::string& feature, const std::string& base) {
  if (feature == base) return true;
  llvm::StringMap<bool> changes;
  llvm::X86::updateImpliedFeatures(base, /*Enabled=*/false, changes);
  if (changes.count(feature) != 0) return true;
  // Masked moves of 16 bits need vectors of 256 bits, which LLVM 19 does not widen to 512. No CPU
  // has the one without the other.
  return base == "avx512vl" && BuildsOn(feature, "avx512bw");
}

void MeasureVectors(Target* target) {
  // LLVM keeps AVX-512 to 256 bits without evex512, where it knows that feature.
  const bool is_wide = target->Has("evex512") || !HostFeatures().contains("evex512");
  target->vector_bytes = target->Has("avx512f") && is_wide ? 64 : target->Has("avx2") ? 32 : 16;
  target->vector_registers = target->Has("avx512f") ? 32 : 16;
}

// Takes the bytes of the data caches from the kernel, which some virtual machines do not tell.
// CPUID, which sysconf asks, counts the third level of several dies as one. Leaves what is there if
// neither says.
void MeasureCaches(Target* target) {
  if (const long l1 = sysconf(_SC_LEVEL1_DCACHE_SIZE); l1 > 0) target->l1_bytes = l1;
  if (const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE); l2 > 0) target->l2_bytes = l2;
  for (int index = 0;; ++index) {
    const std::string folder = StrCat("/sys/devices/system/cpu/cpu0/cache/index", index, "/");
    int level = 0;
    std::int64_t kibibytes = 0;  // "32K"
    std::string type;
    if (!(std::ifstream(folder + "level") >> level)) return;
    std::ifstream(folder + "size") >> kibibytes;
    std::ifstream(folder + "type") >> type;
    if (type == "Instruction" || kibibytes <= 0) continue;
    if (level == 1) target->l1_bytes = kibibytes << 10;
    if (level == 2) target->l2_bytes = kibibytes << 10;
    if (level == 3) target->l3_bytes = kibibytes << 10;
  }
}

Target DetectHost() {
  Target host{.triple = llvm::sys::getProcessTriple(), .cpu = llvm::sys::getHostCPUName().str()};
  for (const auto& [feature, on] : HostFeatures()) {
    if (on) host.features.insert(feature);
  }
  MeasureVectors(&host);
  MeasureCaches(&host);
  if (const long line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE); line > 0) host.line_bytes = line;
  host.cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return host;
}

[[noreturn]] void RefuseName(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [feature, on] : HostFeatures()) known.push_back(feature);
  Error error = InvalidArgument(StrCat("CPU features: '", name, "' is no feature that LLVM knows"));
  if (std::string hint = DidYouMean("", name, known); !hint.empty()) error.AddNote(std::move(hint));
  throw error;
}

}  // namespace

const Target& HostTarget() {
  static const Target kHost = DetectHost();
  return kHost;
}

Target HostTarget(std::string_view changes) {
  Target target = HostTarget();
  if (changes.empty()) return target;
  std::set<std::string> masked;
  for (const std::string& change : StrSplit(changes, ',')) {
    if (change.find('=') != std::string::npos) {
      SetFact(change, &target);
      continue;
    }
    const std::string name = change.empty() ? "" : change.substr(1);
    if (change.empty() || (change[0] != '+' && change[0] != '-')) {
      throw InvalidArgument(StrCat("CPU features: '", change,
                                   "' is neither a feature with its sign, such as -avx512f, nor a "
                                   "fact, such as cores=8 or l2=512K"));
    }
    if (!HostFeatures().contains(name)) RefuseName(name);
    if (change[0] == '-') {
      masked.insert(name);
    } else if (HostTarget().Has(name)) {
      std::erase_if(masked, [&](const std::string& base) { return BuildsOn(name, base); });
    } else {
      throw InvalidArgument(StrCat("CPU features: this machine does not enable ", name));
    }
  }
  for (const std::string& base : masked) target = Without(std::move(target), base);
  // Of the calling convention.
  for (const char* needed : {"64bit", "sse2"}) {
    if (HostTarget().Has(needed) && !target.Has(needed))
      throw InvalidArgument(StrCat("CPU features: ", changes, " takes ", needed,
                                   ", without which no code can be made for ",
                                   HostTarget().triple));
  }
  return target;
}

Target Without(Target target, const std::string& feature) {
  std::erase_if(target.features, [&](const std::string& name) { return BuildsOn(name, feature); });
  MeasureVectors(&target);
  return target;
}

std::string LlvmFeatures(const Target& target) {
  return StrJoin(HostFeatures(), ",", [&](std::string* text, const auto& feature) {
    StrAppend(text, target.Has(feature.first) ? "+" : "-", feature.first);
  });
}

}  // namespace tenon::jit
