// Workers that are processes of this machine, each started with the same command.
//
// A candidate that ends its process, or never returns, costs itself and no more: the process is
// started again. A process ends when this one does, however that ends.
//
//   ProcessCrew crew({"tenon", "tune", "model.onnx"}, 2);  // runs them with --serve 3
#ifndef TENON_TUNE_PROCESS_CREW_H_
#define TENON_TUNE_PROCESS_CREW_H_

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "tenon/tune/crew.h"
#include "tenon/tune/lines.h"

namespace tenon::tune {

// The option that makes the program a worker, with the number of its socket.
inline constexpr char kServeOption[] = "--serve";
inline constexpr int kServeSocket = 3;
// Besides jobs: cut the race short.
inline constexpr char kCutShort[] = "cut short";

class ProcessCrew : public Crew {
 public:
  // Runs this program again, with these arguments after its name and kServeOption at the end.
  ProcessCrew(std::vector<std::string> arguments, int size);
  ~ProcessCrew() override;

  int size() const override { return static_cast<int>(children_.size()); }
  void Give(int worker, const Job& job, double limit_s) override;
  std::optional<Event> Wait(double seconds) override;
  void CutShort() override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Child {
    pid_t process = 0;  // 0: it has ended for good
    Lines lines{-1};
    std::optional<Clock::time_point> deadline;  // of its job
    double limit_s = 0;
    int fruitless_starts = 0;  // since its last answer to a job
  };

  void Start(Child* child);
  // Of an end that came, or that is brought about now.
  void End(int worker, const std::string& why);
  void Read(int worker);
  void KeepLimits();

  std::vector<std::string> arguments_;
  std::vector<Child> children_;
  std::deque<Event> events_;
};

}  // namespace tenon::tune

#endif  // TENON_TUNE_PROCESS_CREW_H_
