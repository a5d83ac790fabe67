#include "tenon/support/on_threads.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace tenon {

void OnThreads(std::size_t max_threads, const std::function<void()>& work) {
  const std::size_t count =
      std::min<std::size_t>(max_threads, std::max(1U, std::thread::hardware_concurrency()));
  std::mutex mutex;
  std::exception_ptr first;
  const auto run = [&] {
    try {
      work();
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (first == nullptr) first = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  others.reserve(count);
  try {
    for (std::size_t i = 1; i < count; ++i) others.emplace_back(run);
  } catch (const std::system_error&) {
    // The system gives no more threads. Those already started share the work.
  } catch (const std::bad_alloc&) {
    // The system has no memory for another thread.
  }
  if (count > 0) run();
  for (std::thread& other : others) other.join();
  if (first != nullptr) std::rethrow_exception(first);
}

}  // namespace tenon
