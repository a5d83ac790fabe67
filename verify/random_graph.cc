#include "tenon/verify/random_graph.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_set>

#include "tenon/loop/visit.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/te/scan.h"
#include "tenon/verify/random_expr.h"
#include "tenon/verify/random_patterns.h"

namespace tenon::verify {
namespace {

using loop::Expr;
using loop::Var;
using te::IterVar;
using te::Tensor;

struct Extent {
  Expr expr;
  std::int64_t value = 0;
};

bool AreSame(const Extent& a, const Extent& b) {
  return a.expr.same_as(b.expr) ||
         (loop::IsConstInt(a.expr, b.value) && loop::IsConstInt(b.expr, a.value));
}

// An index and the range in which it is known to lie.
struct Index {
  Expr expr;
  Extent extent;
};

struct Known {
  Tensor tensor;
  std::vector<Extent> shape;
  double bound = 0, grain = 0, error = 0;
  bool may_be_special = false;
};

const std::vector<DataType>& Types() {
  static const std::vector<DataType>& types =
      *new std::vector<DataType>{Float32, Float32, Float32, Float32, Int32,    Int32,   Int8,
                                 UInt8,   Int64,   Bool,    Float16, BFloat16, Float64, Float64};
  return types;
}

constexpr std::int64_t kMaxElements = 4096;
constexpr std::int64_t kMaxTerms = 60000;
constexpr double kMaxFactor = 4;  // for the magnitudes that patterns read

// Extents, inputs, and terms that read what there is.
class Reader {
 public:
  explicit Reader(std::uint64_t seed) : random_(seed) {}

 protected:
  void MakeExtents() {
    static const std::vector<std::int64_t>& sizes = *new std::vector<std::int64_t>{
        1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 23, 31, 32, 33, 63, 64, 65, 127};
    for (int i = 0; i < 4; ++i) {
      const std::int64_t size = random_.Chance(2) ? 0 : random_.Of(sizes);
      extents_.push_back({Expr(size), size});
    }
    if (!random_.Chance(20)) return;
    const Var n("n");
    const std::int64_t size = random_.Chance(5) ? 0 : random_.Of(sizes);
    graph_.sizes.emplace_back(n, size);
    extents_.push_back({n, size});
    if (random_.Chance(30)) extents_.push_back({n + 2, size + 2});
  }

  std::vector<Extent> RandomShape(std::int64_t max_elements) {
    std::vector<Extent> shape;
    const std::int64_t rank = random_.Chance(5) ? 0 : 1 + random_.Below(3);
    std::int64_t elements = 1;
    for (std::int64_t d = 0; d < rank; ++d) {
      const Extent extent = random_.Of(extents_);
      if (elements * std::max<std::int64_t>(extent.value, 1) > max_elements) continue;
      elements *= std::max<std::int64_t>(extent.value, 1);
      shape.push_back(extent);
    }
    return shape;
  }

  static std::vector<Expr> ExprsOf(const std::vector<Extent>& shape) {
    std::vector<Expr> result;
    for (const Extent& extent : shape) result.push_back(extent.expr);
    return result;
  }

  void AddInput() { AddInput(RandomShape(kMaxElements)); }
  void AddSymbolicInput() {
    for (const Extent& extent : extents_) {
      if (extent.expr.same_as(graph_.sizes[0].first)) return AddInput({extent});
    }
  }
  void AddInput(std::vector<Extent> shape) {
    const DataType type = random_.Of(Types());
    Known input{te::Placeholder(ExprsOf(shape), type, StrCat("A", graph_.inputs.size())),
                std::move(shape)};
    // The bounds of RandomArray.
    input.bound = type.is_float() ? 2 : type.is_bool() ? 1 : 16;
    input.grain = type.is_float() ? 0.25 : 1;
    input.may_be_special = type.is_float() && random_.Chance(12);
    graph_.has_special_values.push_back(input.may_be_special);
    graph_.inputs.push_back(input.tensor);
    known_.push_back(std::move(input));
  }

  // ---- Reading.

