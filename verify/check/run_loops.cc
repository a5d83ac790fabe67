#include "tenon/verify/check/run_loops.h"

#include <cstring>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/evaluate.h"

namespace tenon::verify {
namespace {

using loop::Expr;
using loop::Stmt;
using loop::StmtKind;

class LoopRun {
 public:
  LoopRun(te::Arrays arrays, te::Columns variables, unsigned char fill)
      : arrays_(std::move(arrays)), variables_(std::move(variables)), fill_(fill) {
    evaluator_.Start(1);
  }

  void Run(const Stmt& stmt) {
    switch (stmt.kind()) {
      case StmtKind::kFor:
        return RunFor(*stmt.As<loop::ForNode>());
      case StmtKind::kStore:
        return RunStore(*stmt.As<loop::StoreNode>());
      case StmtKind::kSeq:
        for (const Stmt& part : stmt.As<loop::SeqNode>()->stmts) Run(part);
        return;
      case StmtKind::kIf: {
        const auto& node = *stmt.As<loop::IfNode>();
        const Stmt& side = IntegerOf(node.condition) != 0 ? node.then_case : node.else_case;
        if (side) Run(side);
        return;
      }
      case StmtKind::kAllocate:
        return RunAllocate(*stmt.As<loop::AllocateNode>());
      case StmtKind::kLet: {
        const auto& node = *stmt.As<loop::LetStmtNode>();
        variables_.insert_or_assign(node.var.get(), ValueOf(node.value));
        Run(node.body);
        variables_.erase(node.var.get());
        return;
      }
      case StmtKind::kEvaluate:
        if (stmt.As<loop::EvaluateNode>()->value.kind() != loop::ExprKind::kCall)
          throw Unimplemented("loops that call functions are not run one by one");
        return;
    }
    Unreachable("the switch over kinds of statements is exhaustive");
  }

 private:
  te::Column ValueOf(const Expr& expr) {
    evaluator_.Restart(variables_);
    return evaluator_.Evaluate(expr);
  }
  std::int64_t IntegerOf(const Expr& expr) { return ValueOf(expr).i.at(0); }

  void RunFor(const loop::ForNode& node) {
    const std::int64_t begin = IntegerOf(node.min), extent = IntegerOf(node.extent);
    for (std::int64_t i = 0; i < extent; ++i) {
      variables_.insert_or_assign(node.var.get(), te::Column{.i = {begin + i}});
      Run(node.body);
    }
    variables_.erase(node.var.get());
  }

  void RunStore(const loop::StoreNode& node) {
    if (node.predicate.defined() && IntegerOf(node.predicate) == 0) return;
    const NDArray& array = arrays_.at(node.buffer.get());
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < node.indices.size(); ++axis) {
      const std::int64_t index = IntegerOf(node.indices[axis]), extent = array.shape()[axis];
      if (index < 0 || index >= extent)
        throw OutOfRange(StrCat("index ", index, " of dimension ", axis, " of ", node.buffer->name,
                                ", whose extent is ", extent));
      offset = offset * extent + index;
    }
    te::WriteColumn(array, offset, ValueOf(node.value));
  }

  void RunAllocate(const loop::AllocateNode& node) {
    Shape shape;
    for (const Expr& extent : node.buffer->shape) shape.push_back(IntegerOf(extent));
    const NDArray memory = NDArray::Empty(shape, node.buffer->dtype);
    if (memory.bytes() != 0) std::memset(memory.raw(), fill_, memory.bytes());
    arrays_.insert_or_assign(node.buffer.get(), memory);
    Run(node.body);
    arrays_.erase(node.buffer.get());
  }

  te::Arrays arrays_;
  te::Columns variables_;
  const te::Extents no_extents_;
  const unsigned char fill_;
  te::Evaluator evaluator_{arrays_, no_extents_};
};

}  // namespace

void RunLoops(const loop::Function& function, const std::vector<NDArray>& arrays,
              const std::vector<std::int64_t>& scalars, unsigned char fill) {
  CheckInvariant(arrays.size() == function.buffers.size(), "each buffer is given an array");
  CheckInvariant(scalars.size() == function.scalars.size(), "each scalar is given a value");
  te::Arrays by_buffer;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    by_buffer.emplace(function.buffers[i].get(), arrays[i]);
  te::Columns variables;
  for (std::size_t i = 0; i < scalars.size(); ++i)
    variables.emplace(function.scalars[i].get(), te::Column{.i = {scalars[i]}});
  LoopRun(std::move(by_buffer), std::move(variables), fill).Run(function.body);
}

}  // namespace tenon::verify
