// A candidate for a kernel, and what became of it: what a search knows of either.
#ifndef TENON_TUNE_OUTCOME_H_
#define TENON_TUNE_OUTCOME_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/strategies/config.h"
#include "tenon/tune/records.h"

namespace tenon::tune {

struct Candidate {
  std::string row;
  strategies::ConfigValues config;  // of some choices; others have their defaults

  friend auto operator<=>(const Candidate&, const Candidate&) = default;
};

struct Outcome {
  // With all choices, "te.dense.tiled rows=6 vectors=3". Empty where the candidate was refused
  // before its choices were known.
  std::string choice;
  std::vector<strategies::Config::Choice> choices;
  // At most one of these; none: the race was stopped.
  std::optional<Record> record;
  std::string refused;     // in words; no race was run
  std::string wrong;       // the results differ, in words
  std::string crashed;     // it ended or was ended with its process, in words
  std::string unmeasured;  // no candidate of the kernel can be measured, in words
};

}  // namespace tenon::tune

#endif  // TENON_TUNE_OUTCOME_H_
