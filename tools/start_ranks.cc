#include "tenon/tools/start_ranks.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "tenon/support/error.h"

namespace tenon::tools {
namespace {

constexpr std::chrono::minutes kMaxStart{2};

// Ends the program unless it goes away in time.
class Watch {
 public:
  Watch() : thread_([this] { Wait(); }) {}
  ~Watch() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (changed_.wait_for(lock, kMaxStart, [this] { return is_over_; })) return;
    std::fputs(
        "tenon: MPI has not started all processes within two minutes; one of them may have died. "
        "Run the same command again\n",
        stderr);
    std::_Exit(EXIT_FAILURE);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace

tune::Ranks StartRanks() {
  const Watch watch;
  return ValueOrThrow(tune::Ranks::Start());
}

}  // namespace tenon::tools
