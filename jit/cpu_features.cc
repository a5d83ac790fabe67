#include "tenon/jit/cpu_features.h"

#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/TargetParser/Host.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

// Whether `feature` needs `base`: the AVX-512 family needs avx512f, and so on down the line.
bool BuildsOn(std::string_view feature, std::string_view base) {
  const bool is_avx512 = feature.starts_with("avx512") || feature.starts_with("avx10");
  if (base == "avx512f") return is_avx512;
  const bool is_avx2 = is_avx512 || feature == "avx2" || feature.starts_with("avxvnni") ||
                       feature.starts_with("avxifma") || feature.starts_with("avxneconvert");
  if (base == "avx2") return is_avx2;
  const bool is_avx = is_avx2 || feature == "avx" || feature == "fma" || feature == "fma4" ||
                      feature == "f16c" || feature == "xop" || feature == "vaes" ||
                      feature == "vpclmulqdq";
  if (base == "avx") return is_avx;
  return feature == base;
}

}  // namespace

CpuFeatures CpuFeatures::Host() {
  CpuFeatures host;
  host.cpu_name_ = llvm::sys::getHostCPUName().str();
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    host.features_[feature.getKey().str()] = feature.getValue();
  }
  return host;
}

void CpuFeatures::Apply(std::string_view changes) {
  if (changes.empty()) return;
  std::map<std::string, bool> changed = features_;
  for (const std::string& change : StrSplit(changes, ',')) {
    const std::string name = change.empty() ? "" : change.substr(1);
    if (change.empty() || (change[0] != '+' && change[0] != '-')) {
      throw InvalidArgument(
          StrCat("CPU features: '", change, "' must start with + or -, for instance -avx512f"));
    }
    const auto found = changed.find(name);
    if (found == changed.end()) {
      std::vector<std::string> known;
      for (const auto& [feature, on] : features_) known.push_back(feature);
      Error error =
          InvalidArgument(StrCat("CPU features: '", name, "' is no feature that LLVM knows"));
      if (auto nearest = NearestName(name, known))
        error.AddNote(StrCat("did you mean ", *nearest, "?"));
      throw error;
    }
    if (change[0] == '+') {
      if (!features_.at(name)) {
        throw InvalidArgument(StrCat("CPU features: this machine does not enable ", name));
      }
      found->second = true;
      continue;
    }
    for (auto& [feature, on] : changed) {
      if (BuildsOn(feature, name)) on = false;
    }
  }
  features_ = std::move(changed);
}

bool CpuFeatures::Has(const std::string& feature) const {
  const auto found = features_.find(feature);
  return found != features_.end() && found->second;
}

int CpuFeatures::vector_bits() const {
  if (Has("avx512f")) return 512;
  return Has("avx2") ? 256 : 128;
}

std::string CpuFeatures::ToLlvm() const {
  return StrJoin(features_, ",", [](std::string* text, const auto& feature) {
    StrAppend(text, feature.second ? "+" : "-", feature.first);
  });
}

}  // namespace tenon::jit
