// What measured choices win of a model: the compile by them against that by default, by turns.
//
//   RecordsRace race = RaceRecords(module, options, {{"n", 4}}, 10);
//   race.model.ratio < 1;  // the records win
#ifndef TENON_TOOLS_RECORDS_RACE_H_
#define TENON_TOOLS_RECORDS_RACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/tune/race.h"

namespace tenon::tools {

// Of all calls of a kernel in one run; medians of the rounds.
struct KernelRace {
  std::string node;           // the first that calls it
  std::string usual, chosen;  // by default and by records, which may be the same
  tune::MedianRatio outcome;
  double default_s = 0, by_records_s = 0, floor_s = 0;
};
struct RecordsRace {
  int threads = 1;
  tune::MedianRatio model;
  std::int64_t rounds = 0;
  double default_s = 0, by_records_s = 0;
  std::vector<KernelRace> kernels;  // those of most time first
};

// `options.measured` are the choices, which may be null. Variables of the model have the values of
// AllExtents (random_inputs.h). The kernels take half of the seconds and the whole the other half,
// or 16 rounds each, if these take longer. Throws what compiling and running throw.
RecordsRace RaceRecords(const ir::Module& module, const CompileOptions& options,
                        const Dim::Values& given, double seconds);

std::string RecordsRaceText(const RecordsRace& race);
// {"threads", "ratio", "noise", "rounds", "default_s", "by_records_s", "kernels": [{"node",
// "default", "chosen", "ratio", "noise", "default_s", "by_records_s", "floor_s"}]}
std::string RecordsRaceJson(const RecordsRace& race);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_RECORDS_RACE_H_
