// What fusion around reductions has to know of a group, and the rule by which two groups may become
// one kernel that is never slower than both.
#ifndef TENON_PASSES_FUSION_COST_H_
#define TENON_PASSES_FUSION_COST_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tenon/passes/fusion_graph.h"
#include "tenon/support/ndarray.h"

namespace tenon::passes {

struct GroupCost {
  int calls = 0;
  bool reduces = false;  // holds a reduction, or a normalisation of rows
  bool heavy = false;    // holds a convolution, a matrix product, a pooling
  bool opaque = false;   // is no kernel of ours, or of unknown shapes
  bool gathers = false;  // moves elements: transpositions, slices, concatenations
  bool views = true;     // reshapes and nothing else
  // Leading axes of the result that all members share, index for index.
  Shape rows;
  int results = 1;            // values that leave the group
  Shape result_shape;         // of the last of them
  std::int64_t elements = 0;  // of the largest member
  std::int64_t bytes = 0;     // of the largest member

  // Of what one node adds; members are joined by Add.
  static GroupCost OfNode(const FusionNode& node);
  // Of both, where edges between them share `axes` leading axes.
  void Add(const GroupCost& other, std::size_t axes);
};

// By root of `root` (by node the group's root, its last node) what the group costs.
std::vector<GroupCost> CostsOf(const std::vector<FusionNode>& nodes, const std::vector<int>& root);

// Leading axes that the edges from a node to those consumers share that `is_reader` names.
std::size_t AxesInto(const FusionNode& node, const std::vector<FusionNode>& nodes,
                     const std::function<bool(int consumer)>& is_reader);

struct Refusal {
  std::string reason;
  std::string hint;
};

// Whether a producer and a consumer, of which one reduces, can share a kernel. `axes`: the leading
// axes that the edges between them share.
std::optional<Refusal> RefuseAroundReduction(const GroupCost& producer, const GroupCost& consumer,
                                             std::size_t axes);

// Whether they can when the producer's value is a result of the kernel as well. When neither
// reduces, results have one shape; otherwise theirs begin with the rows that they share.
std::optional<Refusal> RefuseSecondResult(const GroupCost& producer, const GroupCost& consumer,
                                          std::size_t axes);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FUSION_COST_H_
