// The course of a search for the kernels of one model on one kind of machine: which candidate of
// which kernel is next, and what was found.
//
// Time goes to the kernels by what can be won: the time of all calls above the floor of the
// machine, less with each candidate that won nothing.
//
//   Course course(brief, records);
//   while (const auto job = course.Next()) course.Take(*job, outcome);
#ifndef TENON_TUNE_COURSE_H_
#define TENON_TUNE_COURSE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tenon/tune/frontier.h"
#include "tenon/tune/jobs.h"
#include "tenon/tune/records.h"
#include "tenon/tune/tune.h"

namespace tenon::tune {

class Course {
 public:
  // Throws the errors of records.
  Course(ModelBrief brief, const Records& records);

  // The next candidate, which is under way from now on; nothing: all are tried or under way.
  std::optional<TryJob> Next();
  // By a worker, so many seconds after the start.
  void Take(const TryJob& job, const Outcome& outcome, int worker = 0, double seconds = 0);
  // A candidate that was not tried is the next one of its kernel.
  void PutBack(const TryJob& job);
  bool done() const;  // nothing is left and nothing is under way

  const ModelBrief& brief() const { return brief_; }
  int raced() const;
  int wins() const;  // kernels with a better choice
  double model_s() const;
  double CallSeconds(const std::string& content) const;  // of one call of the kernel
  const KernelBrief& KernelOf(const std::string& content) const;
  const Frontier& FrontierOf(const std::string& content) const { return frontiers_.at(content); }
  // What won alone, of all that is known.
  DecideJob Decide(const Records& records, double seconds) const;
  TuneReport Report(const std::optional<Decision>& decision) const;

 private:
  // Of all kernels of a content, as equal layers of other weights, which share one search.
  double GainOf(const std::string& content) const;

  ModelBrief brief_;                           // kernels of the most time first
  std::map<std::string, Frontier> frontiers_;  // by content
  std::vector<TryReport> tries_;
};

}  // namespace tenon::tune

#endif  // TENON_TUNE_COURSE_H_
