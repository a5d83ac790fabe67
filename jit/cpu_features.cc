#include "tenon/jit/cpu_features.h"

#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

// Whether LLVM switches `feature` off together with `base`.
bool BuildsOn(const std::string& feature, const std::string& base) {
  if (feature == base) return true;
  llvm::StringMap<bool> changes;
  llvm::X86::updateImpliedFeatures(base, /*Enabled=*/false, changes);
  return changes.count(feature) != 0;
}

}  // namespace

const CpuFeatures& CpuFeatures::Host() {
  static const CpuFeatures kHost = [] {
    CpuFeatures host;
    host.cpu_name_ = llvm::sys::getHostCPUName().str();
    for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
      host.host_[feature.getKey().str()] = feature.getValue();
    }
    host.features_ = host.host_;
    return host;
  }();
  return kHost;
}

void CpuFeatures::Apply(std::string_view changes) {
  if (changes.empty()) return;
  std::set<std::string> masked = masked_;
  for (const std::string& change : StrSplit(changes, ',')) {
    const std::string name = change.empty() ? "" : change.substr(1);
    if (change.empty() || (change[0] != '+' && change[0] != '-')) {
      throw InvalidArgument(
          StrCat("CPU features: '", change, "' must start with + or -, for instance -avx512f"));
    }
    const auto found = host_.find(name);
    if (found == host_.end()) {
      std::vector<std::string> known;
      for (const auto& [feature, on] : host_) known.push_back(feature);
      Error error =
          InvalidArgument(StrCat("CPU features: '", name, "' is no feature that LLVM knows"));
      if (std::string hint = DidYouMean("", name, known); !hint.empty())
        error.AddNote(std::move(hint));
      throw error;
    }
    if (change[0] == '-') {
      masked.insert(name);
    } else if (found->second) {
      std::erase_if(masked, [&](const std::string& base) { return BuildsOn(name, base); });
    } else {
      throw InvalidArgument(StrCat("CPU features: this machine does not enable ", name));
    }
  }
  masked_ = std::move(masked);
  features_ = host_;
  for (const std::string& base : masked_) {
    for (auto& [feature, on] : features_) on = on && !BuildsOn(feature, base);
  }
}

bool CpuFeatures::Has(const std::string& feature) const {
  const auto found = features_.find(feature);
  return found != features_.end() && found->second;
}

std::vector<std::string> CpuFeatures::Enabled() const {
  std::vector<std::string> enabled;
  for (const auto& [feature, on] : features_) {
    if (on) enabled.push_back(feature);
  }
  return enabled;
}

int CpuFeatures::vector_bits() const {
  // LLVM keeps AVX-512 to 256 bits without evex512, where it knows that feature.
  if (Has("avx512f") && (Has("evex512") || !features_.contains("evex512"))) return 512;
  return Has("avx2") ? 256 : 128;
}

// AMD's CPUs with AVX-512; Intel's have one such unit ("Instruction tables", Fog, 2024).
loop::RowLoads CpuFeatures::row_loads() const {
  const bool moves_parts_twice = cpu_name_.starts_with("znver") && vector_bits() == 512;
  return moves_parts_twice ? loop::RowLoads::kWhole : loop::RowLoads::kParts;
}

// Asked for the next row of 1024 floats, Zen 4 takes 1.3 times as long for layer_norm and max, and
// Sapphire Rapids 0.8 times. Zen 5 was not measured.
bool CpuFeatures::fetches_rows() const { return cpu_name_ == "znver4"; }

// VDPBF16PS takes two cycles on Sapphire Rapids, which has matrix instructions for bfloat16: 118
// GFLOP/s where the multiply-add of float32 does 240. Zen 5 does twice as many by it, Zen 4 as
// many.
bool CpuFeatures::has_fast_dots_of_bf16() const {
  return Has("avx512bf16") && cpu_name_.starts_with("znver");
}

std::string CpuFeatures::ToLlvm() const {
  return StrJoin(features_, ",", [](std::string* text, const auto& feature) {
    StrAppend(text, feature.second ? "+" : "-", feature.first);
  });
}

}  // namespace tenon::jit
