#include "tenon/strategies/strategy.h"

#include <algorithm>
#include <mutex>

#include "tenon/ir/visit.h"
#include "tenon/strategies/choice/content.h"
#include "tenon/strategies/choice/table.h"
#include "tenon/strategies/onednn/strategy.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {
namespace {

// Empty if the function is not a composite.
std::string CompositeName(const ir::FunctionNode& function) {
  const auto found = function.attrs.find("Composite");
  const auto* name = found == function.attrs.end() ? nullptr : found->second.As<std::string>();
  return name == nullptr ? "" : *name;
}

}  // namespace

const ir::CallNode* Group::Anchor() const {
  const ir::CallNode* anchor = nullptr;
  ir::VisitPostOrder(
      function->body,
      [&](const ir::Expr& e) {
        const auto* call = e.As<ir::CallNode>();
        if (call != nullptr && call->op() != nullptr &&
            ops::OpOf(*call)->pattern == ops::OpPattern::kOutEWiseFusable)
          anchor = call;
      },
      ir::OutsideLiterals(function->body));
  if (anchor != nullptr) return anchor;
  const auto* alone = function->body.As<ir::CallNode>();
  if (alone == nullptr || alone->op() == nullptr) return nullptr;
  const auto* compute = ops::OpOf(*alone)->Column<TeCompute>();
  const bool has_forms = compute != nullptr && !compute->forms.empty();
  return has_forms || ops::OpOf(*alone)->Column<Strategy>() != nullptr ? alone : nullptr;
}

Choice Choose(const Group& asked, const StrategyOptions& options) {
  Group group = asked;
  group.library = options.library;
  group.keep_nan = options.keep_nan;
  group.lowering = options.lowering;
  std::string remark;
  const CompositeMaker* maker = nullptr;
  if (const std::string composite = CompositeName(*group.function); !composite.empty()) {
    const std::string wanted = composite.substr(0, composite.find('.'));
    const auto found = std::ranges::find(options.makers, wanted, &CompositeMaker::name);
    if (found == options.makers.end()) {
      remark = StrCat("  composite ", composite, ": there is no code generator ", wanted, "\n");
    } else {
      maker = &*found;
      if (options.library == LibraryChoice::kAuto) group.library = maker->library;
      remark = StrCat("  composite ", composite, ": ", wanted, " wherever its condition holds\n");
    }
  }
  Table table(group, options, maker);
  if (options.measured != nullptr) {
    if (const auto measured = options.measured(ContentKey(ContentText(group))))
      table.Measure(*measured);
  }
  Choice choice = table.Choose();
  choice.remark = remark + choice.remark;
  return choice;
}

void RegisterStrategies(ops::OpRegistry& registry) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (registry.Definition("add").Column<TeCompute>() != nullptr) return;
  AttachUnaryComputes(registry);
  AttachBinaryComputes(registry);
  AttachReduceComputes(registry);
  AttachShapeComputes(registry);
  AttachJoinComputes(registry);
  AttachGridSampleComputes(registry);
  AttachImageComputes(registry);
  AttachIndexComputes(registry);
  AttachScanComputes(registry);
  AttachRecurrentComputes(registry);
  AttachScatterComputes(registry);
  AttachSearchComputes(registry);
  AttachSortComputes(registry);
  AttachSparseComputes(registry);
  AttachRegionComputes(registry);
  AttachWarpComputes(registry);
  AttachBoxComputes(registry);
  AttachFixedPointComputes(registry);
  AttachFourierComputes(registry);
  AttachCorrelationComputes(registry);
  AttachVisionComputes(registry);
  AttachDetectorComputes(registry);
  AttachDetectionComputes(registry);
  AttachProposalComputes(registry);
  AttachLossComputes(registry);
  AttachConvComputes(registry);
  AttachConvNdComputes(registry);
  AttachConvTransposeComputes(registry);
  AttachBlockedConvComputes(registry);
  AttachLayoutComputes(registry);
  AttachEinsumCompute(registry);
  AttachMatmulComputes(registry);
  AttachPoolComputes(registry);
  AttachNormComputes(registry);
  AttachBatchSpaceComputes(registry);
  onednn::AttachStrategies(registry);
}

}  // namespace tenon::strategies
