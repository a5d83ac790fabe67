// Goes through readers first. The elements of an operation that are needed become loops around what
// computes them, and RegionRead knows what these read.
#include "tenon/schedule/input_regions.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "tenon/loop/print.h"
#include "tenon/schedule/needed_region.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using loop::Stmt;
using te::IterVar;

// Loops over the elements of `region`, with all expressions that they are computed from.
Stmt LoopsOver(const te::OperationNode& op, const std::vector<Range>& region) {
  std::vector<Stmt> values;
  for (const Expr& e : op.Expressions()) values.push_back(loop::Evaluate(e));
  Stmt stmt = loop::Seq(std::move(values));
  for (const IterVar& axis : op.reduce_axes)
    stmt = loop::For(axis.var, axis.min, axis.extent, loop::ForKind::kSerial, stmt);
  for (std::size_t d = 0; d < op.axes.size(); ++d)
    stmt = loop::For(op.axes[d].var, region[d].min, region[d].extent, loop::ForKind::kSerial, stmt);
  return stmt;
}

// The box around both.
std::vector<Range> Union(const std::vector<Range>& a, const std::vector<Range>& b) {
  std::vector<Range> both;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const Expr min = loop::Simplify(loop::Min(a[d].min, b[d].min));
    const Expr end = loop::Max(a[d].min + a[d].extent, b[d].min + b[d].extent);
    both.push_back({min, loop::Simplify(end - min)});
  }
  return both;
}

}  // namespace

std::vector<TensorRegion> RegionsNeeded(const te::Tensor& output,
                                        const std::vector<Range>& region) {
  if (region.size() != output.ndim())
    throw InvalidArgument(StrCat("regions needed: ", output.name(), " has ", output.ndim(),
                                 " dimensions; the region has ", region.size()));
  std::unordered_map<const loop::BufferNode*, std::vector<Range>> needed;
  needed[output.buffer().get()] = region;
  const auto need = [&](const loop::Buffer& buffer, const std::vector<Range>& part) {
    const auto [at, is_new] = needed.emplace(buffer.get(), part);
    if (!is_new) at->second = Union(at->second, part);
  };
  std::vector<TensorRegion> result;
  const std::vector<te::Operation> operations = te::PostOrder({output});
  for (auto it = operations.rbegin(); it != operations.rend(); ++it) {
    const te::OperationNode& op = **it;
    std::optional<std::vector<Range>> of_op;
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      const auto found = needed.find(op.outputs[i].get());
      if (found == needed.end()) continue;
      const te::Tensor tensor(*it, static_cast<int>(i));
      if (!(tensor == output)) result.push_back({tensor, found->second});
      if (op.is_compute()) of_op = of_op ? Union(*of_op, found->second) : found->second;
    }
    for (const te::Tensor& input : te::InputsOf(op)) {
      if (!op.is_compute()) {
        need(input.buffer(), WholeRegion(input.buffer()));
      } else if (of_op) {
        const auto read = RegionRead(LoopsOver(op, *of_op), input.buffer(), {});
        if (read) need(input.buffer(), *read);
      }
    }
  }
  return result;
}

std::string Print(const TensorRegion& part) {
  return StrCat(part.tensor.name(), ": ",
                StrJoin(part.region, " x ", [](std::string* out, const Range& range) {
                  StrAppend(out, "[", loop::Print(range.min), ", ",
                            loop::Print(loop::Simplify(range.min + range.extent)), ")");
                }));
}

}  // namespace tenon::schedule
