#include "tenon/strategies/strategy.h"

#include <algorithm>
#include <mutex>

#include "tenon/ir/flatten.h"
#include "tenon/ir/visit.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/onednn/strategy.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {
namespace {

// What Composite begins with in functions for oneDNN; the rest of the name says nothing.
constexpr std::string_view kOneDnnComposites = "dnnl.";

Built BuildFromTe(const Group& group, bool by_winograd) {
  LowerFunctionOptions options{
      .target = group.lowering.target, .is_constant = {}, .by_winograd = by_winograd};
  for (const NDArray& constant : group.constants) options.is_constant.push_back(constant.defined());
  const TeFunction function = LowerFunction(*group.function, options);
  Built built;
  std::vector<te::Tensor> args = ParamsReadBy(function.outputs, function.params, &built.arguments);
  for (const PreparedTensor& tensor : function.prepared) {
    args.push_back(tensor.placeholder);
    PreparedConstant& constant = built.prepared.emplace_back();
    const std::vector<te::Tensor> results = {tensor.computed};
    const auto sources = ParamsReadBy(results, function.params, &constant.arguments);
    constant.function = LowerOutputs(
        sources, results, StrCat(group.name, "_prepare", built.prepared.size()), group.lowering);
  }
  built.kernel = LowerOutputs(std::move(args), function.outputs, group.name, group.lowering);
  return built;
}

constexpr const char* kTe = "te";
constexpr const char* kTeByWinograd = "te_winograd";

Implementation FromTe() {
  return {.name = kTe,
          .priority = 0,
          .refusal = [](const Group&) { return std::optional<std::string>(); },
          .build = [](const Group& group) { return BuildFromTe(group, false); }};
}

// Fewer operations than any library's plain sum takes.
Implementation FromTeByWinograd() {
  return {.name = kTeByWinograd,
          .priority = 20,
          .refusal = [](const Group&) { return std::optional<std::string>(); },
          .build = [](const Group& group) { return BuildFromTe(group, true); }};
}

}  // namespace

std::vector<loop::Function> GeneratedFunctions(const Built& built) {
  std::vector<loop::Function> functions;
  if (const auto* function = std::get_if<loop::Function>(&built.kernel))
    functions.push_back(*function);
  for (const std::optional<Side>& side : {built.before, built.behind}) {
    if (side) functions.push_back(side->function);
  }
  return functions;
}

void RequireBuilt(const Group& group, const Built& built) {
  std::vector<DataType> params;
  const auto add = [](const ir::Type& type, std::vector<DataType>* types) {
    for (const ir::Type& tensor : ir::Flatten(type))
      types->push_back(tensor.As<ir::TensorTypeNode>()->dtype);
  };
  for (const ir::Expr& param : group.function->params) add(param.checked_type(), &params);
  std::vector<DataType> buffers;
  for (const int argument : built.arguments) {
    if (argument < 0 || static_cast<std::size_t>(argument) >= params.size())
      throw InvalidArgument(StrCat("Built::arguments names parameter ", argument,
                                   "; the function has ", params.size()));
    buffers.push_back(params[static_cast<std::size_t>(argument)]);
  }
  if (const auto* callable = std::get_if<std::shared_ptr<const jit::Callable>>(&built.kernel)) {
    if (*callable == nullptr) throw InvalidArgument("Built::kernel is a null library kernel");
    return;
  }
  const auto& kernel = std::get<loop::Function>(built.kernel);
  if (kernel.origin.empty() && !kernel.body.stmt())
    throw InvalidArgument("Built::kernel is a function without a body");
  for (const PreparedConstant& constant : built.prepared) {
    if (constant.function.buffers.empty())
      throw InvalidArgument("a prepared constant's function has no buffers");
    buffers.push_back(constant.function.buffers.back()->dtype);
  }
  add(group.function->body.checked_type(), &buffers);
  if (kernel.buffers.size() != buffers.size())
    throw InvalidArgument(StrCat("the kernel ", kernel.name, " has ", kernel.buffers.size(),
                                 " buffers; it is called with ", buffers.size(), ": ",
                                 built.arguments.size(), " of Built::arguments, ",
                                 built.prepared.size(), " of Built::prepared, and the results"));
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (kernel.buffers[i]->dtype != buffers[i])
      throw InvalidArgument(StrCat(
          "buffer ", i, " of the kernel ", kernel.name, " (", kernel.buffers[i]->name, ") holds ",
          kernel.buffers[i]->dtype.ToString(), "; it is called with ", buffers[i].ToString()));
  }
}

