// What all kernels of oneDNN have in common: the engine, argument lists, packing, post-ops and
// running.
//
// Only the adapter's own sources include this; everybody else sees adapter.h.
#ifndef TENON_STRATEGIES_ONEDNN_PRIMITIVE_H_
#define TENON_STRATEGIES_ONEDNN_PRIMITIVE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <dnnl.hpp>

#include "tenon/strategies/onednn/adapter.h"
#include "tenon/strategies/onednn/library.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::strategies::onednn {

constexpr auto kFloat = dnnl::memory::data_type::f32;

const dnnl::engine& Engine();

// One argument of a primitive: a fixed memory, or the call's next buffer, maybe packed first.
struct Argument {
  int id = 0;
  dnnl::memory::desc desc;
  dnnl::memory fixed;              // set when the data is known
  dnnl::reorder pack;              // of one that is packed; null where PackByElement does it
  dnnl::memory::desc buffer_desc;  // what a buffer that is packed holds
  std::size_t packed_offset = 0;   // in the workspace
  bool is_fixed = false;
  bool is_packed = false;  // in each call
};

Argument Buffer(int id, const dnnl::memory::desc& desc);

// Weights whose elements are known when a kernel is made, by the argument's id. What a kernel owns
// may become part of another kernel as it is; other data is copied.
struct Known {
  dnnl::memory memory;
  bool is_owned = false;
};
using Knowns = std::map<int, Known>;
// Adds `data`, in the layout `given`, where it is defined.
void AddKnown(int id, const dnnl::memory::desc& given, const NDArray& data, Knowns* known);

// The weight, in the layout `wanted`: packed now when its elements are known, else in each call
// when the layouts differ.
Argument Weight(int id, const dnnl::memory::desc& given, const dnnl::memory::desc& wanted,
                const Knowns& known);

// The operands of tensor post-ops, which have the result's layout.
void AddTensorOperands(const std::vector<PostOp>& post_ops, const dnnl::memory::desc& result,
                       std::vector<Argument>* arguments);

dnnl::primitive_attr MakeAttr(const std::vector<PostOp>& post_ops,
                              const dnnl::memory::desc& result);

void RequireElements(const NDArray& array, std::int64_t count, std::string_view what,
                     DataType type = Float32);

// A primitive for the number of threads that the thread which makes it may start.
struct Made {
  Chosen chosen;
  std::vector<Argument> arguments;
};
using Maker = std::function<Made(const Knowns& known)>;

// The kernel of the primitive that `make` makes, now, and again for each number of threads that
// calls turn out to have. Refused when oneDNN has no code for the case but its reference code.
MadeKernel MakeKernel(std::string_view what, Maker make, const Knowns& known);

}  // namespace tenon::strategies::onednn

#endif  // TENON_STRATEGIES_ONEDNN_PRIMITIVE_H_
