// Which shapes of a symbolic model get a compile of their own: those that come again and again, and
// for which it is faster.
//
// A shape that has been run `after` times is compiled in the background, one at a time, while runs
// go on with the compile for all shapes. Then runs alternate between both, and the compile for the
// shape is kept if the median of its times is less by a twentieth. Thread-safe; the destructor
// waits for a compile that has begun.
//
//   HotShapes hot({.after = 8}, specialise);
//   const HotShapes::Turn turn = hot.Next(shapes);   // turn.executable is null: run for all shapes
//   ... hot.Report(shapes, turn, seconds);
#ifndef TENON_COMPILER_SYMBOLIC_HOT_SHAPES_H_
#define TENON_COMPILER_SYMBOLIC_HOT_SHAPES_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "tenon/runtime/executable.h"
#include "tenon/support/dim.h"

namespace tenon::compiler {

class HotShapes {
 public:
  using Shapes = Dim::Values;  // of the model's variables
  using Specialise = std::function<absl::StatusOr<runtime::Executable>(const Shapes&)>;
  struct Options {
    std::size_t after = 0;  // runs that make a shape hot; 0: none is
    std::size_t most = 16;  // shapes that have a compile of their own
  };
  struct Statistics {
    std::size_t compiled = 0;  // in the background
    std::size_t kept = 0;      // since they are faster
    std::size_t dropped = 0;   // since they are not, cannot be made, or gave way to newer ones
  };
  // What a run uses.
  struct Turn {
    std::shared_ptr<const runtime::Executable> executable;  // null: the one for all shapes
    bool is_timed = false;
  };

  HotShapes(Options options, Specialise specialise);
  ~HotShapes();

  Turn Next(const Shapes& shapes);
  // The time of a run whose turn was timed.
  void Report(const Shapes& shapes, const Turn& turn, double seconds);
  Statistics statistics() const;

 private:
  enum class Phase { kCounting, kCompiling, kRacing, kKept, kDropped };
  struct Candidate {
    Shapes shapes;
    Phase phase = Phase::kCounting;
    std::size_t runs = 0;
    std::shared_ptr<const runtime::Executable> executable;
    std::vector<double> own_times, common_times;
  };

  Candidate& Use(const Shapes& shapes);
  Candidate* Find(const Shapes& shapes);
  void Drop(Candidate* candidate);
  void Decide(Candidate* candidate);
  void LimitOwn();
  bool HasWorker();
  void Work();

  const Options options_;
  const Specialise specialise_;
  mutable std::mutex mutex_;
  std::list<Candidate> candidates_;  // the last used first
  std::map<Shapes, std::list<Candidate>::iterator> index_;
  std::deque<Shapes> wanted_;
  Statistics statistics_;
  bool ends_ = false;
  std::condition_variable work_;
  std::thread worker_;
};

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_SYMBOLIC_HOT_SHAPES_H_
