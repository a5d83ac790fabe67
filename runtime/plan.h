// The plan of a run: what is computed in which order, and which values share storage.
//
// A plan is a list of nodes in execution order. An input or constant node has one output and no
// kernel; a kernel node reads outputs of earlier nodes and makes its own. Every output ("entry")
// has a shape, an element type and a place: a storage and an offset in it. The JSON form is that of
// the graph executor that Tenon's users know: nodes, arg_nodes, heads, node_row_ptr, and attrs with
// dltype, device_index, storage_id and shape. It also has storage_offset (in bytes) where one is
// not 0.
//
// The numbers of a plan with variables (`symbols`) are those of an example, for which its storage
// is assigned. What they are for all values stands beside them, as expressions;
// runtime/symbolic_plan.h makes a plan for given values.
//
//   Plan plan = ...;  AssignStorage(&plan);  std::string json = ToGraphJson(plan);
#ifndef TENON_RUNTIME_PLAN_H_
#define TENON_RUNTIME_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tenon/support/device.h"
#include "tenon/support/dim.h"
#include "tenon/support/extent_condition.h"
#include "tenon/support/hash.h"
#include "tenon/support/ndarray.h"

namespace tenon::runtime {

// Output `output` of node `node`.
struct EntryRef {
  int node = 0;
  int output = 0;
  friend bool operator==(const EntryRef&, const EntryRef&) = default;
};

struct Entry {
  Shape shape;
  DataType dtype;
  int storage_id = -1;
  Device device = {};
  std::size_t offset = 0;         // bytes from the storage's start, once assigned
  std::vector<Dim> extents = {};  // with variables: what `shape` is

  // The shape, with expressions where there are variables.
  std::vector<Dim> dims() const {
    return extents.empty() ? std::vector<Dim>(shape.begin(), shape.end()) : extents;
  }
  // Throws InvalidArgument for a value too large for any memory.
  std::size_t bytes() const { return NumBytes(shape, dtype); }
};

enum class NodeKind {
  kInput,     // given at each run
  kConstant,  // fixed at compile time
  kKernel,    // computed
  kView,      // parts of the first input, maybe under other shapes; share its storage
  kJoin,      // the inputs one after the other: their producers write into its storage
  kCopy,      // the input on another device
};

// Whether a run writes the outputs of such nodes.
constexpr bool IsComputed(NodeKind kind) {
  return kind == NodeKind::kKernel || kind == NodeKind::kCopy;
}

// Whether the outputs of such nodes exist before a run begins.
constexpr bool IsGiven(NodeKind kind) {
  return kind == NodeKind::kInput || kind == NodeKind::kConstant;
}

struct Node {
  NodeKind kind = NodeKind::kKernel;
  std::string name;           // unique in the plan
  std::string function_name;  // of a kernel: nodes that run the same code share it
  std::uint64_t hash = 0;     // structural hash of the fused function
  int kernel = -1;            // index among the executable's kernels
  int constant = -1;          // index among the executable's constants
  std::vector<EntryRef> inputs;
  std::vector<Entry> outputs;
  std::vector<std::size_t> offsets;  // of a view, in bytes: where each output begins in the input
  std::vector<Dim> begins;           // with variables: what `offsets` are
  std::vector<Dim> arguments;        // with variables: the extents that a kernel is called with
  // What it computes of the model, for people: "conv1 (Conv)" of ONNX, "model.relay:3:7" of a text.
  std::vector<std::string> origins;
};

// A result whose extent along an axis is known only at run time. Only its first elements count;
// another result says how many.
struct RunTimeExtent {
  std::size_t result = 0;  // among the heads
  std::size_t axis = 0;
  std::size_t count = 0;  // among the heads: one element of int64
};

struct Plan {
  std::vector<Node> nodes;
  std::vector<EntryRef> heads;              // the results, then the counts of extents
  std::vector<RunTimeExtent> extents;       // each has a count of its own
  std::vector<std::size_t> storage_bytes;   // by storage id, once assigned
  std::vector<std::string> symbols;         // the variables of its extents
  std::vector<ExtentCondition> conditions;  // on their values; for others it is wrong

  const Entry& entry(EntryRef ref) const {
    return nodes[static_cast<std::size_t>(ref.node)].outputs[static_cast<std::size_t>(ref.output)];
  }
};

// Assigns storage by liveness: a value's storage is free again after its last reader. Inputs and
// constants never share storage, a result is never overwritten, and a node never writes over its
// own inputs. Views and the inputs of joins lie where their owners are (runtime/owners.h). Values
// on different devices do not share. Throws InvalidArgument when a value, or all storages together,
// take more bytes than an int64 counts.
void AssignStorage(Plan* plan);
// Places values of other sizes in the storages that are assigned, which become as large as they
// need to be. Throws as above.
void PlaceInStorage(Plan* plan);

std::string ToGraphJson(const Plan& plan);
using tenon::HashText;  // as graph JSON has hashes

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_PLAN_H_