  // An index into a dimension of `extent` elements, and the conditions for it to be inside.
  Expr IndexInto(const Extent& extent, const std::vector<Index>& axes,
                 std::vector<Expr>* conditions) {
    std::vector<const Index*> same;
    for (const Index& axis : axes) {
      if (AreSame(axis.extent, extent)) same.push_back(&axis);
    }
    const std::int64_t choice = random_.Below(10);
    if (!same.empty() && choice < 8) {
      const Index& axis = *random_.Of(same);
      if (choice < 6) return axis.expr;
      if (choice == 6) return extent.expr - 1 - axis.expr;
      return Shifted(axis.expr, extent, conditions);
    }
    if (loop::IsConstInt(extent.expr, 1)) return 0;
    if (axes.empty() || extent.value == 0 || choice == 9)
      return Shifted(random_.Below(3), extent, conditions);
    const Index& axis = random_.Of(axes);
    switch (random_.Below(5)) {
      case 0:
        return loop::FloorMod(axis.expr, Guarded(extent, conditions));
      case 1:
        return loop::Min(axis.expr, Guarded(extent, conditions) - 1);
      case 2:
        return Shifted(loop::FloorDiv(axis.expr, 2 + random_.Below(3)), extent, conditions);
      case 3: {  // element of a group
        const Expr group = 2 + random_.Below(4);
        return Shifted(random_.Chance(50) ? loop::FloorMod(axis.expr, group)
                                          : loop::FloorDiv(axis.expr, group) * group,
                       extent, conditions);
      }
      default:
        return Shifted(axis.expr * (1 + random_.Below(3)) - random_.Below(3), extent, conditions);
    }
  }
  // Symbolic extents may be 0.
  static Expr Guarded(const Extent& extent, std::vector<Expr>* conditions) {
    if (loop::IsConstInt(extent.expr, extent.value)) return extent.expr;
    conditions->push_back(Expr(0) < extent.expr);
    return loop::Max(extent.expr, 1);
  }
  Expr Shifted(const Expr& index, const Extent& extent, std::vector<Expr>* conditions) {
    const Expr shifted = index + (random_.Below(5) - 2);
    conditions->push_back(Expr(0) <= shifted);
    conditions->push_back(shifted < extent.expr);
    return shifted;
  }

  Term Read(const Known& source, const std::vector<Index>& axes) {
    std::vector<Expr> indices, conditions;
    for (const Extent& extent : source.shape)
      indices.push_back(IndexInto(extent, axes, &conditions));
    Term term{source.tensor[indices], source.bound, source.grain, source.error,
              source.may_be_special};
    if (conditions.empty()) return term;
    Expr inside = conditions[0];
    for (std::size_t i = 1; i < conditions.size(); ++i) inside = inside && conditions[i];
    return Chosen({inside, 1, 1, 0}, term, RandomConstant(source.tensor.dtype(), random_), true);
  }
  Term Read(const std::vector<Index>& axes) {
    // Late stages read other stages rather than inputs.
    const auto last = static_cast<std::int64_t>(known_.size());
    const std::int64_t first =
        random_.Chance(60) ? std::max<std::int64_t>(0, last - 3) : std::int64_t{0};
    return Read(known_[static_cast<std::size_t>(first + random_.Below(last - first))], axes);
  }

  Term RandomTerm(DataType type, const std::vector<Index>& axes, int depth) {
    const std::int64_t choice = random_.Below(10);
    if (depth == 0 || choice < 2) {
      if (random_.Chance(85)) return ConvertTo(type, Read(axes));
      if (axes.empty() || random_.Chance(60)) return RandomConstant(type, random_);
      const Index& axis = random_.Of(axes);
      return ConvertTo(type, {axis.expr, static_cast<double>(axis.extent.value + 1), 1, 0});
    }
    const Term a = RandomTerm(type, axes, depth - 1);
    if (choice < 5) return RandomUnary(a, random_);
    const Term b = RandomTerm(type, axes, depth - 1);
    if (choice < 9) return RandomBinary(a, b, random_);
    const DataType compared = random_.Chance(50) ? type : random_.Of(Types());
    const Term c = RandomTerm(compared, axes, 0), d = RandomTerm(compared, axes, 0);
    return Chosen(RandomCondition(c, d, random_), a, b, random_.Chance(30));
  }

  Random random_;
  RandomGraph graph_;
  std::vector<Extent> extents_;
  std::vector<Known> known_;
};

class Generator : public Reader {
 public:
  explicit Generator(const GraphPlan& plan) : Reader(plan.seed), plan_(plan) {}