const ir::CallNode* Group::Anchor() const {
  const ir::CallNode* anchor = nullptr;
  ir::VisitPostOrder(function->body, [&](const ir::Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    if (call != nullptr && call->op() != nullptr &&
        ops::OpOf(*call)->pattern == ops::OpPattern::kOutEWiseFusable)
      anchor = call;
  });
  if (anchor != nullptr) return anchor;
  const auto* alone = function->body.As<ir::CallNode>();
  const bool has_own = alone != nullptr && alone->op() != nullptr &&
                       ops::OpOf(*alone)->Column<Strategy>() != nullptr;
  return has_own ? alone : nullptr;
}

Choice Choose(const Group& asked, const StrategyOptions& options) {
  Group group = asked;
  group.library = options.library;
  group.keep_nan = options.keep_nan;
  group.lowering = options.lowering;
  std::string explanation;
  const auto composite = group.function->attrs.find("Composite");
  if (composite != group.function->attrs.end() && options.library == LibraryChoice::kAuto) {
    const auto* name = composite->second.As<std::string>();
    if (name != nullptr && name->starts_with(kOneDnnComposites)) {
      group.library = LibraryChoice::kLibrary;
      explanation = StrCat("  composite ", *name, ": oneDNN wherever its condition holds\n");
    }
  }
  std::vector<Implementation> candidates = {FromTe()};
  const ir::CallNode* anchor = group.Anchor();
  const auto* compute = anchor == nullptr ? nullptr : ops::OpOf(*anchor)->Column<TeCompute>();
  if (options.winograd && group.library != LibraryChoice::kLibrary && compute != nullptr &&
      compute->make_by_winograd)
    candidates.push_back(FromTeByWinograd());
  const auto* strategy = anchor == nullptr ? nullptr : ops::OpOf(*anchor)->Column<Strategy>();
  if (strategy != nullptr)
    candidates.insert(candidates.end(), strategy->implementations.begin(),
                      strategy->implementations.end());
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.priority > b.priority; });
  if (options.library == LibraryChoice::kTe)
    std::erase_if(candidates,
                  [](const auto& c) { return c.name != kTe && c.name != kTeByWinograd; });
  std::optional<Choice> choice;
  std::string reason;
  for (const Implementation& candidate : candidates) {
    StrAppend(&explanation, "  ", candidate.name, " (priority ", candidate.priority, "): ");
    if (choice) {
      explanation += "not needed\n";
      continue;
    }
    if (const auto refusal = candidate.refusal(group)) {
      StrAppend(&explanation, "no, ", *refusal, "\n");
      continue;
    }
    try {
      choice = Choice{candidate.build(group), candidate.name, ""};
      explanation += "chosen, the first whose condition holds\n";
    } catch (const Error& error) {
      if (error.code() != absl::StatusCode::kUnimplemented) throw;
      reason = error.message();
      StrAppend(&explanation, "no, ", error.message(), "\n");
    }
  }
  if (!choice)
    throw Unimplemented(StrCat("no implementation can make the kernel ", group.name, ": ", reason))
        .AddNote(explanation);
  choice->explanation = std::move(explanation);
  return *std::move(choice);
}

void RegisterStrategies(ops::OpRegistry& registry) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (registry.Definition("add").Column<TeCompute>() != nullptr) return;
  AttachUnaryComputes(registry);
  AttachBinaryComputes(registry);
  AttachReduceComputes(registry);
  AttachShapeComputes(registry);
  AttachGridSampleComputes(registry);
  AttachImageComputes(registry);
  AttachIndexComputes(registry);
  AttachScanComputes(registry);
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
