// A kernel as loops: buffers that the caller gives, symbolic extents, a body.
#ifndef TENON_LOOP_FUNCTION_H_
#define TENON_LOOP_FUNCTION_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tenon/loop/stmt.h"

namespace tenon::loop {

// What loops were made of, as text for people. Any number of threads may call it.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::string TensorExpressions() const = 0;
  // The calls that made the schedule, as C++.
  virtual std::string ScheduleCalls() const = 0;
};

// A statement that exists, or is made when it is first asked for, and what it was made of. Copies
// share both, and several threads may use them. A Body can be used wherever a statement can.
class Body {
 public:
  struct Made {
    // NOLINTNEXTLINE(google-explicit-constructor)
    Made(Stmt s, std::shared_ptr<const Source> of = nullptr)
        : stmt(std::move(s)), source(std::move(of)) {}
    Stmt stmt;
    std::shared_ptr<const Source> source;
  };

  Body() : Body(Stmt()) {}
  Body(Stmt stmt);  // NOLINT(google-explicit-constructor)
  Body(Stmt stmt, std::shared_ptr<const Source> source);
  explicit Body(std::function<Made()> make);

  // Throws what the maker throws, each time.
  const Stmt& stmt() const { return made().stmt; }
  operator const Stmt&() const { return stmt(); }  // NOLINT(google-explicit-constructor)
  // Null where nobody has given it, as for loops that are written by hand. Throws as stmt does.
  const std::shared_ptr<const Source>& source() const { return made().source; }

 private:
  struct State;
  const Made& made() const;
  std::shared_ptr<State> state_;
};

struct Function {
  std::string name;
  std::vector<Buffer> buffers;  // parameters, with their shapes as the caller sees them
  std::vector<Var> scalars;     // int64 extents that the buffers' shapes use
  Body body;
  // What this program makes the body from. Functions of one name and signature have equal bodies if
  // their origins are equal and not empty.
  std::string origin;
  // What it computes of a model, for people: "conv1 (Conv), relu1 (Relu)". gdb and perf show it
  // after the name.
  std::string places;
};

}  // namespace tenon::loop

#endif  // TENON_LOOP_FUNCTION_H_
