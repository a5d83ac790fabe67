// Building blocks of the dataflow primitives. Only files inside schedule/ include this header.
#ifndef TENON_SCHEDULE_REWRITE_H_
#define TENON_SCHEDULE_REWRITE_H_

#include <functional>
#include <string>
#include <vector>

#include "tenon/schedule/relation.h"
#include "tenon/te/tensor.h"

namespace tenon::schedule {

// Whether `op` reads the buffer.
bool Reads(const te::OperationNode& op, const loop::Buffer& buffer);

// `op` with every read of `buffer` replaced by what `read` gives for its indices. Axes and output
// buffers stay, so loops and readers of `op` need not know.
te::Operation WithReads(const te::OperationNode& op, const loop::Buffer& buffer,
                        const std::function<loop::Expr(const std::vector<loop::Expr>&)>& read);

// An operation of that name over new axes of these extents, with new output buffers of the same
// types as those of `op`. Its body is left to the caller.
struct NewOperation {
  te::OperationNode* node;
  te::Operation handle;  // owns the node
};
NewOperation NewLike(const te::OperationNode& op, std::string name,
                     const std::vector<te::IterVar>& axes);

// Copies what `from` computes, over `reduce_axes`, with these values for its axes.
void CopyReduction(const te::OperationNode& from, const std::vector<te::IterVar>& reduce_axes,
                   const ByVar& values, te::OperationNode* to);
// The axes of an operation that computes every element at its own place.
std::vector<te::IterVar> PlainAxes(std::vector<te::IterVar> axes);

// An axis over [0, extent) with a variable of its own.
te::IterVar FreshAxis(const std::string& name, const loop::Expr& extent, bool is_reduce);

// Output `i` of `op` at the indices.
loop::Expr ReadOutput(const te::Operation& op, std::size_t i, std::vector<loop::Expr> indices);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_REWRITE_H_
