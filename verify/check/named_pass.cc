#include "tenon/verify/check/named_pass.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "tenon/ir/visit.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/layout/convert_layout.h"
#include "tenon/passes/partition/annotate_target.h"
#include "tenon/passes/partition/merge_compiler_regions.h"
#include "tenon/passes/partition/partition_graph.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/strings.h"
#include "tenon/verify/draw/random_layout.h"

namespace tenon::verify {
namespace {

using ir::Expr;
using ir::Module;

constexpr std::string_view kConvertTo = "ConvertLayout ";
constexpr std::string_view kPartition = "PartitionGraph ";

passes::Pass ConvertTo(const std::string& name) {
  passes::DesiredLayouts desired;
  passes::AddDesiredLayout(name.substr(kConvertTo.size()), &desired);
  return {name, 0, [desired](const Module& m) {
            return passes::InferType(passes::ConvertLayout(passes::InferType(m), desired));
          }};
}

passes::Pass Partition(const std::string& name) {
  const std::vector<std::string> names = StrSplit(name.substr(kPartition.size()), ',');
  const auto takes = [names](const Expr& call) {
    const std::string& op = call.As<ir::CallNode>()->op()->name;
    return std::find(names.begin(), names.end(), op) != names.end();
  };
  return {name, 0, [takes](const Module& m) {
            return passes::PartitionGraph(passes::MergeCompilerRegions(
                passes::AnnotateTarget(passes::InferType(m), {{"fuzz", takes}})));
          }};
}

}  // namespace

passes::Pass NamedPass(const std::string& name) {
  if (name.starts_with(kConvertTo)) return ConvertTo(name);
  if (name.starts_with(kPartition)) return Partition(name);
  return passes::FindPass(name, strategies::EvaluateCall);
}

std::string RandomConvertLayout(Random& random) { return StrCat(kConvertTo, RandomWish(random)); }

std::string RandomPartition(const Module& module, Random& random) {
  std::set<std::string> names;
  ir::VisitPostOrder(module.Main().body, [&](const Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    if (call != nullptr && call->op() != nullptr && random.Chance(50))
      names.insert(call->op()->name);
  });
  return StrCat(kPartition, StrJoin(names, ","));
}

}  // namespace tenon::verify
