#include "tenon/tune/tasks_ahead.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/on_threads.h"
#include "tenon/tune/cores.h"

namespace tenon::tune {

TasksAhead::TasksAhead(std::vector<int> cpus) {
  try {
    for (const int cpu : cpus) threads_.emplace_back([this, cpu] { RunOn(cpu); });
  } catch (const std::system_error&) {
    // The system gives no more threads; those that there are do all.
  }
}

TasksAhead::~TasksAhead() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void TasksAhead::Add(std::function<void()> task) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    tasks_.push_back(std::make_shared<Task>(Task{.run = std::move(task)}));
  }
  changed_.notify_all();
}

void TasksAhead::WaitForFirst() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (tasks_.empty()) return;
  const std::shared_ptr<Task> first = tasks_.front();
  if (!HasThreads() && !first->is_done) {
    const std::size_t waiting = tasks_.size();
    lock.unlock();
    OnThreads(waiting, [this] {
      while (const std::shared_ptr<Task> task = Begin()) {
        task->run();
        End(task.get());
      }
    });
    lock.lock();
  }
  changed_.wait(lock, [&] { return first->is_done; });
  tasks_.pop_front();
}

std::shared_ptr<TasksAhead::Task> TasksAhead::Begin() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto waiting = std::ranges::find(tasks_, false, &Task::is_begun);
  if (is_ending_ || waiting == tasks_.end()) return nullptr;
  (*waiting)->is_begun = true;
  return *waiting;
}

void TasksAhead::End(Task* task) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    task->is_done = true;
  }
  changed_.notify_all();
}

void TasksAhead::RunOn(int cpu) {
  (void)CatchErrors([&] { PinTo({cpu}); });  // where the system refuses, it runs anywhere
  while (true) {
    while (const std::shared_ptr<Task> task = Begin()) {
      task->run();
      End(task.get());
    }
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] {
      return is_ending_ || std::ranges::find(tasks_, false, &Task::is_begun) != tasks_.end();
    });
    if (is_ending_) return;
  }
}

}  // namespace tenon::tune
