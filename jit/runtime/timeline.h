// Which thread did what when, for runs of whoever asks.
//
// A run that nobody records costs one look at a variable of its thread for each parallel loop.
//
//   Timeline timeline;
//   {
//     const Timeline::Recording recording(&timeline);  // of this thread's runs
//     session.RunProfiled(inputs, &times);
//   }
//   timeline.entries()[0].name;
#ifndef TENON_JIT_RUNTIME_TIMELINE_H_
#define TENON_JIT_RUNTIME_TIMELINE_H_

#include <chrono>
#include <string>
#include <vector>

namespace tenon::jit {

class Timeline {
 public:
  using Clock = std::chrono::steady_clock;
  // A kernel, or what one thread of the team did of its parallel loop.
  struct Entry {
    std::string name;  // of the kernel
    bool is_share = false;
    int thread = 0;  // of the team; 0: the one that runs the model
    Clock::time_point start, end;
  };

  // The timeline of the calling thread's runs. Null: nobody records them.
  static Timeline* Current();
  class Recording {
   public:
    explicit Recording(Timeline* timeline);
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
  };

  // Adds a share of the kernel that runs.
  void AddShare(int thread, Clock::time_point start, Clock::time_point end) {
    entries_.push_back({{}, true, thread, start, end});
  }
  void EndKernel(const std::string& name, Clock::time_point start, Clock::time_point end);
  // Shares of a kernel come before it.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_RUNTIME_TIMELINE_H_
