// Patterns: a group for a code generator, and a rewrite. The program of docs/patterns.md.
#include <cstdio>

#include "tenon/tenon.h"

namespace ir = tenon::ir;
namespace ops = tenon::ops;
namespace passes = tenon::passes;
using passes::IsOp;
using passes::Pattern;
using passes::Wildcard;
using tenon::Float32;

int main() {
  ir::Var data = ir::Var::Make("data", ir::TensorType({1, 16, 28, 28}, Float32));
  ir::Var weight = ir::Var::Make("weight", ir::TensorType({32, 16, 3, 3}, Float32));
  ir::Var bias = ir::Var::Make("bias", ir::TensorType({32}, Float32));
  ir::Expr conv = ops::Conv2D(data, weight, {.padding = {1, 1}});
  ir::Module module =
      ir::Module::FromExpr(ops::Relu(ops::Relu(ops::Add(conv, ops::Reshape(bias, {1, 32, 1, 1})))));

  // relu(relu(x)) is relu(x).
  Pattern x = Wildcard();
  module = passes::Rewrite(
      module, {{IsOp("nn.relu")(IsOp("nn.relu")(x)),
                [x](const ir::Expr&, const passes::Bindings& b) { return ops::Relu(b.At(x)); }}});

  // What remains is one primitive of oneDNN.
  Pattern product = IsOp("nn.conv2d")(Wildcard(), Wildcard());
  Pattern sum = IsOp("add")(product, IsOp("reshape")(Wildcard()));
  Pattern relu = sum.Optional([](const Pattern& p) { return IsOp("nn.relu")(p); });
  module = passes::FuseOpsByPattern(
      module,
      {{.name = "dnnl.conv2d_bias",
        .pattern = relu,
        .check = [](const passes::PatternCheckContext& match) { return match.escaping.empty(); }}});
  module = passes::MergeCompositeFunctions(module);
  std::printf("%s", ir::PrintModule(module, {.metadata = false}).c_str());

  tenon::Executable exe = tenon::Compile(module).value();
  std::printf("%d kernel: %s\n", exe.num_kernel_calls(),
              exe.kernels()[0]->implementation().c_str());
  const bool is_offloaded = exe.kernels()[0]->implementation().find("onednn") == 0;
  return is_offloaded && exe.num_kernel_calls() == 1 ? 0 : 1;
}
