// Why values stay inside kernels or go through memory: one decision per edge between two calls.
//
//   FusionReport report;
//   FuseOps(module, {.report = &report});
//   std::cout << ToText(report);
#ifndef TENON_PASSES_FUSION_FUSION_REPORT_H_
#define TENON_PASSES_FUSION_FUSION_REPORT_H_

#include <string>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::passes {

// What a rule of fusion says where it keeps a value out of a kernel.
struct Refusal {
  std::string reason;
  std::string hint;  // what would change it
};

struct FusionDecision {
  ir::Expr producer, consumer;  // calls, tuples or projections of the module before fusion
  bool fused = false;
  std::string reason;
  std::string hint;  // what would change it; empty when it is fused
};
using FusionReport = std::vector<FusionDecision>;

// "exp", "tuple", "field 1".
std::string NodeName(const ir::Expr& e);
// "exp -> sum: fused, ...", with the lines of the source where they are known.
std::string ToText(const FusionReport& report);
// A list of {"producer", "consumer", "fused", "reason", "hint"}.
std::string ToJson(const FusionReport& report);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FUSION_FUSION_REPORT_H_