  RandomGraph Make() {
    MakeExtents();
    const std::int64_t inputs = 1 + random_.Below(3);
    for (std::int64_t i = 0; i < inputs; ++i) AddInput();
    if (!graph_.sizes.empty()) AddSymbolicInput();
    Random outputs(random_.Next());
    for (const std::uint64_t seed : plan_.stages) {
      random_ = Random(seed);
      AddStage();
    }
    random_ = outputs;
    ChooseOutputs();
    return std::move(graph_);
  }

 private:
  // ---- Stages.

  std::string Name() { return StrCat("T", known_.size()); }

  static std::vector<Index> Axes(const std::vector<Var>& vars, const std::vector<Extent>& shape) {
    std::vector<Index> axes;
    for (std::size_t d = 0; d < vars.size(); ++d) axes.push_back({vars[d], shape[d]});
    return axes;
  }

  void AddStage() {
    const std::int64_t choice = random_.Below(29);
    if (choice >= 27) return AddUpdate();
    if (choice < 9) return AddElementwise();
    if (choice < 17) return AddReduction();
    if (choice < 22) return AddPattern();
    if (choice == 22) return AddExtern();
    if (choice == 23 && AddScan()) return;
    if (choice >= 24) return AddRows();
    AddElementwise();
  }

  void Remember(const std::vector<Tensor>& tensors, const std::vector<Extent>& shape,
                const std::vector<Term>& terms) {
    for (std::size_t i = 0; i < tensors.size(); ++i)
      known_.push_back({tensors[i], shape, terms[i].bound, terms[i].grain, terms[i].error,
                        terms[i].may_be_special});
    last_ = tensors;
  }

  // Makes a stage with the type and shape that a pattern reads.
  Operand MakeOperand(DataType type, const std::vector<std::int64_t>& sizes, bool special) {
    std::vector<Extent> shape;
    for (const std::int64_t size : sizes) shape.push_back({Expr(size), size});
    Term term;
    const Tensor made = te::ComputeTuple(
        ExprsOf(shape),
        [&](const std::vector<Var>& vars) {
          term = RandomTerm(type, Axes(vars, shape), static_cast<int>(random_.Below(2)));
          if (type.is_float()) term = Within(term, kMaxFactor);
          if (!special) term = Finite(term);
          return std::vector<Expr>{term.value};
        },
        Name())[0];
    Remember({made}, shape, {term});
    return {made, term.bound, term.grain, term.error, term.may_be_special};
  }

  void AddPattern() {
    const Pattern pattern = RandomPattern(
        random_,
        [&](DataType type, const std::vector<std::int64_t>& shape, bool special) {
          return MakeOperand(type, shape, special);
        },
        StrCat("P", known_.size()));
    std::vector<Extent> shape;
    for (const std::int64_t size : pattern.shape) shape.push_back({Expr(size), size});
    std::vector<Term> terms = {pattern.term};
    FixIntegers(&terms);
    Remember({pattern.tensor}, shape, terms);
  }

  void AddExtern() {
    const Known source = random_.Of(known_);
    const int outputs = random_.Chance(30) ? 2 : 1;
    const Term term{loop::Constant(source.tensor.dtype(), 0), source.bound, source.grain,
                    source.error, source.may_be_special};
    Remember(ReorderedByC(source.tensor, outputs, Name()), source.shape,
             std::vector<Term>(static_cast<std::size_t>(outputs), term));
  }

  void AddElementwise() {
    const std::vector<Extent> shape = RandomShape(kMaxElements);
    const std::int64_t outputs = random_.Chance(10) ? 2 : 1;
    std::vector<Term> terms;
    const std::vector<Tensor> made = te::ComputeTuple(
        ExprsOf(shape),
        [&](const std::vector<Var>& vars) {
          std::vector<Expr> body;
          for (std::int64_t i = 0; i < outputs; ++i) {
            terms.push_back(RandomTerm(random_.Of(Types()), Axes(vars, shape),
                                       static_cast<int>(1 + random_.Below(3))));
            body.push_back(terms.back().value);
          }
          return body;
        },
        Name());
    Remember(made, shape, terms);
  }

