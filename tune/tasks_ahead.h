// Tasks that are done ahead of the thread that needs what they make, in the order in which they
// come.
//
// Where there are CPUs of their own for them, a thread on each does them beside whoever measures on
// others. Where there are none, they wait until the first one is needed; then all are done at once,
// on all cores, while nobody measures.
//
//   TasksAhead tasks({1});
//   tasks.Add([&] { contender = Make(candidate); });
//   tasks.WaitForFirst();
#ifndef TENON_TUNE_TASKS_AHEAD_H_
#define TENON_TUNE_TASKS_AHEAD_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tenon::tune {

class TasksAhead {
 public:
  explicit TasksAhead(std::vector<int> cpus);
  // Waits for the tasks that were begun; others are not done.
  ~TasksAhead();
  TasksAhead(const TasksAhead&) = delete;
  TasksAhead& operator=(const TasksAhead&) = delete;

  // It must throw nothing.
  void Add(std::function<void()> task);
  // Until the task that was added first is done, which leaves the list.
  void WaitForFirst();

 private:
  struct Task {
    std::function<void()> run;
    bool is_begun = false, is_done = false;
  };
  // The first that nobody has begun, which it begins; null: none.
  std::shared_ptr<Task> Begin();
  void End(Task* task);
  void RunOn(int cpu);
  bool HasThreads() const { return !threads_.empty(); }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Task>> tasks_;  // under mutex_, as all that follows
  bool is_ending_ = false;
  std::vector<std::thread> threads_;  // fixed after construction
};

}  // namespace tenon::tune

#endif  // TENON_TUNE_TASKS_AHEAD_H_
