// Reductions over axes.
#include "tenon/te/reduce.h"

#include "tenon/loop/visit.h"
#include "tenon/ops/reduce/reduce_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Reduction;
using te::Tensor;
using te::Var;

// How a result element reads the input: kept axes from the result, reduced ones from `axes`.
struct Reading {
  std::vector<IterVar> axes;
  std::vector<std::optional<std::size_t>> result_axis;  // by input axis; none when reduced
  std::vector<Expr> extents;                            // of the reduced axes

  template <typename AttrsType>
  Reading(const Tensor& x, const AttrsType& attrs) {
    const std::vector<bool> reduced = ops::ReducedAxes(attrs.axis, attrs.exclude, x.ndim());
    std::size_t next = 0;
    for (std::size_t i = 0; i < x.ndim(); ++i) {
      if (!reduced[i]) {
        result_axis.emplace_back(next++);
        continue;
      }
      result_axis.emplace_back();
      if (attrs.keepdims) ++next;
      axes.push_back(te::ReduceAxis(0, x.shape()[i], StrCat("k", i)));
      extents.push_back(x.shape()[i]);
    }
  }

  // How many elements are joined into one. No array can have more than int64 holds. Nothing if the
  // number is not known.
  std::optional<std::int64_t> Count() const {
    std::int64_t count = 1;
    for (const Expr& extent : extents) {
      const auto* number = extent.As<loop::IntImmNode>();
      if (number == nullptr) return std::nullopt;
      if (__builtin_mul_overflow(count, number->value, &count)) count = INT64_MAX;
    }
    return count;
  }

  std::vector<Expr> Indices(const std::vector<Var>& i) const {
    std::vector<Expr> indices;
    std::size_t next = 0;
    for (const auto& kept : result_axis) {
      if (kept) {
        indices.emplace_back(i[*kept]);
      } else {
        indices.emplace_back(axes[next++].var);
      }
    }
    return indices;
  }
};

using Reducer = Reduction (*)(const Expr& source, std::vector<IterVar> axes);

// Reduces in elements of `type`.
Tensor Reduce(const TeCall& call, const Reading& reading, Reducer reducer, const char* name,
              DataType type) {
  const auto element = [&](const std::vector<Var>& i) {
    return te::Cast(type, call.input(0)[reading.Indices(i)]);
  };
  if (reading.axes.empty()) return te::Compute(call.te_shape(), element, name);
  return te::Compute(
      call.te_shape(), [&](const std::vector<Var>& i) { return reducer(element(i), reading.axes); },
      name, "comm_reduce");
}

// `x` / (the elements joined into one - `less`) as elements of the call's type.
Tensor DividedBy(const TeCall& call, const Tensor& x, const Reading& reading, std::int64_t less,
                 const char* name) {
  const std::optional<std::int64_t> number = reading.Count();
  const Expr count = number ? te::Cast(x.dtype(), static_cast<double>(*number - less))
                            : te::Cast(x.dtype(), ProductOf(reading.extents) - less);
  return te::Compute(
      x.shape(),
      [&](const std::vector<Var>& i) { return te::Cast(call.dtype(), x[ToExprs(i)] / count); },
      name);
}

std::vector<Tensor> Mean(const TeCall& call) {
  const Tensor& x = call.input(0);
  const Reading reading(x, call.attrs.As<ops::ReduceAttrs>());
  const DataType wide = MeanType(x.dtype(), reading.Count().value_or(INT64_MAX));
  return {DividedBy(call, Reduce(call, reading, te::Sum, "mean_sum", wide), reading, 0, "mean")};
}

std::vector<Tensor> Variance(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::VarianceAttrs>();
  const Tensor& x = call.input(0);
  const Tensor& mean = call.input(1);
  const Reading reading(x, attrs);
  // A deviation has one bit more than the elements, and its square twice as many.
  const DataType wide =
      MeanType(x.dtype(), reading.Count().value_or(INT64_MAX), 2 * (x.dtype().bits() + 1));
  const Tensor squares = te::Compute(
      x.shape(),
      [&](const std::vector<Var>& i) {
        const Expr deviation =
            te::Cast(wide, x[ToExprs(i)]) - te::Cast(wide, BroadcastRead(mean, i));
        return deviation * deviation;
      },
      "squared_deviation");
  const std::vector<Tensor> inputs = {squares};
  const TeCall of_squares{call.attrs, inputs, call.result, call.target, nullptr, call.symbols};
  return {DividedBy(call, Reduce(of_squares, reading, te::Sum, "variance_sum", wide), reading,
                    attrs.unbiased ? 1 : 0, "variance")};
}

