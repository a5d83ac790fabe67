// A kernel as loops: buffers that the caller gives, symbolic extents, a body.
#ifndef TENON_LOOP_FUNCTION_H_
#define TENON_LOOP_FUNCTION_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tenon/loop/stmt.h"

namespace tenon::loop {

// A statement that is there, or is made when it is first asked for. Copies share it, and may be
// asked on several threads. It stands wherever a statement does.
class Body {
 public:
  Body() : Body(Stmt()) {}
  Body(Stmt stmt);  // NOLINT(google-explicit-constructor)
  explicit Body(std::function<Stmt()> make);

  // Throws what the maker throws, each time.
  const Stmt& stmt() const;
  operator const Stmt&() const { return stmt(); }  // NOLINT(google-explicit-constructor)

 private:
  struct State;
  std::shared_ptr<State> state_;
};

struct Function {
  std::string name;
  std::vector<Buffer> buffers;  // parameters, with their shapes as the caller sees them
  std::vector<Var> scalars;     // int64 extents that the buffers' shapes use
  Body body;
  // What this program makes the body of: functions of one name and signature whose origins are
  // equal and not empty have equal bodies.
  std::string origin;
};

}  // namespace tenon::loop

#endif  // TENON_LOOP_FUNCTION_H_
