// Whether runs stay on one thread, and why (thread_trial.h).
#ifndef TENON_RUNTIME_THREAD_CHOICE_H_
#define TENON_RUNTIME_THREAD_CHOICE_H_

#include <chrono>
#include <string>

namespace tenon::runtime {

struct ThreadChoice {
  bool works_alone = false;
  // The least times of the last trial. 0 on one thread: runs are too long for a trial of it.
  std::chrono::nanoseconds on_threads{}, alone{};
};

// "one, which takes 0.2100 ms; all that are set take 0.5700 ms"
std::string ToText(const ThreadChoice& choice);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_THREAD_CHOICE_H_
