// What a search asks of a worker, and what it answers: values that travel between processes.
//
// A worker has the same model as all others and a machine of its own. Answers have no addresses and
// no arrays; so the one who searches needs neither the model nor the machine.
//
//   std::string line = ToJson(Job(TryJob{content, candidate, known}));
//   Answer answer = AnswerFromJson(line);
#ifndef TENON_TUNE_JOBS_H_
#define TENON_TUNE_JOBS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tenon/strategies/config.h"
#include "tenon/tune/outcome.h"
#include "tenon/tune/race.h"
#include "tenon/tune/records.h"

namespace tenon::tune {

// One kernel of a model by default.
struct KernelBrief {
  std::string name, content, text;                  // strategies/choice/content.h
  int calls = 0;                                    // in a run of the model
  double model_s = 0, floor_s = 0;                  // of all calls
  double race_floor_s = 0;                          // of a run alone
  std::string bound;                                // by what the floor is (floors.h)
  std::string shapes;                               // of its races, as records have them
  std::string over;                                 // the default choice
  std::vector<strategies::Config::Choice> choices;  // of the default row
  std::vector<std::string> rows;                    // others that are not refused
};

// --- jobs

// The CPUs to run on; none: wherever the system likes.
struct SettleJob {
  std::vector<int> cpus;
};
// The model by default: its kernels, and their times.
struct BriefJob {};
struct TryJob {
  std::string content;
  Candidate candidate;
  std::vector<std::string> known;  // choices that need no race
};
// The races inside the model of what won alone.
struct DecideJob {
  std::vector<Record> wins;
  double seconds = 0;
};
using Job = std::variant<SettleJob, BriefJob, TryJob, DecideJob>;

// --- what a worker says, or others say of it

// Before its first job.
struct Introduction {
  std::string host;
  std::string target;  // as records have it
  std::int64_t threads = 0;
  // The CPUs that it may run on, by physical core; none: it cannot choose.
  std::vector<std::vector<int>> cores;
};
struct Settled {};
struct ModelBrief {
  std::string target, versions;  // as records have them
  std::int64_t threads = 0;
  std::vector<KernelBrief> kernels;
};
struct Decision {
  std::vector<Record> records;  // of the races
  // The whole model by the choices that are kept, against the default; nothing where none is.
  std::optional<MedianRatio> model;
  double default_model_s = 0, model_s = 0;
  bool kept = false;
};
// The job cannot be done at all, in words.
struct Failure {
  int code = 0;  // absl::StatusCode
  std::string message;
};
// It ended, or was ended, with its job, if it had one. It introduces itself again.
struct Crashed {
  std::string why;
};
// It takes no more jobs, until it introduces itself again. Its job was not the reason.
struct Lost {
  std::string why;
};
using Answer =
    std::variant<Introduction, Settled, ModelBrief, Outcome, Decision, Failure, Crashed, Lost>;

// One line each. Reading throws InvalidArgument for any other text.
std::string ToJson(const Job& job);
std::string ToJson(const Answer& answer);
Job JobFromJson(std::string_view text);
Answer AnswerFromJson(std::string_view text);

}  // namespace tenon::tune

#endif  // TENON_TUNE_JOBS_H_
