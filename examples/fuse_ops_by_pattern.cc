// The notebook of Relax patterns, cell by cell: convolutions and their activations become functions
// for a code generator. Modules are read from the notebook's own text.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tenon/ir/structural.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/pass_manager.h"
#include "tenon/tenon.h"

namespace ir = tenon::ir;
namespace passes = tenon::passes;
namespace relax = tenon::relax;
using passes::FuseOpsByPattern;
using passes::FusionPattern;
using passes::MakeFusedBiasActivationPattern;

namespace {

void Assert(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::exit(1);
}

ir::Module Read(const char* text) {
  return tenon::ValueOrThrow(relax::ParseRelax(text, "notebook.py"));
}
std::string TextOf(const ir::Module& module) {
  return relax::PrintRelax(module, {.metadata = false});
}
void Show(const ir::Module& module) { std::printf("%s\n", TextOf(module).c_str()); }

// var.name_hint for var in mod.functions.keys()
std::vector<std::string> NamesOf(const ir::Module& module) {
  std::vector<std::string> names;
  for (const auto& [name, function] : module.functions()) names.push_back(name);
  return names;
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

// np.random.randn(64, 64, 3, 3).astype("float32")
tenon::NDArray RandomWeight() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(64 * 64 * 3 * 3);
  for (float& value : values) value = normal(random);
  return tenon::NDArray::FromVector<float>({64, 64, 3, 3}, values);
}

// In [2]
constexpr const char* kConv2dReLU = R"py(
@tvm.script.ir_module
class Conv2dReLU:
    @R.function
    def main(
        data: R.Tensor((1, 64, 56, 56), "float32"),
        weight1: R.Tensor((64, 64, 3, 3), "float32"),
    ):
        with R.dataflow():
            conv1 = R.nn.relu(R.nn.conv2d(data, weight1, padding=(1, 1)))
            R.output(conv1)

        return conv1
)py";

// In [13]
constexpr const char* kConv2dReLUx2 = R"py(
@tvm.script.ir_module
class Conv2dReLUx2:
    @R.function
    def main(
        data: R.Tensor((1, 64, 56, 56), "float32"),
        weight1: R.Tensor((64, 64, 3, 3), "float32"),
        weight2: R.Tensor((64, 64, 3, 3), "float32"),
    ):
        with R.dataflow():
            conv1 = R.nn.relu(R.nn.conv2d(data, weight1, padding=(1, 1)))
            conv2 = R.nn.relu(R.nn.conv2d(conv1, weight2, padding=(0, 0)))
            R.output(conv2)

        return conv2
)py";

// In [19]
constexpr const char* kConv2dConv2dReLU = R"py(
@tvm.script.ir_module
class Conv2dConv2dReLU:
    @R.function
    def main(
        data: R.Tensor((1, 64, 56, 56), "float32"),
        weight1: R.Tensor((64, 64, 3, 3), "float32"),
        weight2: R.Tensor((64, 64, 3, 3), "float32"),
    ):
        with R.dataflow():
            conv1 = R.nn.conv2d(data, weight1, padding=(1, 1))
            conv2d = R.nn.relu(R.nn.conv2d(conv1, weight2, padding=(0, 0)))
            R.output(conv2d)

        return conv2d
)py";

void Run() {
  // In [2], In [3]
  const ir::Module conv2d_relu = Read(kConv2dReLU);
  const std::string shown = TextOf(conv2d_relu);
  Show(conv2d_relu);

  // In [4]
  const passes::Pattern conv2d_relu_pat =
      MakeFusedBiasActivationPattern("relax.nn.conv2d", false, "relax.nn.relu");

  // In [5]
  const tenon::NDArray weight_np = RandomWeight();
  const ir::Module mod =
      passes::RunPasses({{"BindParams", 0,
                          [&](const ir::Module& m) {
                            return passes::BindParams(m, "main", {{"weight1", weight_np}});
                          }},
                         {"FuseOpsByPattern", 0,
                          [&](const ir::Module& m) {
                            return FuseOpsByPattern(m, {{"dnnl.conv2d_relu", conv2d_relu_pat}},
                                                    {.bind_constants = true});
                          }}},
                        conv2d_relu, {});
  // In [6]
  Show(mod);

  // In [7]
  const std::vector<std::string> names = NamesOf(mod);
  Assert(
      std::find(names.begin(), names.end(), "fused_relax_nn_conv2d_relax_nn_relu") != names.end(),
      "\"fused_relax_nn_conv2d_relax_nn_relu\" in [var.name_hint for var in mod.functions]");
  for (const auto& [name, f] : mod.functions()) {
    if (name == "fused_relax_nn_conv2d_relax_nn_relu") {
      const auto& conv2d = *Bindings(f)[0].As<ir::CallNode>();
      Assert(conv2d.args[1].kind() == ir::ExprKind::kConstant,
             "isinstance(conv2d.args[1], relax.Constant)");
    }
  }

  // In [8], In [9]
  std::vector<FusionPattern> patterns = {{"dnnl.conv2d_relu", conv2d_relu_pat}};
  const passes::FusePatternOptions options{.bind_constants = true, .annotate_codegen = true};
  ir::Module partitioned = FuseOpsByPattern(conv2d_relu, patterns, options);
  Show(partitioned);
  Assert(static_cast<bool>(partitioned.Find("fused_relax_nn_conv2d_relax_nn_relu_dnnl")),
         "the function is called like its symbol");

  // In [10], In [11]
  partitioned = FuseOpsByPattern(conv2d_relu, {}, options);
  Show(partitioned);
  Assert(ir::StructuralEqual(partitioned, conv2d_relu), "no patterns change nothing");

  // In [12]
  Show(conv2d_relu);
  Assert(TextOf(conv2d_relu) == shown, "the module is as it was");

  // In [13] to In [16]
  const ir::Module conv2d_relu_x2 = Read(kConv2dReLUx2);
  Show(conv2d_relu_x2);
  partitioned = FuseOpsByPattern(conv2d_relu_x2, patterns, options);
  Show(partitioned);
  Assert(static_cast<bool>(partitioned.Find("fused_relax_nn_conv2d_relax_nn_relu1_dnnl")),
         "the second match gets a number");

  // In [17], In [18]: earlier patterns go first, so only the convolutions are taken.
  const passes::Pattern conv2d_pat = MakeFusedBiasActivationPattern("relax.nn.conv2d");
  const passes::FusePatternOptions without_codegen{.bind_constants = true};
  patterns = {{"dnnl.conv2d", conv2d_pat}, {"dnnl.conv2d_relu", conv2d_relu_pat}};
  Show(FuseOpsByPattern(conv2d_relu_x2, patterns, options));
  Assert(Composites(FuseOpsByPattern(conv2d_relu_x2, patterns, without_codegen)) ==
             Names{{"fused_relax_nn_conv2d", "dnnl.conv2d"},
                   {"fused_relax_nn_conv2d1", "dnnl.conv2d"}},
         "both convolutions are composites of the first pattern");

  // In [19], In [20]
  const ir::Module conv2d_conv2d_relu = Read(kConv2dConv2dReLU);
  Show(conv2d_conv2d_relu);

  // In [21], In [22]: the notebook passes the module of the chapter before; nothing is left for the
  // second pattern.
  patterns = {{"dnnl.conv2d_relu", conv2d_relu_pat}, {"dnnl.conv2d", conv2d_pat}};
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
}

}  // namespace

int main() {
  try {
    Run();
    return 0;
  } catch (const tenon::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
