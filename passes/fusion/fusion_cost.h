// What fusion around reductions must know about a group, and the rule by which two groups may
// become one kernel that is never slower than both.
#ifndef TENON_PASSES_FUSION_FUSION_COST_H_
#define TENON_PASSES_FUSION_FUSION_COST_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tenon/passes/fusion/fusion_graph.h"
#include "tenon/passes/fusion/fusion_report.h"
#include "tenon/support/ndarray.h"

namespace tenon::passes {

struct GroupCost {
  int calls = 0;
  bool reduces = false;  // holds a reduction, or a normalisation of rows
  bool heavy = false;    // holds a convolution, a matrix product, a pooling
  bool opaque = false;   // not a kernel of ours, or of unknown shapes
  bool gathers = false;  // moves elements: transpositions, slices, concatenations
  bool views = true;     // only reshapes
  // Leading axes of the result that all members share, index by index.
  Shape rows;
  int results = 1;            // values that leave the group
  Shape result_shape;         // of the last of them
  std::int64_t elements = 0;  // of the largest member
  std::int64_t bytes = 0;     // of the largest member

  // The cost of one node; Add joins members.
  static GroupCost OfNode(const FusionNode& node);
  // Adds the cost of `other`, where the edges in between share `axes` leading axes.
  void Add(const GroupCost& other, std::size_t axes);
};

// What each group costs, by root. `root` gives the root of each node's group, its last node.
std::vector<GroupCost> CostsOf(const std::vector<FusionNode>& nodes, const std::vector<int>& root);

// The leading axes that are shared by all edges from a node to the consumers for which `is_reader`
// holds.
std::size_t AxesInto(const FusionNode& node, const std::vector<FusionNode>& nodes,
                     const std::function<bool(int consumer)>& is_reader);

// Why a producer and a consumer, one of which reduces, cannot share a kernel; nothing when they
// can. `axes` are the leading axes that the edges between them share, `row_bytes` those of
// FuseOptions.
std::optional<Refusal> RefuseAroundReduction(const GroupCost& producer, const GroupCost& consumer,
                                             std::size_t axes, std::int64_t row_bytes);

// The same when the producer's value is also a result of the kernel. When neither reduces, results
// must have one shape; else their shapes must begin with the rows that they share.
std::optional<Refusal> RefuseSecondResult(const GroupCost& producer, const GroupCost& consumer,
                                          std::size_t axes, std::int64_t row_bytes);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FUSION_FUSION_COST_H_
