#include "tenon/strategies/strategy.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "tenon/ir/flatten.h"
#include "tenon/ir/visit.h"
#include "tenon/strategies/content.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/onednn/strategy.h"
#include "tenon/strategies/op_schedule.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {
namespace {

constexpr const char* kTe = "te";
constexpr const char* kTeAsked = "generated code is asked for";

LowerFunctionOptions LoweringOf(const Group& group) {
  LowerFunctionOptions options{.target = group.lowering.target,
                               .is_constant = {},
                               .plain_forms = group.lowering.generic,
                               .keeps_order = !group.lowering.reassociate_sums};
  for (const NDArray& constant : group.constants) options.is_constant.push_back(constant.defined());
  return options;
}

Built BuildFromTe(const Group& group, const LowerFunctionOptions& options) {
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
  LoweringOptions lowering = group.lowering;
  lowering.config = options.config;
  lowering.blocks_sums = options.form == nullptr;
  const bool is_by_author = options.form != nullptr && options.form->schedule != nullptr;
  ScheduleMaker maker;
  if (is_by_author)
    maker = [&](const std::vector<te::Tensor>&) { return ScheduleByAuthor(function, options); };
  try {
    built.kernel = LowerOutputs(std::move(args), function.outputs, group.name, lowering, maker);
  } catch (Error& error) {
    if (!is_by_author) throw;
    throw error.AddNote(StrCat("under the author's schedule of ", options.formed->op()->name,
                               ", row ", options.form->name));
  }
  return built;
}

// Empty if the function is not a composite.
std::string CompositeName(const ir::FunctionNode& function) {
  const auto found = function.attrs.find("Composite");
  const auto* name = found == function.attrs.end() ? nullptr : found->second.As<std::string>();
  return name == nullptr ? "" : *name;
}

constexpr const char* kOfNumbers = "its kernels are made for extents that are numbers";

bool HasSymbols(const ir::FunctionNode& function) {
  const auto is_static = [](const ir::Type& type) {
    const std::vector<ir::Type> fields = ir::Flatten(type);
    return std::all_of(fields.begin(), fields.end(), ir::IsStaticTensor);
  };
  return !is_static(function.body.checked_type()) ||
         !std::all_of(function.params.begin(), function.params.end(),
                      [&](const ir::Expr& param) { return is_static(param.checked_type()); });
}

// The rows of the group's table, weighed for it.
class Table {
 public:
  Table(const Group& group, const StrategyOptions& options, const CompositeMaker* maker)
      : group_(group), lowering_(LoweringOf(group)) {
    lowering_.config = &config_;
    const bool te_only = options.library == LibraryChoice::kTe || options.lowering.generic;
    if (maker != nullptr && maker->row) AddImplementation(*maker->row, te_only);
    const ir::CallNode* anchor = group.Anchor();
    if (const auto* strategy =
            anchor == nullptr ? nullptr : ops::OpOf(*anchor)->Column<Strategy>()) {
      for (const Implementation& implementation : strategy->implementations)
        AddImplementation(implementation, te_only);
    }
    AddForms(anchor, options.winograd && group.library != LibraryChoice::kLibrary);
  }

  // Takes the row that was measured to be the best, unless it is refused.
  void Measure(const MeasuredChoice& measured) {
    const auto row = std::ranges::find(rows_, measured.row, &Candidate::name);
    if (row == rows_.end()) {
      LeaveAside(measured, "there is no such row");
    } else if (row->refusal) {
      LeaveAside(measured, *row->refusal);
    } else {
      measured_ = measured;
    }
  }

  // The best row that can be built.
  Choice Choose() {
    while (const std::optional<std::size_t> usual = BestOf(rows_)) {
      if (const std::optional<std::size_t> measured = MeasuredOver(*usual)) {
        if (std::optional<Choice> choice = TakeMeasured(*measured, *usual))
          return *std::move(choice);
        continue;
      }
      config_ = Config();
      BuildResult result = builders_[*usual](group_);
      if (auto* refused = std::get_if<Refused>(&result)) {
        reason_ = std::move(refused->why);
        rows_[*usual].refusal = reason_;
        continue;
      }
      if (measured_) LeaveAside(*measured_, OtherDefault(*measured_, rows_[*usual].name, Config()));
      return Taken(std::get<Built>(std::move(result)), *usual);
    }
    throw Unimplemented(
        StrCat("no implementation can make the kernel ", group_.name, ": ", reason_))
        .AddNote(ToText(rows_, std::nullopt));
  }

 private:
  using Build = std::function<BuildResult(const Group& group)>;

  Choice Taken(Built built, std::size_t row) const {
    return {.built = std::move(built),
            .implementation = rows_[row].name,
            .remark = remark_,
            .candidates = rows_,
            .chosen = row,
            .config = config_};
  }

  // The measured row, or nothing: then the measurement is left aside for good.
  std::optional<Choice> TakeMeasured(std::size_t row, std::size_t usual) {
    const MeasuredChoice measured = *std::exchange(measured_, std::nullopt);
    std::optional<std::string> refusal;
    try {
      refusal = RefuseDefault(measured, usual);
      if (!refusal) {
        config_ = Config(measured.config);
        BuildResult result = builders_[row](group_);
        if (const auto* built = std::get_if<Built>(&result)) {
          config_.RequireAllAsked();
          rows_[row].measured =
              measured.config.empty()
                  ? measured.evidence
                  : StrCat(measured.evidence, "; ", strategies::ToText(measured.config));
          return Taken(*built, row);
        }
        refusal = std::get<Refused>(result).why;
      }
    } catch (const Error& error) {
      // The row no longer has such a choice, or no longer such a value of it.
      refusal = error.message();
    }
    LeaveAside(measured, *refusal);
    return std::nullopt;
  }

