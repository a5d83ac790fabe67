// The rows of a group's table, weighed for it, and the choice among them.
//
//   Table table(group, options, nullptr);
//   Choice choice = table.Choose();
#ifndef TENON_STRATEGIES_CHOICE_TABLE_H_
#define TENON_STRATEGIES_CHOICE_TABLE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tenon/strategies/choice/candidate.h"
#include "tenon/strategies/choice/measured.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/strategy.h"

namespace tenon::strategies {

// Builders refer to it, so it stays where it is.
class Table {
 public:
  // `maker` is null where the group is no composite of a code generator.
  Table(const Group& group, const StrategyOptions& options, const CompositeMaker* maker);
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // Takes the row that was measured to be the best, unless it is refused.
  void Measure(const MeasuredChoice& measured);

  // The best row that can be built. Throws Unimplemented if there is none.
  Choice Choose();

 private:
  using Build = std::function<BuildResult(const Group& group)>;

  void AddImplementation(const Implementation& implementation, bool te_only);
  void AddForms(const ir::CallNode* anchor, bool may_round_differently);
  // The forms of the anchor, weighed. None if something else in the group has no compute, which
  // building will say.
  std::vector<Candidate> WeighedForms(const ir::CallNode& anchor) const;
  // Adds a row after all rows of higher priority.
  void Add(Candidate row, Build build);

  // The measured row, if `usual` is the row that it beat. Rows above that one are built first,
  // since only then is it known whether they can be.
  std::optional<std::size_t> MeasuredOver(std::size_t usual) const;
  // The measured row, or nothing: then the measurement is left aside for good.
  std::optional<Choice> TakeMeasured(std::size_t row, std::size_t usual);
  // Why the measured choice says nothing about today's default: it has beaten other values.
  std::optional<std::string> RefuseDefault(const MeasuredChoice& measured, std::size_t usual);
  void LeaveAside(const MeasuredChoice& measured, const std::string& why);
  Choice Taken(Built built, std::size_t row) const;

  const Group& group_;
  LowerFunctionOptions lowering_;
  std::vector<Candidate> rows_;
  std::vector<Build> builders_;
  std::optional<MeasuredChoice> measured_;
  Config config_;
  std::string remark_;
  std::string reason_;
};

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_CHOICE_TABLE_H_
