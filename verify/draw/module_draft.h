// A module that grows call by call: its values, what they are, and what calls may be added. What is
// drawn next is up to random_module.cc. Only it and verify/draw/module_drawers.h include this
// header.
//
//   ModuleDraft draft(seed);
//   draft.TryToKeep([&] { return ops::Relu(draft.Some()); });
//   RandomModule module = draft.Finish();
#ifndef TENON_VERIFY_DRAW_MODULE_DRAFT_H_
#define TENON_VERIFY_DRAW_MODULE_DRAFT_H_

#include <functional>
#include <unordered_map>
#include <vector>

#include "tenon/ir/visit.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/draw/random_module.h"
#include "tenon/verify/interpret.h"

namespace tenon::verify {

enum class ModuleKind {
  kAny,
  kImages,
  kEdges,       // extents of 0 and around vectors, integers near the ends of their types
  kProducts,    // of matrices that threads share and weights that other calls read, too
  kStatistics,  // values beside their own reductions, as in normalisations
};

class ModuleDraft {
 public:
  // With the first parameters.
  explicit ModuleDraft(std::uint64_t seed);

  Random& random() { return random_; }
  ModuleKind kind() const { return kind_; }
  FloatValues floats() const { return floats_; }
  // For what only modules of special floats draw, so that others stay what they were.
  Random& special_random() { return special_random_; }

  const Shape& ShapeOf(const ir::Expr& e);
  static DataType TypeOf(const ir::Expr& e) {
    return e.checked_type().As<ir::TensorTypeNode>()->dtype;
  }
  // An array for a leaf; floats above zero, without special ones, if `positive`.
  NDArray Draw(const Shape& shape, DataType type, bool positive);
  // A new parameter or constant.
  ir::Expr Leaf(const Shape& shape, DataType type, bool positive = false);
  // A new parameter of a few integers, many of them at the ends of their type.
  ir::Expr LargeIntegers(DataType type);
  // A constant, or else a parameter, that calls after this one may read, too.
  ir::Expr Weight(const Shape& shape);
  // A value; the last one more often than those before it.
  const ir::Expr& Some() { return random_.Chance(50) ? values_.back() : random_.Of(values_); }
  // One that broadcasts to the shape, of another shape; throws InvalidArgument where none is found.
  const ir::Expr& SomeWithin(const Shape& shape, DataType type);
  // One of this rank and type; throws InvalidArgument where none is found.
  const ir::Expr& SomeOf(std::size_t rank, DataType type);
  // One of this shape and type, or a new leaf.
  ir::Expr OfShape(const Shape& shape, DataType type);
  // Throws InvalidArgument for a scalar.
  std::int64_t SomeAxis(const ir::Expr& e);
  // Adds the call that `draw` gives. Answers false, and takes back what it added, where drawing or
  // checking the call throws a user's error; throws internal ones.
  bool TryToKeep(const std::function<ir::Expr()>& draw);
  // The module, with some values as its results.
  RandomModule Finish();

 private:
  // The same of other constants, so that calls of one form differ in their weights alone; null
  // where these do not fit.
  ir::Expr TwinOf(const ir::Expr& body);
  // The results in a tuple where there are several; one tuple may stand in another.
  ir::Expr BodyOf(const std::vector<ir::Expr>& results);
  // Around nothing, and around the widths of vectors.
  Shape EdgeShape();
  void AddFirstInputs();
  // Adds a call if it has a type and valid values.
  void Keep(const ir::Expr& call);
  // The values of the graph that a call reads.
  std::vector<ir::Expr> ValuesIn(const ir::Expr& call);
  static ir::Expr WithTypes(const ir::Expr& body, const ir::ExprMap& values);
  GraphValue ValueOf(const ir::Expr& typed);
  // Shifts of integers have results for some values only. Passes may divide in other
  // ways, and cast in other places, than the interpreter, except where only edges are drawn.
  void CheckDefined(const ir::Expr& typed);
  void CheckSize(std::int64_t elements) const;
  void CheckFits(const NDArray& array) const;

  Random random_, special_random_;
  const FloatValues floats_;
  const ModuleKind kind_;
  std::vector<ir::Expr> params_;
  std::vector<NDArray> inputs_;
  std::vector<ir::Expr> values_;  // of the graph; all are tensors
  GraphValues known_;
  std::unordered_map<ir::Expr, Shape, ir::ExprHash> shapes_;
};

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_MODULE_DRAFT_H_
