#include "tenon/strategies/choice/table.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "tenon/ir/flatten.h"
#include "tenon/ops/registry.h"
#include "tenon/strategies/lower/build_from_te.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {
namespace {

constexpr const char* kTe = "te";
constexpr const char* kTeAsked = "generated code is asked for";
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

std::string OtherDefault(const MeasuredChoice& measured, const std::string& now,
                         const Config& config) {
  const auto text = [](const std::string& row, const ConfigValues& values) {
    return StrCat(row, values.empty() ? "" : " ", strategies::ToText(values));
  };
  return StrCat("it was measured against ", text(measured.over, measured.over_config),
                ", and the default is now ", text(now, config.Values()));
}

}  // namespace

Table::Table(const Group& group, const StrategyOptions& options, const CompositeMaker* maker)
    : group_(group), lowering_(LoweringOf(group)) {
  lowering_.config = &config_;
  const bool te_only = options.library == LibraryChoice::kTe || options.lowering.generic;
  if (maker != nullptr && maker->row) AddImplementation(*maker->row, te_only);
  const ir::CallNode* anchor = group.Anchor();
  if (const auto* strategy = anchor == nullptr ? nullptr : ops::OpOf(*anchor)->Column<Strategy>()) {
    for (const Implementation& implementation : strategy->implementations)
      AddImplementation(implementation, te_only);
  }
  AddForms(anchor, options.winograd && group.library != LibraryChoice::kLibrary);
}

void Table::Measure(const MeasuredChoice& measured) {
  const auto row = std::ranges::find(rows_, measured.row, &Candidate::name);
  if (row == rows_.end()) {
    LeaveAside(measured, "there is no such row");
  } else if (row->refusal) {
    LeaveAside(measured, *row->refusal);
  } else {
    measured_ = measured;
  }
}

Choice Table::Choose() {
  while (const std::optional<std::size_t> usual = BestOf(rows_)) {
    if (const std::optional<std::size_t> measured = MeasuredOver(*usual)) {
      if (std::optional<Choice> choice = TakeMeasured(*measured, *usual)) return *std::move(choice);
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
  throw Unimplemented(StrCat("no implementation can make the kernel ", group_.name, ": ", reason_))
      .AddNote(ToText(rows_, std::nullopt));
}

Choice Table::Taken(Built built, std::size_t row) const {
  return {.built = std::move(built),
          .implementation = rows_[row].name,
          .remark = remark_,
          .candidates = rows_,
          .chosen = row,
          .config = config_};
}

std::optional<Choice> Table::TakeMeasured(std::size_t row, std::size_t usual) {
  const MeasuredChoice measured = *std::exchange(measured_, std::nullopt);
  std::optional<std::string> refusal;
  try {
    refusal = RefuseDefault(measured, usual);
    if (!refusal) {
      config_ = Config(measured.config);
      BuildResult result = builders_[row](group_);
      if (const auto* built = std::get_if<Built>(&result)) {
        config_.RequireAllAsked();
        rows_[row].measured = measured.config.empty() ? measured.evidence
                                                      : StrCat(measured.evidence, "; ",
                                                               strategies::ToText(measured.config));
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

void Table::LeaveAside(const MeasuredChoice& measured, const std::string& why) {
  StrAppend(&remark_, "  measured choice ", measured.row, measured.config.empty() ? "" : " ",
            strategies::ToText(measured.config), ": left aside, ", why, "\n");
}

std::optional<std::size_t> Table::MeasuredOver(std::size_t usual) const {
  if (!measured_ || (!measured_->over.empty() && measured_->over != rows_[usual].name))
    return std::nullopt;
  const auto row = std::ranges::find(rows_, measured_->row, &Candidate::name);
  return static_cast<std::size_t>(row - rows_.begin());
}

std::optional<std::string> Table::RefuseDefault(const MeasuredChoice& measured, std::size_t usual) {
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

void Table::Add(Candidate row, Build build) {
  const auto place = std::find_if(rows_.begin(), rows_.end(), [&](const Candidate& other) {
    return other.priority < row.priority;
  });
  builders_.insert(builders_.begin() + (place - rows_.begin()), std::move(build));
  rows_.insert(place, std::move(row));
}

void Table::AddImplementation(const Implementation& implementation, bool te_only) {
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

std::vector<Candidate> Table::WeighedForms(const ir::CallNode& anchor) const {
  using Rows = std::vector<Candidate>;
  const auto rows = RefusedIfUnimplemented(
      [&]() -> OrRefused<Rows> { return WeighFormsOf(anchor, *group_.function, lowering_); });
  return std::holds_alternative<Rows>(rows) ? std::get<Rows>(rows) : Rows();
}

void Table::AddForms(const ir::CallNode* anchor, bool may_round_differently) {
  const auto* compute = anchor == nullptr ? nullptr : ops::OpOf(*anchor)->Column<TeCompute>();
  std::vector<Candidate> forms =
      compute == nullptr ? std::vector<Candidate>() : WeighedForms(*anchor);
  if (forms.empty())
    Add({.name = kTe}, [this](const Group& group) { return BuildFromTe(group, lowering_); });
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
      return BuildFromTe(group, lowering_);
    });
  }
}

}  // namespace tenon::strategies
