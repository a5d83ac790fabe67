// The processes that mpirun has started together: texts between them.
//
//   if (Ranks::AreExpected()) {
//     Ranks ranks = Ranks::Start().value();
//     if (ranks.rank() > 0) ranks.Send(0, "text");
//   }
#ifndef TENON_TUNE_RANKS_H_
#define TENON_TUNE_RANKS_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

struct TenonMpiModule;

namespace tenon::tune {

class Ranks {
 public:
  // Whether mpirun, or srun in its place, has started this process and others.
  static bool AreExpected();
  // Loads the module that speaks MPI. Errors: Unimplemented where this build has none;
  // FailedPrecondition where it is of another MPI than mpirun is.
  static absl::StatusOr<Ranks> Start();
  // Waits for the others that are alive, a minute at most.
  ~Ranks();
  Ranks(Ranks&&) noexcept = default;
  Ranks& operator=(Ranks&&) noexcept = default;

  int rank() const { return rank_; }
  int size() const { return size_; }
  // Does not wait until it has arrived. Answers false where it cannot.
  bool Send(int to, const std::string& text);
  // The next one and who sent it, or nothing.
  std::optional<std::pair<int, std::string>> Receive();

 private:
  struct Finish {
    void operator()(const TenonMpiModule* module) const;
  };
  Ranks() = default;
  std::unique_ptr<const TenonMpiModule, Finish> module_;
  int rank_ = 0, size_ = 1;
};

}  // namespace tenon::tune

#endif  // TENON_TUNE_RANKS_H_
