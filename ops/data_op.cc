#include "tenon/ops/data_op.h"

namespace tenon::ops {

OpBuilder DataOp(OpRegistry& registry, const char* name, const char* help, int level,
                 OpPattern pattern, std::source_location where) {
  OpBuilder op = registry.Register(name, where);
  op.Describe(help).Argument("data", "Tensor", "input").Level(level).Pattern(pattern);
  return op;
}

}  // namespace tenon::ops
