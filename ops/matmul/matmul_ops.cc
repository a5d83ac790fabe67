// Matrix products (nn.dense, also of blocks, nn.matmul, nn.batch_matmul) and general sums of
// products (einsum).
#include <map>

#include "tenon/ops/builtin.h"
#include "tenon/ops/layout/layout.h"
#include "tenon/ops/layout/layout_inference.h"
#include "tenon/ops/matmul/dense_pack_attrs.h"
#include "tenon/ops/matmul/einsum_rules.h"
#include "tenon/ops/matmul/matmul_attrs.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;

struct Product {
  std::optional<std::int64_t> units;
  DataType out_dtype;
  bool transpose_a, transpose_b;
};

// (..., k) or, transposed, (..., k, m), times (k, n) or, transposed, (n, k).
void MatmulRelation(TypeCall& call, const Product& p) {
  const auto* a = call.tensor(0);
  if (a == nullptr) return;
  const std::size_t rank = a->shape.size();
  if (rank < (p.transpose_a ? 2U : 1U))
    call.Refuse(StrCat("the first operand has rank ", rank, ", which is too small"));
  const Dim depth = a->shape[p.transpose_a ? rank - 2 : rank - 1];
  std::vector<Dim> shape = a->shape;
  if (p.transpose_a) std::swap(shape[rank - 1], shape[rank - 2]);
  Dim units = p.units ? Dim(*p.units) : Dim();
  if (p.units)
    call.LearnInput(
        1, ir::TensorType(
               p.transpose_b ? std::vector<Dim>{units, depth} : std::vector<Dim>{depth, units},
               call.tensor(1) == nullptr ? a->dtype : call.tensor(1)->dtype));
  if (const auto* b = call.tensor(1)) {
    if (b->shape.size() != 2)
      call.Refuse(StrCat("the second operand has rank ", b->shape.size(), "; it must have rank 2"));
    if (b->dtype != a->dtype && !AreBytesIntoInt32(a->dtype, b->dtype, p.out_dtype))
      call.Refuse("the operands have different element types");
    const Dim& n = b->shape[p.transpose_b ? 0 : 1];
    const Dim& k = b->shape[p.transpose_b ? 1 : 0];
    if (call.Differ(k, depth))
      call.Refuse(StrCat("the operands have inner extents ", depth.ToString(), " and ",
                         k.ToString(), ", which must be equal"));
    if (call.Differ(units, n))
      call.Refuse(StrCat("units is ", units.ToString(), " and the second operand has ",
                         n.ToString(), " columns"));
    if (units.is_any()) units = n;
  } else if (!p.units) {
    return;
  }
  shape.back() = units;
  call.LearnResult(
      ir::TensorType(std::move(shape), p.out_dtype.is_void() ? a->dtype : p.out_dtype));
}

void Dense(TypeCall& call) {
  const auto& attrs = call.attrs<DenseAttrs>();
  MatmulRelation(call, {attrs.units, attrs.out_dtype, false, true});
}

void Matmul(TypeCall& call) {
  const auto& attrs = call.attrs<MatmulAttrs>();
  MatmulRelation(call, {attrs.units, attrs.out_dtype, attrs.transpose_a, attrs.transpose_b});
}

void BatchMatmul(TypeCall& call) {
  const auto* a = call.tensor(0);
  const auto* b = call.tensor(1);
  if (a == nullptr || b == nullptr) return;
  const auto& attrs = call.attrs<BatchMatmulAttrs>();
  if (a->shape.size() != 3 || b->shape.size() != 3) call.Refuse("both operands must have rank 3");
  if (a->dtype != b->dtype && !AreBytesIntoInt32(a->dtype, b->dtype, attrs.out_dtype))
    call.Refuse("the operands have different element types");
  const Dim& a_depth = a->shape[attrs.transpose_a ? 1 : 2];
  const Dim& b_depth = b->shape[attrs.transpose_b ? 2 : 1];
  if (call.Differ(a_depth, b_depth))
    call.Refuse(StrCat("the operands have inner extents ", a_depth.ToString(), " and ",
                       b_depth.ToString(), ", which must be equal"));
  if (!BroadcastDim(a->shape[0], b->shape[0]))
    call.Refuse(StrCat("the batches ", a->shape[0].ToString(), " and ", b->shape[0].ToString(),
                       " must be equal or one of them 1"));
  const Dim batch = BroadcastShapes(call, {a->shape[0]}, {b->shape[0]})[0];
  call.LearnResult(ir::TensorType(
      {batch, a->shape[attrs.transpose_a ? 2 : 1], b->shape[attrs.transpose_b ? 1 : 2]},
      attrs.out_dtype.is_void() ? a->dtype : attrs.out_dtype));
}

// Of a matrix. Its layouts stay, unless AlterOpLayout replaces the call.
LayoutAnswer LayoutsOfDense(const LayoutQuestion& q) {
  const auto* x = q.old_types[0].As<ir::TensorTypeNode>();
  if (x == nullptr || x->shape.size() != 2) return {{"", ""}, "", q.attrs};
  return {{"NC", "NC"}, "NC", q.attrs};
}

