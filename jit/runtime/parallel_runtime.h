// The runtime that generated parallel loops call: OpenMP worksharing, on the pool that oneDNN uses
// too.
//
// Iterations are cut into contiguous chunks, one per thread, so which thread runs an iteration
// changes nothing in its result. The number of threads is the calling thread's OpenMP setting.
//
//   ScopedThreads two(2);
//   ParallelFor(body, closure, 100);
#ifndef TENON_JIT_RUNTIME_PARALLEL_RUNTIME_H_
#define TENON_JIT_RUNTIME_PARALLEL_RUNTIME_H_

#include <cstdint>

namespace tenon::jit {

// Runs iterations [begin, end).
using ParallelBody = void (*)(void* closure, std::int64_t begin, std::int64_t end);

// Runs [0, extent) on the threads of the caller's setting and returns when all are done; extent <=
// 0 runs nothing. If loops wait longer for other threads than these save, as happens when other
// programs use the cores, the caller's loops run on its own thread for a while
// (jit/runtime/wait_balance.h).
void ParallelFor(ParallelBody body, void* closure, std::int64_t extent);

// Memory for a kernel's larger intermediate results, 64-byte aligned; blocks are kept by the thread
// and handed out again.
void* TakeMemory(std::int64_t bytes);
void GiveMemory(void* memory);

// The most threads that a run may be given. OpenMP ends the process where it cannot start one.
inline constexpr int kMaxThreads = 1024;

// The number of threads of parallel loops started by this thread.
int ParallelThreads();

// The number of threads that a library gets if it starts a team here under a ScopedTeam. That is
// ParallelThreads, or fewer inside a parallel region and where OpenMP's limit says so.
int TeamThreads();

// Sets the number of threads of parallel loops started by this thread, until it goes out of scope.
// Zero or less leaves the setting as it is.
class ScopedThreads {
 public:
  explicit ScopedThreads(int threads);
  ~ScopedThreads();
  ScopedThreads(const ScopedThreads&) = delete;
  ScopedThreads& operator=(const ScopedThreads&) = delete;

 private:
  int previous_ = 0;
};

// Teams that start have one thread until it goes out of scope, whatever number is set: as in a
// program that sets no active levels. For tests of what is made for more threads.
class ScopedTeamsOfOne {
 public:
  ScopedTeamsOfOne();
  ~ScopedTeamsOfOne();
  ScopedTeamsOfOne(const ScopedTeamsOfOne&) = delete;
  ScopedTeamsOfOne& operator=(const ScopedTeamsOfOne&) = delete;

 private:
  const int levels_;
};

// Parallel loops that this thread starts stay on it until it goes out of scope. Libraries take the
// number of threads that is set.
class ScopedAlone {
 public:
  ScopedAlone();
  ~ScopedAlone();
  ScopedAlone(const ScopedAlone&) = delete;
  ScopedAlone& operator=(const ScopedAlone&) = delete;

 private:
  bool was_alone_;
};

// Teams of libraries have exactly `threads` threads until it goes out of scope. The load of the
// machine does not make them smaller (OMP_DYNAMIC).
class ScopedTeam {
 public:
  explicit ScopedTeam(int threads);
  ~ScopedTeam();
  ScopedTeam(const ScopedTeam&) = delete;
  ScopedTeam& operator=(const ScopedTeam&) = delete;

 private:
  ScopedThreads threads_;
  bool is_dynamic_;
};

// Flushes denormals to zero on this thread (MXCSR's FTZ and DAZ bits) until it goes out of scope.
class ScopedFlushDenormals {
 public:
  ScopedFlushDenormals();
  ~ScopedFlushDenormals();
  ScopedFlushDenormals(const ScopedFlushDenormals&) = delete;
  ScopedFlushDenormals& operator=(const ScopedFlushDenormals&) = delete;

 private:
  unsigned previous_;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_RUNTIME_PARALLEL_RUNTIME_H_
