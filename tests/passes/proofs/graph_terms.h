// What a graph of small tensors computes, as terms of Z3, for all values of its inputs: so that a
// test can prove that a pass keeps it.
//
// Numbers::kBits: integers are bit vectors that wrap around; floats are IEEE 754's, where NaN is
// one value and zeros have signs. Conversions to integers saturate. Numbers::kReals: floats are
// real numbers, so that what differs by rounding alone is equal; integers are whole numbers of any
// size within the range of their type.
//
//   z3::context context;
//   GraphTerms before(context, Numbers::kBits), after(context, Numbers::kBits);
//   solver.add(Differ(before.Of(module), after.Of(pass(module))));   // must be impossible
#ifndef TENON_TESTS_PASSES_PROOFS_GRAPH_TERMS_H_
#define TENON_TESTS_PASSES_PROOFS_GRAPH_TERMS_H_

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include <z3++.h>

#include "tenon/ir/module.h"
#include "tenon/support/ndarray.h"

namespace tenon::passes {

enum class Numbers { kBits, kReals };

struct Terms {
  Shape shape;
  DataType dtype;
  std::vector<z3::expr> elements;  // in row-major order
};

class GraphTerms {
 public:
  GraphTerms(z3::context& context, Numbers numbers) : context_(context), numbers_(numbers) {
    context.set_rounding_mode(z3::RNE);
  }

  // The result of @main. Inputs of one name are the same values in every module. Requires checked
  // types. Throws std::invalid_argument for an operator that it does not know.
  Terms Of(const ir::Module& module);
  // What holds for inputs, and for functions that are known by what defines them.
  const std::vector<z3::expr>& facts() const { return facts_; }
  // What must hold for the terms to be those of the graph: that whole numbers fit the types to
  // which they are cast.
  const std::vector<z3::expr>& obligations() const { return obligations_; }

 private:
  using Function = std::function<z3::expr(const std::vector<z3::expr>&)>;

  const Terms& Value(const ir::Expr& e);
  Terms Compute(const ir::Expr& e);
  Terms Call(const ir::CallNode& call);
  Terms Input(const std::string& name, const Shape& shape, DataType dtype);
  Terms Constant(const NDArray& array);
  Terms Elementwise(const ir::CallNode& call, const Function& function);
  Terms Product(const ir::CallNode& call, bool is_quantized);
  Terms Convolution(const ir::CallNode& call, bool is_quantized);
  Terms Padded(const ir::CallNode& call);
  Terms SumOf(const ir::CallNode& call);
  Terms BatchNorm(const ir::CallNode& call);

  bool IsReal(DataType type) const { return numbers_ == Numbers::kReals && type.is_float(); }
  z3::sort SortOf(DataType type);
  z3::expr Whole(const std::string& digits, DataType type);
  z3::expr Number(double value, DataType type);
  z3::expr Converted(const z3::expr& x, DataType from, DataType to);
  z3::expr Binary(const std::string& op, const z3::expr& a, const z3::expr& b, DataType type);
  z3::expr Unary(const std::string& op, const z3::expr& x, DataType type);
  z3::expr Clipped(const z3::expr& x, double low, double high, DataType type);
  z3::expr Less(const z3::expr& a, const z3::expr& b, DataType type);
  z3::expr Root(const z3::expr& x, DataType type);
  z3::expr IsNan(const z3::expr& x) const;
  // The greater or the lesser; NaN where one is.
  z3::expr Extreme(bool is_greater, const z3::expr& a, const z3::expr& b, DataType type);

  z3::context& context_;
  const Numbers numbers_;
  std::vector<z3::expr> facts_, obligations_;
  std::unordered_map<ir::Expr, Terms, ir::ExprHash> values_;
};

// Whether an element differs.
z3::expr Differ(const Terms& a, const Terms& b);

}  // namespace tenon::passes

#endif  // TENON_TESTS_PASSES_PROOFS_GRAPH_TERMS_H_
