// A graph of random tensor computations that grows stage by stage: its extents and inputs, and
// terms that read what there is. What is drawn next is up to random_graph.cc. Only it and
// verify/draw_*_stages.cc include this header.
//
//   GraphDraft draft(seed);
//   Term term = draft.RandomTerm(Float32, axes, 2);
#ifndef TENON_VERIFY_DRAW_GRAPH_DRAFT_H_
#define TENON_VERIFY_DRAW_GRAPH_DRAFT_H_

#include <string>
#include <vector>

#include "tenon/te/reduce.h"
#include "tenon/verify/draw/random_expr.h"
#include "tenon/verify/draw/random_graph.h"

namespace tenon::verify {

struct Extent {
  loop::Expr expr;
  std::int64_t value = 0;
};

// An index and the range in which it is known to lie.
struct Index {
  loop::Expr expr;
  Extent extent;
};
std::vector<Index> Axes(const std::vector<loop::Var>& vars, const std::vector<Extent>& shape);
std::vector<loop::Expr> ExprsOf(const std::vector<Extent>& shape);
std::int64_t ElementsOf(const std::vector<Extent>& shape);  // counts empty axes as 1

// A tensor of the graph, and what is known of its elements.
struct Known {
  te::Tensor tensor;
  std::vector<Extent> shape;
  double bound = 0, grain = 0, error = 0;
  bool may_be_special = false;
};

const std::vector<DataType>& Types();

inline constexpr std::int64_t kMaxElements = 4096;

class GraphDraft {
 public:
  explicit GraphDraft(std::uint64_t seed) : random_(seed) {}

  void MakeExtents();
  void AddInput();
  void AddSymbolicInput();  // requires a symbolic extent
  // Adds the results of a stage.
  void Remember(const std::vector<te::Tensor>& tensors, const std::vector<Extent>& shape,
                const std::vector<Term>& terms);

  std::string Name() const;  // of the next stage
  std::vector<Extent> RandomShape(std::int64_t max_elements);
  Term RandomTerm(DataType type, const std::vector<Index>& axes, int depth);

  Random& random() { return random_; }
  RandomGraph& graph() { return graph_; }
  const std::vector<Extent>& extents() const { return extents_; }
  const std::vector<Known>& known() const { return known_; }
  const std::vector<te::Tensor>& last() const { return last_; }
  // Reductions that rows read; both may share a loop.
  std::vector<te::Tensor>& of_rows() { return of_rows_; }

 private:
  void AddInput(std::vector<Extent> shape);
  // An index into a dimension of `extent` elements, and the conditions for it to be inside.
  loop::Expr IndexInto(const Extent& extent, const std::vector<Index>& axes,
                       std::vector<loop::Expr>* conditions);
  loop::Expr Shifted(const loop::Expr& index, const Extent& extent,
                     std::vector<loop::Expr>* conditions);
  Term Read(const Known& source, const std::vector<Index>& axes);
  Term Read(const std::vector<Index>& axes);

  Random random_;
  RandomGraph graph_;
  std::vector<Extent> extents_;
  std::vector<Known> known_;
  std::vector<te::Tensor> last_;  // the outputs of the last stage
  std::vector<te::Tensor> of_rows_;
};

// Integers have no rounding, and wrap around.
void FixIntegers(std::vector<Term>* terms);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_GRAPH_DRAFT_H_
