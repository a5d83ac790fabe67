// Matrix products: the tensor-expression kernel against oneDNN's sgemm and the FMA peak. The
// weights are constants, as in a model.
#include "tenon/benchmarks/baselines.h"
#include "tenon/benchmarks/compiled_graph.h"
#include "tenon/benchmarks/families.h"
#include "tenon/benchmarks/onednn_peer.h"
#include "tenon/support/strings.h"

namespace tenon::benchmarks {
namespace {

struct Product {
  const char* op;
  bool b_transposed;
  bool b_constant;
  std::int64_t rows, columns, depth;
  double flops() const { return 2.0 * static_cast<double>(rows * columns * depth); }
};

// nn.dense takes its weight as (columns, depth).
constexpr Product kProducts[] = {{"nn.matmul", false, false, 1024, 1024, 1024},
                                 {"nn.matmul, constant b", false, true, 1024, 1024, 1024},
                                 {"nn.dense, constant b", true, true, 1024, 1024, 1024},
                                 {"nn.dense, constant b", true, true, 128, 768, 768},
                                 {"nn.dense, constant b", true, true, 1, 1000, 2048}};

Contestants Prepare(const Product& product, int threads) {
  const auto [op, b_transposed, b_constant, m, n, k] = product;
  const Tensor a = RandomArray({m, k});
  const Tensor b = RandomArray(b_transposed ? Shape{n, k} : Shape{k, n}, 2);
  const Tensor c = Tensor::Zeros({m, n}, Float32);
  const ir::Expr x = Input("a", a.shape());
  const ir::Expr w = b_constant ? ir::Constant::Make(b) : ir::Expr(Input("b", b.shape()));
  runtime::Inputs inputs = {{"a", a}};
  if (!b_constant) inputs["b"] = b;
  auto graph = std::make_shared<CompiledGraph>(
      ir::Module::FromExpr(b_transposed ? ops::Dense(x, w) : ops::Matmul(x, w)), inputs);
  const std::int64_t rows = m, columns = n, depth = k;
  const bool transposed = b_transposed;
  const auto sgemm = [=] {
    OneDnnSgemm(rows, columns, depth, a.data<float>(), b.data<float>(), transposed,
                c.data<float>());
  };
  graph->Call();
  sgemm();
  RequireClose(graph->result(), c, 1e-3);
  return {{Role::kTenon, "generated", [graph] { graph->Call(); }},
          {Role::kFloor, "FMA loop", [=] { MultiplyAdds(product.flops(), threads); }},
          {Role::kPeer, "oneDNN sgemm", sgemm}};
}

}  // namespace

void AddMatmuls(std::vector<Race>& races) {
  for (const Product& product : kProducts) {
    for (const int threads : {1, 2}) {
      const bool is_vector = product.rows == 1;
      races.push_back({.table = "matmul",
                       .name = StrCat(product.op, ", ", product.rows, " x ", product.columns, " x ",
                                      product.depth),
                       .threads = threads,
                       .flops = product.flops(),
                       .aim = {.of_floor = is_vector ? 0 : 0.75, .of_peer = 0.8},
                       .prepare = [=] { return Prepare(product, threads); }});
    }
  }
}

}  // namespace tenon::benchmarks
