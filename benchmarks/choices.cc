// The row that is chosen for a product or a convolution against the best of those that were not
// refused and not taken. A ratio below 100 % says what a better choice would save.
#include <algorithm>
#include <chrono>
#include <limits>

#include "tenon/benchmarks/compiled_graph.h"
#include "tenon/benchmarks/convolution_kinds.h"
#include "tenon/benchmarks/families.h"
#include "tenon/support/strings.h"

namespace tenon::benchmarks {
namespace {

struct Work {
  ir::Module module;
  runtime::Inputs inputs;
};

Work WorkOf(const Product& p, bool is_constant) {
  const Tensor a = RandomArray({p.rows, p.depth}), b = RandomArray({p.columns, p.depth}, 2);
  const ir::Expr x = Input("a", a.shape());
  const ir::Expr w = is_constant ? ir::Constant::Make(b) : ir::Expr(Input("b", b.shape()));
  Work work{.module = ir::Module::FromExpr(ops::Relu(ops::Dense(x, w))), .inputs = {{"a", a}}};
  if (!is_constant) work.inputs["b"] = b;
  return work;
}

Work WorkOf(const ConvolutionShape& s) {
  const Tensor x = RandomArray({1, s.in_channels, s.size, s.size});
  const Tensor w = RandomArray({s.out_channels, s.in_channels / s.groups, s.kernel, s.kernel}, 2);
  return {.module = ir::Module::FromExpr(
              ops::Relu(ops::Conv2D(Input("x", x.shape()), ir::Constant::Make(w),
                                    {.strides = {s.stride, s.stride},
                                     .padding = {s.padding, s.padding},
                                     .groups = s.groups,
                                     .channels = s.out_channels,
                                     .kernel_size = ops::Ints{s.kernel, s.kernel}}))),
          .inputs = {{"x", x}}};
}

// The least time of a few batches: enough to tell which row to race against.
double RoughSeconds(const CompiledGraph& graph) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kBatch(2);
  double least = std::numeric_limits<double>::infinity();
  graph.Call();
  for (int batch = 0; batch < 5; ++batch) {
    const Clock::time_point start = Clock::now();
    int calls = 0;
    while (Clock::now() - start < kBatch) {
      graph.Call();
      ++calls;
    }
    const std::chrono::duration<double> taken = Clock::now() - start;
    least = std::min(least, taken.count() / calls);
  }
  return least;
}

// The rows of the kernel that calls the anchor, which is the only one that has several.
std::vector<std::string> OtherRows(const Lowered& lowered, std::string* chosen) {
  std::vector<std::string> others;
  for (const LoweredKernel& kernel : lowered.kernels) {
    const strategies::Choice& choice = kernel.choice;
    if (choice.candidates.size() < 2) continue;
    *chosen = choice.candidates[choice.chosen].name;
    for (std::size_t i = 0; i < choice.candidates.size(); ++i) {
      if (i != choice.chosen && !choice.candidates[i].refusal)
        others.push_back(choice.candidates[i].name);
    }
  }
  return others;
}

Contestants Prepare(const Work& work, int threads) {
  CompileOptions options{.threads = threads};
  const auto compiled = [&] {
    return std::make_shared<CompiledGraph>(work.module, work.inputs, options);
  };
  std::string chosen;
  const std::vector<std::string> rows = OtherRows(Lower(work.module, options).value(), &chosen);
  const std::shared_ptr<CompiledGraph> ours = compiled();
  ours->Call();
  Contestants contestants = {{Role::kTenon, chosen, [ours] { ours->Call(); }}};
  double least = std::numeric_limits<double>::infinity();
  for (const std::string& row : rows) {
    options.measured = [&](const std::string&) {
      return strategies::MeasuredChoice{.row = row, .evidence = "asked for"};
    };
    const std::shared_ptr<CompiledGraph> other = compiled();
    const double seconds = RoughSeconds(*other);
    RequireClose(other->result(), ours->result(), 1e-3);
    if (seconds >= least) continue;
    least = seconds;
    contestants.resize(1);
    contestants.push_back({Role::kPeer, row, [other] { other->Call(); }});
  }
  return contestants;
}

constexpr Product kProducts[] = {{1, 512, 784},   {1, 1000, 2048},   {4, 512, 784},
                                 {16, 512, 784},  {16, 512, 512},    {16, 10, 512},
                                 {64, 768, 768},  {128, 768, 768},   {128, 3072, 768},
                                 {512, 768, 768}, {1024, 1024, 1024}};

}  // namespace

void AddChoices(std::vector<Race>& races) {
  const auto race = [&](const std::string& name, const auto& make) {
    for (const int threads : {1, 2}) {
      races.push_back({.table = "choice",
                       .name = name,
                       .threads = threads,
                       .aim = {.of_peer = 0.97},
                       .prepare = [=] { return Prepare(make(), threads); }});
    }
  };
  for (const Product& product : kProducts) {
    for (const bool is_constant : {true, false}) {
      race(StrCat("product of ", product.rows, " x ", product.columns, " x ", product.depth,
                  is_constant ? ", constant b" : ""),
           [=] { return WorkOf(product, is_constant); });
    }
  }
  for (const Kind& kind : kKinds) {
    for (const Image& image : kImages) {
      race(StrCat(kind.name, ", ", image.channels, " channels of ", image.size, " x ", image.size),
           [=] { return WorkOf(ShapeOf(kind, image)); });
    }
  }
}

}  // namespace tenon::benchmarks
