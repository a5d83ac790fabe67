#include "tenon/strategies/author_rows.h"

#include <algorithm>
#include <utility>

#include "tenon/ops/registry.h"
#include "tenon/strategies/check_compute.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {
namespace {

void Refuse(const OpSite& site, std::string_view message) {
  ops::OpRegistry::Global().AddStartupError(AtSite(site, message));
}

}  // namespace

std::string AtSite(const OpSite& site, std::string_view message) {
  return StrCat(site.name, " (", site.where.file_name(), ":", site.where.line(), "): ", message);
}

void AddForm(const OpSite& site, TeForm form, ops::OpDef* op) {
  const auto* existing = op->Column<TeCompute>();
  if (existing == nullptr) return Refuse(site, "it has no compute that a row could stand beside");
  if (form.name.empty()) return Refuse(site, "a row needs a name");
  if (form.make == nullptr)
    return Refuse(site, StrCat("the row ", form.name, " needs a function that makes it"));
  TeCompute compute = *existing;
  if (compute.forms.empty())
    compute.forms = {
        {.name = "plain", .refusal = nullptr, .make = std::exchange(compute.make, {})}};
  if (std::ranges::find(compute.forms, form.name, &TeForm::name) != compute.forms.end())
    return Refuse(site, StrCat("there is a row ", form.name, " already"));
  const std::string what = StrCat("its row ", form.name);
  TeForm guarded = form;
  if (form.refusal != nullptr)
    guarded.refusal = [site, what, refusal = std::move(form.refusal)](const TeCall& call) {
      return RunAuthorCode(site, what, [&] { return refusal(call); });
    };
  guarded.make = [site, what, make = std::move(form.make)](const TeCall& call) {
    return RunAuthorCode(site, what, [&] {
      std::vector<te::Tensor> results = make(call);
      RequireResults(site.name, call, results);
      return results;
    });
  };
  compute.forms.insert(compute.forms.begin(), std::move(guarded));
  op->SetColumn(std::move(compute));
}

void AddImplementation(const OpSite& site, Implementation implementation, ops::OpDef* op) {
  if (implementation.name.empty()) Refuse(site, "an implementation needs a name");
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
  guarded.build = [site, what, build = std::move(implementation.build)](const Group& group) {
    return RunAuthorCode(site, what, [&] {
      Built built = build(group);
      RequireBuilt(group, built);
      return built;
    });
  };
  Strategy strategy;
  if (const auto* existing = op->Column<Strategy>()) strategy = *existing;
  strategy.implementations.push_back(std::move(guarded));
  op->SetColumn(std::move(strategy));
}

}  // namespace tenon::strategies