  void AddReduction() {
    const std::vector<Extent> shape = RandomShape(1024);
    std::int64_t elements = 1;
    for (const Extent& extent : shape) elements *= std::max<std::int64_t>(extent.value, 1);
    std::vector<IterVar> reduced;
    std::vector<Index> indices;
    std::int64_t count = 1;
    const std::int64_t axes = 1 + random_.Below(2);
    for (std::int64_t r = 0; r < axes; ++r) {
      Extent extent = random_.Of(extents_);
      if (elements * count * std::max<std::int64_t>(extent.value, 1) > kMaxTerms)
        extent = {Expr(3), 3};
      count *= extent.value;
      reduced.push_back(te::ReduceAxis(0, extent.expr, StrCat("k", r)));
      indices.push_back({reduced.back().var, extent});
    }
    std::vector<Term> terms;
    const std::vector<Tensor> made = te::ReduceTuple(
        ExprsOf(shape),
        [&](const std::vector<Var>& vars) {
          std::vector<Index> all = Axes(vars, shape);
          all.insert(all.end(), indices.begin(), indices.end());
          return Refined(RandomReduction(all, reduced, count, &terms), Axes(vars, shape), all,
                         &terms);
        },
        Name());
    Remember(made, shape, terms);
  }

  // Sometimes with a condition of the terms, or with initial values.
  te::Reduction Refined(te::Reduction reduction, const std::vector<Index>& data,
                        const std::vector<Index>& all, std::vector<Term>* terms) {
    // The extreme value of no terms is that of the type.
    if (reduction.combiner.name != "sum") return reduction;
    const DataType type = terms->front().value.dtype();
    if (random_.Chance(12)) {
      const Term a = RandomTerm(Int32, all, 0), b = RandomTerm(Int32, all, 0);
      reduction = te::Where(std::move(reduction), RandomCondition(a, b, random_).value);
    }
    if (random_.Chance(12)) {
      const Term start = Finite(ConvertTo(type, RandomTerm(type, data, 1)));
      reduction = te::StartingAt(std::move(reduction), {start.value});
      Term& sum = terms->front();
      sum = Rounded({sum.value, sum.bound + start.bound, std::min(sum.grain, start.grain),
                     sum.error + start.error, sum.may_be_special});
      FixIntegers(terms);
    }
    return reduction;
  }

  // Sums into computed places, of which the first dimension may be the terms' own.
  void AddUpdate() {
    const std::vector<Extent> shape = RandomShape(512);
    Extent terms = random_.Of(extents_);
    const bool keeps_first = shape.size() > 1 && random_.Chance(50);
    if (keeps_first && terms.value * shape[0].value > 2048) terms = {Expr(3), 3};
    const IterVar r = te::ReduceAxis(0, terms.expr, "r");
    const DataType type = random_.Of(std::vector<DataType>{Int32, Int32, Float32, Float64});
    std::vector<Term> sums;
    const Tensor made = te::ReduceTuple(
        ExprsOf(shape),
        [&](const std::vector<Var>& vars) {
          std::vector<Index> all = {{r.var, terms}};
          if (keeps_first) all.push_back({vars[0], shape[0]});
          const Term x = BeforeSum(RandomTerm(type, all, 1), terms.value);
          sums = {SumOf(x, terms.value)};
          FixIntegers(&sums);
          std::vector<Expr> target;
          for (std::size_t d = 0; d < shape.size(); ++d) {
            Expr index = te::Cast(Int64, RandomTerm(Int32, all, 1).value);
            if (random_.Chance(70)) index = loop::FloorMod(index, shape[d].value + 3) - 1;
            target.push_back(d == 0 && keeps_first ? Expr(vars[0]) : index);
          }
          te::Reduction sum = te::Sum(x.value, {r});
          if (!target.empty()) sum = te::Into(std::move(sum), target);
          return Refined(std::move(sum), Axes(vars, shape), all, &sums);
        },
        Name())[0];
    Remember({made}, shape, sums);
  }

