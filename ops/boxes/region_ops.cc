// Operators that write or move regions of a tensor.
#include "tenon/ops/boxes/region_rules.h"
#include "tenon/ops/builtin.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;

void StridedSet(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* v = call.tensor(1);
  if (x == nullptr || v == nullptr) return;
  const std::size_t rank = x->shape.size();
  if (v->dtype != x->dtype) call.Refuse("data and v must have one element type");
  if (v->shape.size() != rank) call.Refuse("data and v must have one rank");
  for (std::size_t d = 0; d < rank; ++d) {
    if (call.Exceeds(v->shape[d], x->shape[d]))
      call.Refuse(StrCat("axis ", d, " of v is longer than that of the data"));
  }
  for (const auto& [i, name] :
       {std::pair<std::size_t, const char*>{2, "begin"}, {3, "end"}, {4, "strides"}}) {
    const auto* list = call.tensor(i);
    if (list == nullptr) return;
    if (!list->dtype.is_integral() || list->shape.size() != 1 ||
        call.Differ(list->shape[0], Dim(static_cast<std::int64_t>(rank))))
      call.Refuse(StrCat(name, " must be a vector of ", rank, " integers, one per axis"));
  }
  call.LearnResult(call.input(0));
}

void MatrixSetDiag(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* values = call.tensor(1);
  if (x == nullptr || values == nullptr) return;
  const std::size_t rank = x->shape.size();
  if (rank < 2) call.Refuse("the input must have two axes");
  if (x->dtype != values->dtype) call.Refuse("input and diagonal must have one element type");
  const Dim &rows = x->shape[rank - 2], &columns = x->shape[rank - 1];
  if (!rows.is_static() || !columns.is_static())
    call.Refuse("the last two extents of the input must be known");
  const Diagonals diagonals =
      DiagonalsOf(call.attrs<MatrixSetDiagAttrs>(), rows.value(), columns.value());
  if (!diagonals.AreWithin())
    call.Refuse(StrCat("k1 and k2 are ", diagonals.lowest, " and ", diagonals.highest,
                       "; they must rise, within a matrix of ", rows.value(), " rows and ",
                       columns.value(), " columns"));
  std::vector<Dim> wanted(x->shape.begin(), x->shape.end() - 2);
  if (diagonals.Count() > 1) wanted.emplace_back(diagonals.Count());
  wanted.emplace_back(diagonals.Longest());
  if (call.Differ(wanted, values->shape))
    call.Refuse(StrCat(
        "the diagonal must have the shape (",
        StrJoin(wanted, ", ", [](std::string* out, const Dim& dim) { *out += dim.ToString(); }),
        ")"));
  call.LearnResult(call.input(0));
}

void SlidingWindow(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<SlidingWindowAttrs>();
  const auto axis = static_cast<std::size_t>(NormalizeAxis(call, attrs.axis, x->shape.size()));
  const std::size_t count = x->shape.size() - axis;
  if (attrs.window_shape.size() != count || attrs.strides.size() != count)
    call.Refuse(StrCat("window_shape and strides must have ", count,
                       " values, one per axis from `axis` on"));
  std::vector<Dim> shape(x->shape.begin(), x->shape.begin() + static_cast<std::ptrdiff_t>(axis));
  for (std::size_t d = 0; d < count; ++d) {
    const Dim& extent = x->shape[axis + d];
    if (call.Exceeds(attrs.window_shape[d], extent))
      call.Refuse(StrCat("the window has ", attrs.window_shape[d], " elements along axis ",
                         axis + d, " and the data ", extent.ToString()));
    shape.push_back(FloorDiv(extent - attrs.window_shape[d], attrs.strides[d]) + 1);
  }
  for (const std::int64_t extent : attrs.window_shape) shape.emplace_back(extent);
  call.LearnResult(ir::TensorType(std::move(shape), x->dtype));
}

void FifoBuffer(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* buffer = call.tensor(1);
  if (x == nullptr || buffer == nullptr) return;
  if (x->dtype != buffer->dtype) call.Refuse("data and buffer must have one element type");
  if (x->shape.size() != buffer->shape.size()) call.Refuse("data and buffer must have one rank");
  const auto axis = static_cast<std::size_t>(
      NormalizeAxis(call, call.attrs<FIFOBufferAttrs>().axis, x->shape.size()));
  for (std::size_t d = 0; d < x->shape.size(); ++d) {
    if (d != axis && call.Differ(x->shape[d], buffer->shape[d]))
      call.Refuse("data and buffer must have one shape except for the axis");
  }
  call.LearnResult(call.input(1));
}

}  // namespace

void RegisterRegionOps(OpRegistry& registry) {
  registry.Register("strided_set")
      .Describe("the data with v in place of the slice given by begin, end and strides")
      .Argument("data", "Tensor", "input")
      .Argument("v", "Tensor", "the new elements; where it is too short, the old ones stay")
      .Argument("begin", "1D Tensor", "first index of each axis; negative: from the end")
      .Argument("end", "1D Tensor", "index after the last of each axis")
      .Argument("strides", "1D Tensor", "steps, which may be negative; 0 takes nothing")
      .Level(4)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(StridedSet, "StridedSet");
  registry.Register("matrix_set_diag")
      .Describe("matrices with other diagonals")
      .Argument("input", "Tensor", "matrices along the last two axes")
      .Argument("diagonal", "Tensor", "a row of values for each diagonal, the highest first")
      .Attrs<MatrixSetDiagAttrs>()
      .Level(10)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(MatrixSetDiag, "MatrixSetDiag");
  registry.Register("sliding_window")
      .Describe(
          "windows that move over the data: first the axes of their positions, then those of their "
          "elements")
      .Argument("data", "Tensor", "input")
      .Attrs<SlidingWindowAttrs>()
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(SlidingWindow, "SlidingWindow");
  registry.Register("nn.fifo_buffer")
      .Describe("the buffer moved on by the data, which comes in at the end of the axis")
      .Argument("data", "Tensor", "the new elements")
      .Argument("buffer", "Tensor", "the last result")
      .Attrs<FIFOBufferAttrs>()
      .Level(3)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(FifoBuffer, "FIFOBuffer");
}

}  // namespace tenon::ops
