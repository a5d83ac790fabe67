// The tensor expression of an operator: a column of its registry entry.
//
// `make` gets the operator's attributes, its inputs (tuples flattened), its static result type and
// the target, and gives one tensor, or one per field for a tuple result. Kernels are made on
// several threads, so it may be called by several at once. Where an operator can be computed in
// several ways, each is a row of its table (te_forms.h chooses among them).
//
//   registry.Definition("exp").SetColumn(TeCompute{...});
#ifndef TENON_STRATEGIES_TE_COMPUTE_H_
#define TENON_STRATEGIES_TE_COMPUTE_H_

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ir/type.h"
#include "tenon/ops/ints.h"
#include "tenon/ops/registry.h"
#include "tenon/strategies/choice/candidate.h"
#include "tenon/strategies/config.h"
#include "tenon/strategies/lower/prepare.h"
#include "tenon/strategies/lower/symbol_vars.h"
#include "tenon/strategies/planned_extent.h"
#include "tenon/support/target.h"
#include "tenon/te/tensor.h"

namespace tenon::strategies {

struct TeCall {
  const attrs::Attrs& attrs;
  const std::vector<te::Tensor>& inputs;
  const ir::Type& result;
  const Target& target;
  Preparer* preparer = nullptr;            // null where nothing is known to be constant
  SymbolVars* symbols = nullptr;           // null where all extents are numbers
  std::vector<ir::Type> input_types = {};  // of `inputs`
  // Set if the call takes a form that may ask for its choices; else null.
  Config* config = nullptr;
  // Whether sums of floats have one order, whatever the form and the target.
  bool keeps_order = false;

