// A notebook of Relax patterns, cell by cell: convolutions and their activations become functions
// for a code generator, with the names that Relax gives them.
#include <cstdio>
#include <cstdlib>
#include <map>

#include "tenon/ir/structural.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/pass_manager.h"
#include "tenon/tenon.h"

namespace ir = tenon::ir;
namespace ops = tenon::ops;
namespace passes = tenon::passes;
using passes::FuseOpsByPattern;
using passes::FusionPattern;
using passes::MakeFusedBiasActivationPattern;
using tenon::Float32;

namespace {

constexpr auto kRelaxNames = ops::OperatorNames::kRelax;

void Assert(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::exit(1);
}

void Show(const ir::Module& module) {
  std::printf("%s\n", ir::PrintModule(module, {.metadata = false}).c_str());
}

// The calls of a function in the order in which they run: the bindings of its dataflow block.
std::vector<ir::Expr> Bindings(const ir::Expr& function) {
  std::vector<ir::Expr> calls;
  ir::VisitPostOrder(function.As<ir::FunctionNode>()->body, [&](const ir::Expr& e) {
    if (e.kind() == ir::ExprKind::kCall) calls.push_back(e);
  });
  return calls;
}

// The composites of a module, by the names of their functions.
std::map<std::string, std::string> Composites(const ir::Module& module) {
  std::map<std::string, std::string> composites;
  for (const auto& [name, function] : module.functions()) {
    const auto& attrs = function.As<ir::FunctionNode>()->attrs;
    const auto found = attrs.find("Composite");
    if (found != attrs.end()) composites[name] = *found->second.As<std::string>();
  }
  return composites;
}
using Names = std::map<std::string, std::string>;

}  // namespace

int main() {
  // --- conv2d_relu
  ir::Var data = ir::Var::Make("data", ir::TensorType({1, 64, 56, 56}, Float32));
  ir::Var weight1 = ir::Var::Make("weight1", ir::TensorType({64, 64, 3, 3}, Float32));
  ir::Var weight2 = ir::Var::Make("weight2", ir::TensorType({64, 64, 3, 3}, Float32));
  ir::Expr conv1 = ops::Relu(ops::Conv2D(data, weight1, {.padding = {1, 1}}));
  const ir::Module conv2d_relu = ir::Module::FromExpr(ir::Function::Make({data, weight1}, conv1));
  Show(conv2d_relu);

  const passes::Pattern conv2d_relu_pat =
      MakeFusedBiasActivationPattern("relax.nn.conv2d", false, "relax.nn.relu");

  // --- parameters are bound
  const tenon::NDArray weight_np = tenon::NDArray::Zeros({64, 64, 3, 3}, Float32);
  const ir::Module mod =
      passes::RunPasses({{"BindParams", 0,
                          [&](const ir::Module& m) {
                            return passes::BindParams(m, "main", {{"weight1", weight_np}});
                          }},
                         {"FuseOpsByPattern", 0,
                          [&](const ir::Module& m) {
                            return FuseOpsByPattern(m, {{"dnnl.conv2d_relu", conv2d_relu_pat}},
                                                    {.bind_constants = true, .names = kRelaxNames});
                          }}},
                        conv2d_relu, {});
  Show(mod);

  Assert(static_cast<bool>(mod.Find("fused_relax_nn_conv2d_relax_nn_relu")),
         "\"fused_relax_nn_conv2d_relax_nn_relu\" in [var.name_hint for var in mod.functions]");
  for (const auto& [name, f] : mod.functions()) {
    if (name != "fused_relax_nn_conv2d_relax_nn_relu") continue;
    const auto& conv2d = *Bindings(f)[0].As<ir::CallNode>();
    Assert(conv2d.args[1].kind() == ir::ExprKind::kConstant,
           "isinstance(conv2d.args[1], relax.Constant)");
  }

  // --- FuseOpsByPattern for a code generator
  std::vector<FusionPattern> patterns = {{"dnnl.conv2d_relu", conv2d_relu_pat}};
  const passes::FusePatternOptions options{
      .bind_constants = true, .annotate_codegen = true, .names = kRelaxNames};
  ir::Module partitioned = FuseOpsByPattern(conv2d_relu, patterns, options);
  Show(partitioned);
  Assert(static_cast<bool>(partitioned.Find("fused_relax_nn_conv2d_relax_nn_relu_dnnl")),
         "the function is called like its symbol");

  partitioned = FuseOpsByPattern(conv2d_relu, {}, options);
  Show(partitioned);
  Assert(ir::StructuralEqual(partitioned, passes::InferType(conv2d_relu)),
         "no patterns change nothing");
  Show(conv2d_relu);

  // --- conv2d_relu_x2
  const ir::Module conv2d_relu_x2 = ir::Module::FromExpr(ir::Function::Make(
      {data, weight1, weight2}, ops::Relu(ops::Conv2D(conv1, weight2, {.padding = {0, 0}}))));
  Show(conv2d_relu_x2);
  partitioned = FuseOpsByPattern(conv2d_relu_x2, patterns, options);
  Show(partitioned);
  Assert(static_cast<bool>(partitioned.Find("fused_relax_nn_conv2d_relax_nn_relu1_dnnl")),
         "the second match gets a number");

  // Earlier patterns go first: only the convolutions are taken.
  const passes::Pattern conv2d_pat = MakeFusedBiasActivationPattern("relax.nn.conv2d");
  const passes::FusePatternOptions without_codegen{.bind_constants = true, .names = kRelaxNames};
  patterns = {{"dnnl.conv2d", conv2d_pat}, {"dnnl.conv2d_relu", conv2d_relu_pat}};
  Show(FuseOpsByPattern(conv2d_relu_x2, patterns, options));
  Assert(Composites(FuseOpsByPattern(conv2d_relu_x2, patterns, without_codegen)) ==
             Names{{"fused_relax_nn_conv2d", "dnnl.conv2d"},
                   {"fused_relax_nn_conv2d1", "dnnl.conv2d"}},
         "both convolutions are composites of the first pattern");

  // --- conv2d_conv2d_relu
  const ir::Expr bare = ops::Conv2D(data, weight1, {.padding = {1, 1}});
  const ir::Module conv2d_conv2d_relu = ir::Module::FromExpr(ir::Function::Make(
      {data, weight1, weight2}, ops::Relu(ops::Conv2D(bare, weight2, {.padding = {0, 0}}))));
  Show(conv2d_conv2d_relu);
  patterns = {{"dnnl.conv2d_relu", conv2d_relu_pat}, {"dnnl.conv2d", conv2d_pat}};
  // The notebook passes the module of the chapter before; nothing is left for the second pattern.
  Show(FuseOpsByPattern(conv2d_relu_x2, patterns, options));
  Assert(Composites(FuseOpsByPattern(conv2d_relu_x2, patterns, without_codegen)) ==
             Names{{"fused_relax_nn_conv2d_relax_nn_relu", "dnnl.conv2d_relu"},
                   {"fused_relax_nn_conv2d_relax_nn_relu1", "dnnl.conv2d_relu"}},
         "both pairs are composites of the longer pattern");
  // What it means to show: one composite of each kind.
  Assert(Composites(FuseOpsByPattern(conv2d_conv2d_relu, patterns, without_codegen)) ==
             Names{{"fused_relax_nn_conv2d", "dnnl.conv2d"},
                   {"fused_relax_nn_conv2d_relax_nn_relu", "dnnl.conv2d_relu"}},
         "one composite of each kind");
  return 0;
}