  te::Reduction RandomReduction(const std::vector<Index>& axes, const std::vector<IterVar>& over,
                                std::int64_t count, std::vector<Term>* terms) {
    DataType type = random_.Of(Types());
    const int depth = static_cast<int>(random_.Below(3));
    // The extreme value of no elements is that of the type, with which arithmetic overflows.
    const std::int64_t choice = count == 0 ? random_.Below(4) : random_.Below(9);
    if (choice == 0 || (type.is_bool() && choice < 6)) {
      const Term x = ConvertTo(Bool, RandomTerm(type, axes, depth));
      *terms = {x};
      return random_.Chance(50) ? te::Any(x.value, over) : te::All(x.value, over);
    }
    if (type.is_bool()) type = Float32;
    Term x = RandomTerm(type, axes, depth);
    if (choice <= 3) {
      x = BeforeSum(x, count);
      *terms = {SumOf(x, count)};
      FixIntegers(terms);
      return te::Sum(x.value, over);
    }
    if (choice == 4) {  // with magnitudes up to 1, the product is at most 1
      x = Within(Finite(x), 1);
      const double n = static_cast<double>(count);
      *terms = {{x.value, 1, 0, n * (x.error + RoundingError(type))}};
      FixIntegers(terms);
      return te::Prod(x.value, over);
    }
    if (choice == 5 || x.grain == 0) {
      *terms = {x};
      return random_.Chance(50) ? te::Max(x.value, over) : te::Min(x.value, over);
    }
    x = Finite(x);
    if (choice <= 7) {
      const DataType index_type = random_.Chance(50) ? Int32 : Int64;
      Term index{te::Cast(index_type, FlatIndex(over)), static_cast<double>(count), 1, 0};
      *terms = {index, x};
      const bool last = random_.Chance(50);
      return random_.Chance(50) ? te::ArgMax(index.value, x.value, over, last)
                                : te::ArgMin(index.value, x.value, over, last);
    }
    return SumAndMax(x, over, count, terms);
  }

  // A reduction, and rows that read it at their own leading indices.
  void AddRows() {
    AddReduction();
    const Known sum = known_.back();
    std::vector<Extent> shape = sum.shape;
    std::int64_t elements = 1;
    for (const Extent& extent : shape) elements *= std::max<std::int64_t>(extent.value, 1);
    const Extent columns = random_.Of(extents_);
    if (elements * columns.value <= kMaxElements) shape.push_back(columns);
    Term term;
    const std::vector<Tensor> made = te::ComputeTuple(
        ExprsOf(shape),
        [&](const std::vector<Var>& vars) {
          const std::vector<Expr> row(vars.begin(),
                                      vars.begin() + static_cast<std::ptrdiff_t>(sum.shape.size()));
          const DataType type = random_.Of(Types());
          const Term value{sum.tensor[row], sum.bound, sum.grain, sum.error, sum.may_be_special};
          term =
              RandomBinary(RandomTerm(type, Axes(vars, shape), 1), ConvertTo(type, value), random_);
          return std::vector<Expr>{term.value};
        },
        Name());
    Remember(made, shape, {term});
    of_rows_.push_back(sum.tensor);
  }

  static Expr FlatIndex(const std::vector<IterVar>& over) {
    Expr flat = over[0].var;
    for (std::size_t r = 1; r < over.size(); ++r) flat = flat * over[r].extent + over[r].var;
    return flat;
  }

  te::Reduction SumAndMax(const Term& term, const std::vector<IterVar>& over, std::int64_t count,
                          std::vector<Term>* terms) {
    const DataType type = term.value.dtype();
    const Term x = BeforeSum(term, count);
    const te::Combiner combiner =
        te::MakeCombiner("sum_and_max", {type, type},
                         [](const std::vector<Var>& a, const std::vector<Var>& b) {
                           return std::vector<Expr>{a[0] + b[0], loop::Max(a[1], b[1])};
                         },
                         {te::Cast(type, 0), te::Cast(type, type.is_uint() ? 0 : -100)});
    *terms = {SumOf(x, count), {x.value, std::max(x.bound, 100.0), x.grain, x.error}};
    FixIntegers(terms);
    return te::Reduce(combiner, {x.value, x.value}, over);
  }

  static void FixIntegers(std::vector<Term>* terms) {
    for (Term& term : *terms) {
      const DataType type = term.value.dtype();
      if (type.is_float()) continue;
      const double highest = std::ldexp(1, type.is_uint() ? type.bits() : type.bits() - 1);
      term = {term.value, term.grain == 0 ? highest : std::min(term.bound, highest), 1, 0, false};
    }
  }

