#include "tenon/strategies/author/author_rows.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "tenon/ops/registry.h"
#include "tenon/strategies/author/author_kernel.h"
#include "tenon/strategies/author/check_compute.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {
namespace {

using ops::AuthorSite;
using ops::Refuse;
using ops::RunAuthorCode;

// The only way to compute an operator as a form.
TeCompute WithForms(TeCompute compute) {
  if (compute.forms.empty())
    compute.forms = {{.name = "plain", .make = std::exchange(compute.make, {})}};
  return compute;
}

ScheduleFunction Guarded(const AuthorSite& site, const std::string& what,
                         ScheduleFunction function) {
  if (function == nullptr) return nullptr;
  return [site, what, function = std::move(function)](const OpSchedule& schedule) {
    RunAuthorCode(site, what, [&] { function(schedule); });
  };
}

template <typename Weighed>
std::function<double(const Weighed&)> GuardedEstimate(
    const AuthorSite& site, const std::string& what, std::function<double(const Weighed&)> cycles) {
  if (cycles == nullptr) return nullptr;
  return [site, what, cycles = std::move(cycles)](const Weighed& weighed) {
    return RunAuthorCode(site, what, [&] {
      const double estimate = cycles(weighed);
      if (!(estimate >= 0))
        throw InvalidArgument(
            StrCat(site.name, ": the estimate is ", estimate, " cycles; it must be at least 0"));
      return estimate;
    });
  };
}

// Explanations and records name a row and its choices, with blanks between.
bool IsName(std::string_view name) {
  return !name.empty() && std::ranges::none_of(name, [](unsigned char c) {
    return std::isspace(c) != 0 || std::iscntrl(c) != 0 || c == '=';
  });
}

}  // namespace

void AddForm(const AuthorSite& site, TeForm form, ops::OpDef* op) {
  const auto* existing = op->Column<TeCompute>();
  if (existing == nullptr) return Refuse(site, "it has no compute that a row could stand beside");
  if (form.name.empty()) return Refuse(site, "a row needs a name");
  if (!IsName(form.name))
    return Refuse(site,
                  StrCat("the row '", form.name, "' needs a name without blanks and equals signs"));
  if (form.make == nullptr)
    return Refuse(site, StrCat("the row ", form.name, " needs a function that makes it"));
  TeCompute compute = WithForms(*existing);
  if (std::ranges::find(compute.forms, form.name, &TeForm::name) != compute.forms.end())
    return Refuse(site, StrCat("there is a row ", form.name, " already"));
  const std::string what = StrCat("its row ", form.name);
  TeForm guarded = form;
  if (form.refusal != nullptr)
    guarded.refusal = [site, what, refusal = std::move(form.refusal)](const TeCall& call) {
      return RunAuthorCode(site, what, [&] { return refusal(call); });
    };
  guarded.cycles = GuardedEstimate<TeCall>(site, what, std::move(form.cycles));
  guarded.make = [site, what, make = std::move(form.make)](const TeCall& call) {
    return RunAuthorCode(site, what, [&] {
      std::vector<te::Tensor> results = make(call);
      RequireResults(site.name, call, results);
      RequireInputsAlone(site.name, call, results);
      return results;
    });
  };
  guarded.schedule = Guarded(site, StrCat("the schedule of ", what), std::move(form.schedule));
  compute.forms.insert(compute.forms.begin(), std::move(guarded));
  op->SetColumn(std::move(compute));
}

void AddSchedule(const AuthorSite& site, ScheduleFunction schedule, ops::OpDef* op) {
  const auto* existing = op->Column<TeCompute>();
  if (existing == nullptr)
    return Refuse(site, "it has no compute to schedule; call .Schedule after .Compute");
  if (schedule == nullptr) return Refuse(site, "its schedule is no function");
  TeCompute compute = WithForms(*existing);
  TeForm& own = compute.forms.back();
  if (own.schedule != nullptr)
    return Refuse(site, "it has two schedules; give further ones with rows (.Form)");
  own.schedule = Guarded(site, "its schedule", std::move(schedule));
  op->SetColumn(std::move(compute));
}

void AddImplementation(const AuthorSite& site, Implementation implementation, ops::OpDef* op) {
  if (implementation.name.empty()) return Refuse(site, "an implementation needs a name");
  if (!IsName(implementation.name))
    return Refuse(site, StrCat("the implementation '", implementation.name,
                               "' needs a name without blanks and equals signs"));
  if (implementation.build == nullptr)
    return Refuse(
        site, StrCat("the implementation ", implementation.name, " needs a function that builds"));
  const std::string what = StrCat("its implementation ", implementation.name);
  Implementation guarded = implementation;
  guarded.refusal = [site, what, refusal = std::move(implementation.refusal)](
                        const Group& group) -> std::optional<std::string> {
    if (refusal == nullptr) return std::nullopt;
    return RunAuthorCode(site, what, [&] { return refusal(group); });
  };
  guarded.cycles = GuardedEstimate<Group>(site, what, std::move(implementation.cycles));
  guarded.build = [site, what, build = std::move(implementation.build)](const Group& group) {
    return BuildByAuthor(site, what, [&]() -> BuildResult {
      BuildResult result = build(group);
      auto* built = std::get_if<Built>(&result);
      if (built == nullptr) return result;
      RequireBuilt(group, *built);
      return GuardRuns(site, StrCat("a kernel of ", what), std::move(*built));
    });
  };
  Strategy strategy;
  if (const auto* existing = op->Column<Strategy>()) strategy = *existing;
  strategy.implementations.push_back(std::move(guarded));
  op->SetColumn(std::move(strategy));
}

}  // namespace tenon::strategies