  void LeaveAside(const MeasuredChoice& measured, const std::string& why) {
    StrAppend(&remark_, "  measured choice ", measured.row, measured.config.empty() ? "" : " ",
              strategies::ToText(measured.config), ": left aside, ", why, "\n");
  }

  // The measured row, if `usual` is the row that it beat. Rows above that one are built first,
  // since only then is it known whether they can be.
  std::optional<std::size_t> MeasuredOver(std::size_t usual) const {
    if (!measured_ || (!measured_->over.empty() && measured_->over != rows_[usual].name))
      return std::nullopt;
    const auto row = std::ranges::find(rows_, measured_->row, &Candidate::name);
    return static_cast<std::size_t>(row - rows_.begin());
  }

  static std::string OtherDefault(const MeasuredChoice& measured, const std::string& now,
                                  const Config& config) {
    const auto text = [](const std::string& row, const ConfigValues& values) {
      return StrCat(row, values.empty() ? "" : " ", strategies::ToText(values));
    };
    return StrCat("it was measured against ", text(measured.over, measured.over_config),
                  ", and the default is now ", text(now, config.Values()));
  }

  // Why the measured choice says nothing about today's default: it has beaten other values.
  std::optional<std::string> RefuseDefault(const MeasuredChoice& measured, std::size_t usual) {
    if (measured.over_config.empty()) return std::nullopt;
    config_ = Config();
    Group scheduled = group_;
    scheduled.lowering.defer = false;
    const BuildResult result = builders_[usual](scheduled);  // asks for the values
    if (const auto* refused = std::get_if<Refused>(&result)) return refused->why;
    // A choice that the measurement does not know had no other value then.
    if (std::ranges::includes(config_.Values(), measured.over_config)) return std::nullopt;
    return OtherDefault(measured, rows_[usual].name, config_);
  }

  // Adds a row after all rows of higher priority.
  void Add(Candidate row, Build build) {
    const auto place = std::find_if(rows_.begin(), rows_.end(), [&](const Candidate& other) {
      return other.priority < row.priority;
    });
    builders_.insert(builders_.begin() + (place - rows_.begin()), std::move(build));
    rows_.insert(place, std::move(row));
  }

  void AddImplementation(const Implementation& implementation, bool te_only) {
    Candidate row{.name = implementation.name,
                  .priority = implementation.priority,
                  .refusal = te_only                        ? kTeAsked
                             : HasSymbols(*group_.function) ? kOfNumbers
                                                            : implementation.refusal(group_)};
    // A library that is asked for need not be the fastest.
    const bool is_weighed = group_.library != LibraryChoice::kLibrary && !row.refusal;
    if (is_weighed && implementation.cycles != nullptr) row.cycles = implementation.cycles(group_);
    Add(std::move(row), implementation.build);
  }

  // The forms of the anchor, weighed. None if something else in the group has no compute, which
  // building will say.
  std::vector<Candidate> WeighedForms(const ir::CallNode& anchor) const {
    using Rows = std::vector<Candidate>;
    const auto rows = RefusedIfUnimplemented(
        [&]() -> OrRefused<Rows> { return WeighFormsOf(anchor, *group_.function, lowering_); });
    return std::holds_alternative<Rows>(rows) ? std::get<Rows>(rows) : Rows();
  }

  BuildResult FromTe(const Group& group) const {
    return RefusedIfUnimplemented([&]() -> BuildResult { return BuildFromTe(group, lowering_); });
  }

  void AddForms(const ir::CallNode* anchor, bool may_round_differently) {
    const auto* compute = anchor == nullptr ? nullptr : ops::OpOf(*anchor)->Column<TeCompute>();
    std::vector<Candidate> forms =
        compute == nullptr ? std::vector<Candidate>() : WeighedForms(*anchor);
    if (forms.empty()) Add({.name = kTe}, [this](const Group& group) { return FromTe(group); });
    for (std::size_t i = 0; i < forms.size(); ++i) {
      const TeForm& form = compute->forms[i];
      if (lowering_.plain_forms && i + 1 < forms.size() && !forms[i].refusal)
        forms[i] = {.name = forms[i].name,
                    .priority = form.priority,
                    .refusal = "the plain form is asked for"};
      if (form.rounds_differently && !may_round_differently && !forms[i].refusal)
        forms[i] = {.name = forms[i].name,
                    .priority = form.priority,
                    .refusal = "it rounds differently from the plain sum, which is asked for"};
      Add(forms[i], [this, anchor, &form](const Group& group) {
        lowering_.formed = anchor;
        lowering_.form = &form;
        return FromTe(group);
      });
    }
  }

  const Group& group_;
  LowerFunctionOptions lowering_;
  std::vector<Candidate> rows_;
  std::vector<Build> builders_;
  std::optional<MeasuredChoice> measured_;
  Config config_;
  std::string remark_;
  std::string reason_;
};

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