  bool AddScan() {
    std::vector<Extent> shape = RandomShape(kMaxElements / 8);
    std::vector<Extent> times;
    for (const Extent& extent : extents_) {
      if (extent.value > 0 && extent.value <= 33 && loop::IsConstInt(extent.expr, extent.value))
        times.push_back(extent);
    }
    if (times.empty()) return false;
    const Extent time = random_.Of(times);
    const std::int64_t lag = 1 + random_.Below(std::min<std::int64_t>(time.value, 3));
    const bool is_mirrored = random_.Chance(30);
    std::vector<Extent> first_shape = shape;
    first_shape.insert(first_shape.begin(), {Expr(lag), lag});
    shape.insert(shape.begin(), time);
    const DataType type = random_.Chance(70) ? Float32 : Int32;
    const std::string name = Name();
    Term first, step;
    const Tensor init = te::ComputeTuple(
        ExprsOf(first_shape),
        [&](const std::vector<Var>& vars) {
          first = RandomTerm(type, Axes(vars, first_shape), 1);
          return std::vector<Expr>{first.value};
        },
        name + "_init")[0];
    const Tensor state = te::Placeholder(ExprsOf(shape), type, name + "_state");
    const Tensor update = te::ComputeTuple(
        ExprsOf(shape),
        [&](const std::vector<Var>& vars) {
          std::vector<Expr> before(vars.begin(), vars.end());
          before[0] = before[0] - lag;
          if (is_mirrored && before.size() > 1)
            before.back() = shape.back().expr - 1 - before.back();
          step = RandomTerm(type, Axes(vars, shape), 1);
          const Expr old = state[before];
          return std::vector<Expr>{type.is_float() ? old * 0.5F + step.value : old + step.value};
        },
        name + "_update")[0];
    const Tensor result = te::Scan({init}, {update}, {state}, name)[0];
    Term term{
        step.value, first.bound + 2 * step.bound, 0,
        first.error + 2 * step.error + 4 * RoundingError(type) * (first.bound + 2 * step.bound),
        first.may_be_special || step.may_be_special};
    if (!type.is_float()) term = {step.value, std::ldexp(1, 31), 1, 0};
    if (random_.Chance(60)) {
      Remember({result}, shape, {term});
      return true;
    }
    // Others can read only one of the last steps.
    const std::int64_t at = time.value - 1 - random_.Below(std::min<std::int64_t>(time.value, 3));
    shape.erase(shape.begin());
    const Tensor late = te::Compute(
        ExprsOf(shape),
        [&](const std::vector<Var>& vars) {
          std::vector<Expr> indices(vars.begin(), vars.end());
          indices.insert(indices.begin(), at);
          return result[indices];
        },
        name + "_late");
    Remember({late}, shape, {term});
    return true;
  }

  // ---- Outputs.
  void ChooseOutputs() {
    std::vector<Tensor> outputs;
    if (last_.empty()) AddElementwise();
    outputs.push_back(random_.Of(last_));
    for (const Known& known : known_) {
      if (known.tensor.op()->is_placeholder() || known.tensor == outputs[0]) continue;
      const bool is_of_rows =
          std::find(of_rows_.begin(), of_rows_.end(), known.tensor) != of_rows_.end();
      if (random_.Chance(is_of_rows ? 60 : 15)) outputs.push_back(known.tensor);
    }
    for (const Tensor& output : outputs) {
      for (const Known& known : known_) {
        if (known.tensor == output)
          graph_.tolerances.push_back(known.error > 0 ? 8 * known.error + 1e-30 : 0);
      }
    }
    graph_.outputs = std::move(outputs);
  }

  const GraphPlan& plan_;
  std::vector<Tensor> last_;     // the outputs of the last stage
  std::vector<Tensor> of_rows_;  // reductions that rows read; both may share a loop
};

}  // namespace

GraphPlan PlanRandomGraph(std::uint64_t seed) {
  Random random(seed);
  GraphPlan plan{.seed = random.Next()};
  const std::int64_t stages = 1 + random.Below(4);
  for (std::int64_t i = 0; i < stages; ++i) plan.stages.push_back(random.Next());
  return plan;
}

RandomGraph MakeRandomGraph(const GraphPlan& plan) { return Generator(plan).Make(); }

}  // namespace tenon::verify
