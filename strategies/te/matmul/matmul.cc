// Matrix products (te/product.cc).
#include "tenon/ops/layout/alter_layout.h"
#include "tenon/ops/matmul/dense_pack_attrs.h"
#include "tenon/ops/matmul/matmul_attrs.h"
#include "tenon/ops/registry.h"
#include "tenon/strategies/te/matmul/determinant.h"
#include "tenon/strategies/te/matmul/product.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

struct Transposes {
  bool a, b;
};

// Products that one instruction of the target adds up.
std::int64_t GroupOf(const TeCall& call) {
  const Sizes sizes = call.sizes();
  return DotGroup(call.target, call.input(0).dtype(), call.input(1).dtype(), call.dtype(),
                  AreFewRows(sizes[sizes.size() - 2].planned, call.IsConstant(1)));
}

// The extent that both operands have along the sum. It is a number if one of them knows it.
Expr DepthOf(const Expr& of_left, const Expr& of_right) {
  return IsNumber(of_left) ? of_left : of_right;
}

// One matrix or, on the left, a batch of them by one matrix.
Product OfMatrix(const TeCall& call, const Transposes& transposes, std::int64_t group) {
  const Tensor a = call.input(0), b = call.input(1);
  const std::size_t rank = a.ndim();
  const Sizes shape = call.sizes();
  const Sizes batch(shape.begin(), shape.end() - 2);
  return {.batch = batch,
          .rows = shape[rank - 2],
          .columns = shape[rank - 1],
          .depth = DepthOf(a.shape()[transposes.a ? rank - 2 : rank - 1],
                           b.shape()[transposes.b ? 1 : 0]),
          .dtype = call.dtype(),
          .target = call.target,
          .left =
              [=](const std::vector<Expr>& at, const Expr& row, const Expr& k) {
                std::vector<Expr> indices = at;
                indices.push_back(transposes.a ? k : row);
                indices.push_back(transposes.a ? row : k);
                return a[indices];
              },
          .right = [=](const std::vector<Expr>&, const Expr& k,
                       const Expr& column) { return transposes.b ? b(column, k) : b(k, column); },
          .least_rows = LeastRows(call, call.IsConstant(1), transposes.b, group),
          .right_has = std::vector<bool>(batch.size(), false),
          .prepared = [&call](const Tensor& packed) { return call.Prepared(packed); },
          .group = group,
          .left_in_rows = !transposes.a && a.op()->is_placeholder(),
          .right_in_rows = !transposes.b && b.op()->is_placeholder(),
          .right_is_constant = call.IsConstant(1),
          .config = call.config};
}

// A matrix by one whose columns are in blocks.
Product OfBlocks(const TeCall& call, const Transposes&, std::int64_t group) {
  const Tensor a = call.input(0), b = call.input(1);
  const Sizes shape = call.sizes();
  const Expr block = b.shape()[2];
  return {
      .batch = {},
      .rows = shape[0],
      .columns = shape[1],
      .depth = a.shape()[1],
      .dtype = call.dtype(),
      .target = call.target,
      .left = [=](const std::vector<Expr>&, const Expr& row, const Expr& k) { return a(row, k); },
      .right =
          [=](const std::vector<Expr>&, const Expr& k, const Expr& column) {
            return b(te::FloorDiv(column, block), k, te::FloorMod(column, block));
          },
      .least_rows = LeastRows(call, call.IsConstant(1), false, group),
      .right_has = {},
      .prepared = [&call](const Tensor& packed) { return call.Prepared(packed); },
      .group = group,
      .left_in_rows = a.op()->is_placeholder(),
      .config = call.config};
}

// Matrices of two batches, of which one may be shared by all of the other.
Product OfBatches(const TeCall& call, const Transposes& transposes, std::int64_t group) {
  const Tensor a = call.input(0), b = call.input(1);
  const Sizes shape = call.sizes();
  const bool a_shared = IsOne(a.shape()[0]), b_shared = IsOne(b.shape()[0]);
  return {.batch = {shape[0]},
          .rows = shape[1],
          .columns = shape[2],
          .depth = DepthOf(a.shape()[transposes.a ? 1 : 2], b.shape()[transposes.b ? 2 : 1]),
          .dtype = call.dtype(),
          .target = call.target,
          .left =
              [=](const std::vector<Expr>& at, const Expr& row, const Expr& k) {
                const Expr batch = a_shared ? Expr(0) : at[0];
                return transposes.a ? a(batch, k, row) : a(batch, row, k);
              },
          .right =
              [=](const std::vector<Expr>& at, const Expr& k, const Expr& column) {
                const Expr batch = b_shared ? Expr(0) : at[0];
                return transposes.b ? b(batch, column, k) : b(batch, k, column);
              },
          .least_rows = LeastRows(call, call.IsConstant(1), transposes.b, group),
          .right_has = {!b_shared},
          .prepared = [&call](const Tensor& packed) { return call.Prepared(packed); },
          .group = group,
          .left_in_rows = !transposes.a && a.op()->is_placeholder(),
          .right_in_rows = !transposes.b && b.op()->is_placeholder(),
          .right_is_constant = call.IsConstant(1),
          .config = call.config};
}

