// Work that a few threads share.
//
//   std::atomic<std::size_t> next{0};
//   OnThreads(files.size(), [&] {
//     for (std::size_t i = next++; i < files.size(); i = next++) Read(files[i]);
//   });
#ifndef TENON_SUPPORT_ON_THREADS_H_
#define TENON_SUPPORT_ON_THREADS_H_

#include <cstddef>
#include <functional>

namespace tenon {

// Runs `work` on as many threads as there are cores, but on at most `max_threads`. The calling
// thread is one of them. Returns when all have ended. Where the system gives no more threads, there
// are fewer. When calls throw, the first exception is rethrown after all have ended.
void OnThreads(std::size_t max_threads, const std::function<void()>& work);

}  // namespace tenon

#endif  // TENON_SUPPORT_ON_THREADS_H_