  // Throws InvalidArgument where there are fewer.
  const te::Tensor& input(std::size_t i) const;
  bool IsConstant(std::size_t i) const {
    return preparer != nullptr && preparer->IsConstant(inputs[i]);
  }
  // `tensor`, which is made when the kernel is compiled if it depends on constants alone.
  te::Tensor Prepared(const te::Tensor& tensor) const {
    return preparer == nullptr ? tensor : preparer->Prepare(tensor);
  }
  // The extents of an input as its type gives them, and one of them as an expression.
  const std::vector<Dim>& DimsOf(std::size_t i) const;
  te::Expr ExprOf(const Dim& dim) const;
  // The shape and element type of the result, or of a field of it where it is a tuple. Throw
  // InvalidArgument for a field that it does not have. shape throws Unimplemented for extents that
  // are expressions; te_shape and sizes give these, too.
  Shape shape(std::size_t field = 0) const;
  DataType dtype(std::size_t field = 0) const;
  std::vector<te::Expr> te_shape(std::size_t field = 0) const;
  Sizes sizes() const;
};

struct OpSchedule;  // op_schedule.h
using ScheduleFunction = std::function<void(const OpSchedule& schedule)>;

using TeMake = std::function<std::vector<te::Tensor>(const TeCall& call)>;

// One of several ways to compute an operator.
struct TeForm {
  std::string name;  // "conv2d.row_tiled"
  // Gives why it does not suit the call, or nothing. Null: it suits all calls.
  std::function<std::optional<std::string>(const TeCall& call)> refusal;
  TeMake make;  // of a call that is not refused
  // The estimate of Candidate for such a call. Null: there is none, and the condition says where it
  // is faster than the forms after it.
  std::function<double(const TeCall& call)> cycles = nullptr;
  int priority = 0;  // as in Candidate
  // Whether results are rounded differently from those of the other forms. Only a group's anchor
  // takes such a form, and only where StrategyOptions allow Winograd's algorithm.
  bool rounds_differently = false;
  // Schedules the kernel of a group whose anchor takes this form. Null: the automatic schedule.
  ScheduleFunction schedule = nullptr;
};

struct TeCompute {
  TeMake make;                     // null where there are several forms
  std::vector<TeForm> forms = {};  // the last one suits all calls
};

// Attaches the computes of the built-in operators, family by family.
void AttachUnaryComputes(ops::OpRegistry& registry);
void AttachBinaryComputes(ops::OpRegistry& registry);
void AttachReduceComputes(ops::OpRegistry& registry);
void AttachShapeComputes(ops::OpRegistry& registry);
void AttachJoinComputes(ops::OpRegistry& registry);
void AttachGridSampleComputes(ops::OpRegistry& registry);
void AttachImageComputes(ops::OpRegistry& registry);
void AttachIndexComputes(ops::OpRegistry& registry);
void AttachScanComputes(ops::OpRegistry& registry);
void AttachRecurrentComputes(ops::OpRegistry& registry);
void AttachScatterComputes(ops::OpRegistry& registry);
void AttachSearchComputes(ops::OpRegistry& registry);
void AttachSortComputes(ops::OpRegistry& registry);
void AttachSparseComputes(ops::OpRegistry& registry);
void AttachRegionComputes(ops::OpRegistry& registry);
void AttachWarpComputes(ops::OpRegistry& registry);
void AttachBoxComputes(ops::OpRegistry& registry);
void AttachFixedPointComputes(ops::OpRegistry& registry);
void AttachFourierComputes(ops::OpRegistry& registry);
void AttachCorrelationComputes(ops::OpRegistry& registry);
void AttachVisionComputes(ops::OpRegistry& registry);
void AttachDetectorComputes(ops::OpRegistry& registry);
void AttachDetectionComputes(ops::OpRegistry& registry);
void AttachProposalComputes(ops::OpRegistry& registry);
void AttachLossComputes(ops::OpRegistry& registry);
void AttachConvComputes(ops::OpRegistry& registry);
void AttachConvNdComputes(ops::OpRegistry& registry);
void AttachConvTransposeComputes(ops::OpRegistry& registry);
void AttachBlockedConvComputes(ops::OpRegistry& registry);
void AttachLayoutComputes(ops::OpRegistry& registry);
void AttachEinsumCompute(ops::OpRegistry& registry);
void AttachMatmulComputes(ops::OpRegistry& registry);
void AttachPoolComputes(ops::OpRegistry& registry);
void AttachNormComputes(ops::OpRegistry& registry);
void AttachBatchSpaceComputes(ops::OpRegistry& registry);

// --- helpers that computes share

std::vector<te::Expr> ToExprs(const std::vector<te::Var>& vars);
std::vector<te::Expr> ToExprs(const Shape& shape);
// An extent that must be a number. Throws Unimplemented for expressions.
std::int64_t ExtentOf(const te::Tensor& tensor, std::size_t axis);
Shape ShapeOf(const te::Tensor& tensor);
bool IsOne(const te::Expr& extent);  // for all values of its variables
// The bytes of a tensor that has the extents which schedules are made for. Throws InvalidArgument
// past int64.
std::int64_t BytesOf(const te::Tensor& tensor);
te::Expr ProductOf(const std::vector<te::Expr>& extents);
// The same as a number of this type.
te::Expr CountOf(const std::vector<te::Expr>& extents, DataType type);
// An axis for each extent of a window, named after depth, height and width.
std::vector<te::IterVar> TapAxes(const std::vector<std::int64_t>& extents);
// The coordinates of the element at row-major offset `flat`.
std::vector<te::Expr> Unflatten(te::Expr flat, const std::vector<te::Expr>& shape);
std::vector<te::Expr> Unflatten(te::Expr flat, const Shape& shape);
// The row-major offset of the element at these coordinates.
te::Expr Flatten(const std::vector<te::Expr>& at, const std::vector<te::Expr>& shape);
te::Expr Flatten(const std::vector<te::Expr>& at, const Shape& shape);
// `x` in another element type, or `x` itself if that is its own.
te::Tensor AsType(const te::Tensor& x, DataType dtype, te::Label label = {});
// The element of `tensor` that broadcasting to the result's axes reads.
te::Expr BroadcastRead(const te::Tensor& tensor, const std::vector<te::Var>& axes);
// The call's result where there is nothing to compute it from.
te::Tensor Zeros(const TeCall& call);
// The type that elements are summed up in: halves in float32.
DataType SumType(DataType type);
// The type in which a mean sums up `count` numbers of `bits` bits, which are elements of `type` or
// made of them, and divides the sum by the count. Integers of up to 32 bits take a type that holds
// both sum and count, halves take float32, and all others take their own type.
DataType MeanType(DataType type, std::int64_t count, int bits);
inline DataType MeanType(DataType type, std::int64_t count) {
  return MeanType(type, count, type.bits());
}
// `value` everywhere.
te::Tensor Filled(const std::vector<te::Expr>& shape, const te::Expr& value);
// x[from], or `value` where a coordinate along one of the axes `at` is beyond the image.
te::Expr ReadPadded(const te::Tensor& x, const std::vector<te::Expr>& from,
                    const std::vector<std::size_t>& at, const te::Expr& value);
// `x` with zeros, or with `value`, around it along the axes `at`. It is `x` itself if there are
// none. A negative number of them drops elements.
te::Tensor PadImage(const te::Tensor& x, const std::vector<std::size_t>& at,
                    const ops::Ints& before, const ops::Ints& after, te::Label label = {});
te::Tensor PadImage(const te::Tensor& x, const std::vector<std::size_t>& at,
                    const ops::Ints& before, const ops::Ints& after, const te::Expr& value,
                    te::Label label = {});
// The same for two axes, with the zeros counted top, left, bottom, right.
te::Tensor PadImage(const te::Tensor& x, std::size_t height, std::size_t width,
                    const std::array<std::int64_t, 4>& padding, te::Label label = {});

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_COMPUTE_H_