// The place of an element within the reduced axes, row-major.
Expr PlaceIn(const Reading& reading) {
  Expr place = 0;
  for (std::size_t r = 0; r < reading.axes.size(); ++r)
    place = place * reading.extents[r] + reading.axes[r].var;
  return loop::Cast(Int32, place);
}

std::vector<Tensor> ArgReduce(const TeCall& call, bool is_max) {
  const auto& attrs = call.attrs.As<ops::ArgReduceAttrs>();
  const Tensor& x = call.input(0);
  const Reading reading(x, attrs);
  const char* name = is_max ? "argmax" : "argmin";
  // Without axes, each element is the extreme of itself.
  if (reading.axes.empty())
    return {te::Compute(
        call.te_shape(), [](const std::vector<Var>&) { return te::Cast(Int32, 0); }, name)};
  const std::vector<Tensor> pair = te::ReduceTuple(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        const auto reducer = is_max ? te::ArgMax : te::ArgMin;
        return reducer(PlaceIn(reading), x[reading.Indices(i)], reading.axes,
                       attrs.select_last_index);
      },
      is_max ? "argmax_pair" : "argmin_pair");
  return {te::Compute(
      call.te_shape(), [&](const std::vector<Var>& i) { return pair[0][ToExprs(i)]; }, name)};
}

std::vector<Tensor> CollapseSum(const TeCall& call) {
  const Tensor& x = call.input(0);
  const std::vector<Expr> to = call.te_shape();
  const std::size_t extra = x.ndim() - to.size();
  std::vector<IterVar> axes;
  std::vector<Expr> sources(x.ndim());
  for (std::size_t i = 0; i < x.ndim(); ++i) {
    if (i >= extra && loop::StructuralEqual(to[i - extra], x.shape()[i])) continue;
    if (i >= extra && !IsOne(to[i - extra]))
      throw Unimplemented("an extent is not known to be that of the sum");
    axes.push_back(te::ReduceAxis(0, x.shape()[i], StrCat("k", i)));
    sources[i] = axes.back().var;
  }
  const auto read = [&](const std::vector<Var>& i) {
    std::vector<Expr> indices = sources;
    for (std::size_t d = extra; d < x.ndim(); ++d) {
      if (!indices[d].defined()) indices[d] = i[d - extra];
    }
    return x[indices];
  };
  if (axes.empty()) return {te::Compute(call.te_shape(), read, "collapse_sum")};
  return {te::Compute(
      call.te_shape(), [&](const std::vector<Var>& i) { return te::Sum(read(i), axes); },
      "collapse_sum", "comm_reduce")};
}

}  // namespace

void AttachReduceComputes(ops::OpRegistry& registry) {
  struct Row {
    const char* name;
    Reducer reducer;
  };
  for (const Row& row : {Row{"sum", te::Sum}, Row{"prod", te::Prod}, Row{"max", te::Max},
                         Row{"min", te::Min}, Row{"all", te::All}, Row{"any", te::Any}}) {
    registry.Definition(row.name).SetColumn(TeCompute{[row](const TeCall& call) {
      const Reading reading(call.input(0), call.attrs.As<ops::ReduceAttrs>());
      return std::vector<Tensor>{
          Reduce(call, reading, row.reducer, row.name, call.input(0).dtype())};
    }});
  }
  registry.Definition("mean").SetColumn(TeCompute{Mean});
  registry.Definition("variance").SetColumn(TeCompute{Variance});
  registry.Definition("argmax").SetColumn(
      TeCompute{[](const TeCall& call) { return ArgReduce(call, true); }});
  registry.Definition("argmin").SetColumn(
      TeCompute{[](const TeCall& call) { return ArgReduce(call, false); }});
  for (const char* name : {"collapse_sum_like", "collapse_sum_to"})
    registry.Definition(name).SetColumn(TeCompute{CollapseSum});
}

}  // namespace tenon::strategies
