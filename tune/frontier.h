// The order in which the candidates for one kernel are tried: best first, from the default on.
//
// First come earlier wins, then the rows of the table whose condition holds, then the neighbours of
// the best choice that has none yet: one value changed to one beside it in its list. As soon as a
// model of their cost has learned enough (cost_model.h), those come first for which it predicts the
// least time, by turns with what it predicts to be best of all. The frontier knows no kernel and
// measures nothing; whoever does tells it what became of each candidate. Several candidates may be
// under way at once.
//
//   Frontier frontier(brief, records);
//   while (const auto candidate = frontier.Next()) frontier.Take(*candidate, contest.Try(...));
#ifndef TENON_TUNE_FRONTIER_H_
#define TENON_TUNE_FRONTIER_H_

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tenon/tune/cost_model.h"
#include "tenon/tune/jobs.h"
#include "tenon/tune/outcome.h"

namespace tenon::tune {

class Frontier {
 public:
  // `records` are those of the kernel, of its target and number of threads. Wins over the same
  // default, of the same versions, are tried again, first; what lost need not be.
  Frontier(const KernelBrief& kernel, const std::vector<Record>& records,
           const std::string& versions);

  // The next candidate, which is under way from now on. Nothing: all are tried or under way.
  std::optional<Candidate> Next();
  // What became of one that was under way.
  void Take(const Candidate& candidate, const Outcome& outcome);
  // It was not tried, and is the next one.
  void PutBack(const Candidate& candidate);
  // Nothing is left, and nothing is under way that could lead to more.
  bool done() const { return under_way_ == 0 && queue_.empty() && !HasUnexpanded(); }

  // Choices that were raced or refused.
  const std::set<std::string>& known() const { return known_; }
  int raced() const { return raced_; }
  int fruitless() const { return fruitless_; }  // candidates since the last win
  const std::optional<Record>& best() const { return best_; }
  const std::string& last() const { return last_; }  // what became of the last one, in words
  // In words: candidates whose results were wrong, and those that ended with their process.
  const std::vector<std::string>& wrong() const { return wrong_; }
  const std::vector<std::string>& crashed() const { return crashed_; }
  const std::string& unmeasured() const { return unmeasured_; }  // why none can be tried

 private:
  struct Point {  // that was raced
    double ratio;
    std::string row;
    std::vector<strategies::Config::Choice> choices;
    bool expanded = false;
  };

  bool HasUnexpanded() const;
  void Expand();
  std::optional<Candidate> FromQueue();
  // What is predicted to be best of all, where it is better than the best so far.
  std::optional<Candidate> Jump() const;
  void Queue(Candidate candidate);
  void Learn(const Point& point);
  std::optional<double> Predict(const Candidate& candidate) const;

  std::deque<Candidate> queue_;
  std::set<Candidate> queued_;  // now or before
  std::set<std::string> known_;
  std::vector<Point> points_;
  std::map<std::string, CostModel> models_;                // by row
  std::map<std::string, strategies::ConfigValues> usual_;  // the first choices of each row
  std::optional<Record> best_;
  int raced_ = 0, fruitless_ = 0, under_way_ = 0;
  bool has_jumped_ = false;
  std::string last_, unmeasured_;
  std::vector<std::string> wrong_, crashed_;
};

}  // namespace tenon::tune

#endif  // TENON_TUNE_FRONTIER_H_