// (m, k) times blocks of the transposed weight: (n / b, k, b).
void DensePack(TypeCall& call) {
  const auto& attrs = call.attrs<DensePackAttrs>();
  const Layout layout = Layout::Parse(attrs.weight_layout, "weight_layout");
  const bool names_block = layout.IsCut('N');
  if (attrs.weight_layout != (names_block ? StrCat("NC", layout.BlockOf('N'), "n") : "NC"))
    call.Refuse(StrCat("weight_layout is ", attrs.weight_layout, "; it must be NC or NC{b}n"));
  const auto* x = call.tensor(0);
  const auto* w = call.tensor(1);
  if (x == nullptr || w == nullptr) return;
  if (x->shape.size() != 2 || w->shape.size() != 3)
    call.Refuse(StrCat("the data has rank ", x->shape.size(), " and the weight rank ",
                       w->shape.size(), "; they must have ranks 2 and 3"));
  if (x->dtype != w->dtype && !AreBytesIntoInt32(x->dtype, w->dtype, attrs.out_dtype))
    call.Refuse("the operands have different element types");
  if (call.Differ(x->shape[1], w->shape[1]))
    call.Refuse(StrCat("the operands have inner extents ", x->shape[1].ToString(), " and ",
                       w->shape[1].ToString(), ", which must be equal"));
  if (names_block && call.Differ(w->shape[2], Dim(layout.BlockOf('N'))))
    call.Refuse(StrCat("weight_layout is ", attrs.weight_layout, " and the weight has blocks of ",
                       w->shape[2].ToString()));
  const Dim columns = w->shape[0] * w->shape[2];
  if (attrs.units && call.Differ(Dim(*attrs.units), columns))
    call.Refuse(
        StrCat("units is ", *attrs.units, " and the weight has ", columns.ToString(), " columns"));
  call.LearnResult(ir::TensorType({x->shape[0], columns},
                                  attrs.out_dtype.is_void() ? x->dtype : attrs.out_dtype));
}

void Einsum(TypeCall& call) {
  const auto operands = call.tensors(0);
  if (!operands) return;
  if (operands->empty()) call.Refuse("there must be an operand");
  std::vector<std::size_t> ranks;
  for (const ir::TensorTypeNode* operand : *operands) ranks.push_back(operand->shape.size());
  const EinsumAxes axes = ParseEinsum(call.attrs<EinsumAttrs>().equation, ranks);
  const DataType dtype = operands->front()->dtype;
  if (dtype.is_bool()) call.Refuse("the operands must be numbers");
  std::map<int, Dim> extents;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if ((*operands)[i]->dtype != dtype) call.Refuse("the operands have different element types");
    for (std::size_t d = 0; d < ranks[i]; ++d) {
      const Dim& own = (*operands)[i]->shape[d];
      Dim& extent = extents.emplace(axes.operands[i][d], own).first->second;
      if (!BroadcastDim(extent, own))
        call.Refuse(
            StrCat("a label stands for the extents ", extent.ToString(), " and ", own.ToString()));
      extent = BroadcastShapes(call, {extent}, {own})[0];
    }
  }
  std::vector<Dim> shape;
  for (const int label : axes.result) shape.push_back(extents.at(label));
  call.LearnResult(ir::TensorType(std::move(shape), dtype));
}

}  // namespace

namespace {

void Determinant(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  if (!x->dtype.is_float())
    call.Refuse(StrCat("the matrices are of ", x->dtype.ToString(), "; they must be floats"));
  const std::size_t rank = x->shape.size();
  if (rank < 2 || call.Differ(x->shape[rank - 2], x->shape[rank - 1]))
    call.Refuse("the last two axes must have one extent");
  call.LearnResult(ir::TensorType({x->shape.begin(), x->shape.end() - 2}, x->dtype));
}

}  // namespace

void RegisterMatmulOps(OpRegistry& registry) {
  registry.Register("nn.dense")
      .Describe("data times the transposed weight")
      .Argument("data", "nD Tensor", "(..., k)")
      .Argument("weight", "2D Tensor", "(units, k)")
      .Attrs<DenseAttrs>()
      .Level(1)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation(Dense, "Dense")
      .Column(PrecisionRule::kAlways)
      .Column(HalfSums::kOfProducts)
      .Column(LayoutInference{LayoutsOfDense});
  registry.Register("nn.contrib_dense_pack")
      .Describe("data times the transposed weight, which is in blocks of columns")
      .Argument("data", "2D Tensor", "(m, k)")
      .Argument("weight", "3D Tensor", "(units / b, k, b)")
      .Attrs<DensePackAttrs>()
      .Level(10)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation(DensePack, "DensePack")
      .Column(PrecisionRule::kAlways)
      .Column(HalfSums::kOfProducts);
  registry.Register("nn.matmul")
      .Describe("matrix product")
      .Argument("tensor_a", "nD Tensor", "(..., m, k)")
      .Argument("tensor_b", "2D Tensor", "(k, n)")
      .Attrs<MatmulAttrs>()
      .Level(1)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation(Matmul, "Matmul")
      .Column(PrecisionRule::kAlways)
      .Column(HalfSums::kOfProducts);
  registry.Register("nn.batch_matmul")
      .Describe("matrix product of each pair of a batch")
      .Argument("tensor_a", "3D Tensor", "(batch, m, k)")
      .Argument("tensor_b", "3D Tensor", "(batch, k, n)")
      .Attrs<BatchMatmulAttrs>()
      .Level(10)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation(BatchMatmul, "BatchMatmul")
      .Column(PrecisionRule::kAlways)
      .Column(HalfSums::kOfProducts);
  registry.Register("matrix_determinant")
      .Describe("the determinant of each matrix, computed in float64; of one without rows it is 1")
      .Argument("data", "nD Tensor", "(..., n, n)")
      .Level(10)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(Determinant, "Determinant");
  registry.Register("einsum")
      .Describe(
          "Einstein summation: products of the operands' elements, summed over the labels that "
          "the result lacks; extents of 1 are broadcast")
      .Argument("data", "Tuple of Tensors", "operands of one element type")
      .Attrs<EinsumAttrs>()
      .Level(11)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation(Einsum, "Einsum")
      .Column(HalfSums::kPlain);
}

}  // namespace tenon::ops
