// A kernel as loops: buffers that the caller gives, symbolic extents, a body.
#ifndef TENON_LOOP_FUNCTION_H_
#define TENON_LOOP_FUNCTION_H_

#include <string>
#include <vector>

#include "tenon/loop/stmt.h"

namespace tenon::loop {

struct Function {
  std::string name;
  std::vector<Buffer> buffers;  // parameters, with their shapes as the caller sees them
  std::vector<Var> scalars;     // int64 extents that the buffers' shapes use
  Stmt body;
};

}  // namespace tenon::loop

#endif  // TENON_LOOP_FUNCTION_H_
