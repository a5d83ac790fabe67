// The search for the best choice for one kernel: best first, from the default on.
//
// First come the rows of the table whose condition holds, then the neighbours of the best choice
// that has none yet: one value changed to one beside it in its list. Each candidate must give the
// default's results and races against it. A win is raced once more, and only the second race
// counts, as the first one was picked for its luck. Every race becomes a record as soon as it is
// over.
//
//   KernelSearch search(kernel, options, &records);
//   while (!search.done()) search.Step(stopped);
#ifndef TENON_TUNE_SEARCH_H_
#define TENON_TUNE_SEARCH_H_

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tenon/tune/kernel.h"
#include "tenon/tune/race.h"
#include "tenon/tune/records.h"

namespace tenon::tune {

class KernelSearch {
 public:
  // Makes the default, and takes what `records` know already. Throws what compiling throws.
  KernelSearch(const ModelKernel& kernel, const CompileOptions& options, Records* records,
               std::string run);

  bool done() const { return queue_.empty() && !HasUnexpanded(); }
  // Tries one candidate. A candidate that is refused, or whose results differ, costs nothing more.
  // Throws the errors of records.
  void Step(const std::function<bool()>& stopped);

  const ModelKernel& kernel() const { return *kernel_; }
  std::string default_choice() const { return standard_.ChoiceText(); }
  int raced() const { return raced_; }
  int fruitless() const { return fruitless_; }  // candidates since the last win
  const std::optional<Record>& best() const { return best_; }
  const std::string& last() const { return last_; }  // what the last step did, in words
  // Candidates whose results were wrong, in words.
  const std::vector<std::string>& wrong() const { return wrong_; }

 private:
  struct Candidate {
    std::string row;
    strategies::ConfigValues config;  // of some choices; others have their defaults
  };
  struct Point {  // that was raced
    double ratio;
    std::string row;
    std::vector<strategies::Config::Choice> choices;
    bool expanded = false;
  };

  void TakeKnown();
  bool HasUnexpanded() const;
  void Expand();
  void RaceWith(Contender& contender, const std::function<bool()>& stopped);

  const ModelKernel* kernel_;
  CompileOptions options_;
  Records* records_;
  std::string run_;
  Contender standard_;
  std::vector<NDArray> expected_;
  std::deque<Candidate> queue_;
  std::set<std::string> known_;  // choices that were raced or refused
  std::vector<Point> points_;
  std::optional<Record> best_;
  int raced_ = 0, fruitless_ = 0;
  std::string last_;
  std::vector<std::string> wrong_;
};

// A record of now for the kernel, without a choice and times.
Record MakeRecord(const ModelKernel& kernel, const CompileOptions& options, const std::string& run);
// Of rounds, in their order.
void SetTimes(const std::vector<double>& times, const std::vector<double>& default_times,
              Record* record);

}  // namespace tenon::tune

#endif  // TENON_TUNE_SEARCH_H_