constexpr const char* kOfVector = "the left operand is a vector";
bool IsOfVector(const TeCall& call) { return call.input(0).ndim() < 2; }

std::vector<Tensor> VectorByMatrix(const TeCall& call, const Transposes& transposes) {
  const Tensor &a = call.input(0), &b = call.input(1);
  const IterVar k = te::ReduceAxis(0, a.shape()[0], "k");
  const DataType dtype = call.dtype();
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        const Expr b_value = transposes.b ? b(i[0], k.var) : b(k.var, i[0]);
        return te::Sum(te::Cast(dtype, a(k.var)) * te::Cast(dtype, b_value), {k});
      },
      "matmul", te::Label("matmul", te::ReadsRepeatedly{}))};
}

// The rows: register tiles of dot products, register tiles of multiply-adds, and sums of one
// element each.
template <typename OfCall, typename TransposesOf>
TeCompute FormsOf(const std::string& name, OfCall product, TransposesOf transposes) {
  const auto of = [=](const TeCall& call, std::int64_t group) {
    return product(call, transposes(call), group);
  };
  TeForm dots{.name = StrCat(name, ".dot_tiled"),
              .refusal = [=](const TeCall& call) -> std::optional<std::string> {
                if (IsOfVector(call)) return kOfVector;
                const std::int64_t group = GroupOf(call);
                if (group == 1) return kNoDots;
                return RefuseTiledProduct(of(call, group));
              },
              .make = [=](const TeCall& call) -> std::vector<Tensor> {
                return {TiledProduct(of(call, GroupOf(call)), call.te_shape())};
              }};
  TeForm tiles{.name = StrCat(name, ".tiled"),
               .refusal = [=](const TeCall& call) -> std::optional<std::string> {
                 if (IsOfVector(call)) return kOfVector;
                 return RefuseTiledProduct(of(call, 1));
               },
               .make = [=](const TeCall& call) -> std::vector<Tensor> {
                 return {TiledProduct(of(call, 1), call.te_shape())};
               }};
  TeForm plain{.name = StrCat(name, ".plain"),
               .refusal = nullptr,
               .make = [=](const TeCall& call) -> std::vector<Tensor> {
                 if (IsOfVector(call)) return VectorByMatrix(call, transposes(call));
                 return {PlainProduct(of(call, 1), call.te_shape())};
               }};
  return {.make = nullptr, .forms = {std::move(dots), std::move(tiles), std::move(plain)}};
}

// Columns of a block: the widest vectors, whatever the target, as layouts are named after them.
constexpr std::int64_t kBlock = 16;

// What becomes of a product of a matrix by a weight that can be cut into whole blocks.
std::optional<ops::LayoutAlteration> InBlocks(const ir::CallNode& call) {
  const auto* data = call.args[0].checked_type().As<ir::TensorTypeNode>();
  const auto* weight = call.args[1].checked_type().As<ir::TensorTypeNode>();
  if (data == nullptr || weight == nullptr || data->shape.size() != 2) return std::nullopt;
  if (!weight->shape[0].is_static() || weight->shape[0].value() == 0 ||
      weight->shape[0].value() % kBlock != 0)
    return std::nullopt;
  const auto& dense = call.attrs.As<ops::DenseAttrs>();
  const std::string layout = StrCat("NC", kBlock, "n");
  return ops::LayoutAlteration{
      ops::OpRegistry::Global().Get("nn.contrib_dense_pack"),
      {{"NC", layout},
       "NC",
       attrs::Attrs::Make(ops::DensePackAttrs{.units = weight->shape[0].value(),
                                              .out_dtype = dense.out_dtype,
                                              .weight_layout = layout})}};
}

template <typename AttrsType>
Transposes Given(const TeCall& call) {
  const auto& attrs = call.attrs.As<AttrsType>();
  return {attrs.transpose_a, attrs.transpose_b};
}

}  // namespace

void AttachMatmulComputes(ops::OpRegistry& registry) {
  registry.Definition("nn.dense").SetColumn(FormsOf("dense", OfMatrix, [](const TeCall&) {
    return Transposes{false, true};
  }));
  registry.Definition("nn.contrib_dense_pack")
      .SetColumn(FormsOf("dense_pack", OfBlocks, [](const TeCall&) {
        return Transposes{false, false};
      }));
  registry.Definition("nn.dense").SetColumn(ops::AlterLayout{.choose = nullptr, .alter = InBlocks});
  registry.Definition("matrix_determinant").SetColumn(TeCompute{Determinant});
  registry.Definition("nn.matmul").SetColumn(FormsOf("matmul", OfMatrix, Given<ops::MatmulAttrs>));
  registry.Definition("nn.batch_matmul")
      .SetColumn(FormsOf("batch_matmul", OfBatches, Given<ops::BatchMatmulAttrs>));
}

}  // namespace tenon::strategies
