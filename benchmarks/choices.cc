// The row that is chosen for a product or a convolution against the best of the others: those that
// were not refused and not taken, and the library's wherever it can be made. A ratio below 100 %
// says what a better choice would save.
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

// A sum follows the anchor. Before a relu the library's rows would be refused: they lose NaN there.
ir::Expr WithBias(const ir::Expr& result, const Shape& bias) {
  return ops::Add(result, ir::Constant::Make(RandomArray(bias, 3)));
}

struct ProductWork {
  std::int64_t batch;
  Product product;
  bool b_is_constant, b_by_columns;
};

Work WorkOf(const ProductWork& work) {
  const Product& p = work.product;
  Shape left = {p.rows, p.depth}, right = {p.columns, p.depth};
  if (!work.b_by_columns) std::swap(right[0], right[1]);
  if (work.batch > 1) {
    left.insert(left.begin(), work.batch);
    right.insert(right.begin(), work.batch);
  }
  const Tensor a = RandomArray(left), b = RandomArray(right, 2);
  const ir::Expr x = Input("a", left);
  const ir::Expr w = work.b_is_constant ? ir::Constant::Make(b) : ir::Expr(Input("b", right));
  const ir::Expr result = work.batch > 1
                              ? ops::BatchMatmul(x, w, {.transpose_b = work.b_by_columns})
                          : work.b_by_columns ? ops::Dense(x, w)
                                              : ops::Matmul(x, w);
  Work made{.module = ir::Module::FromExpr(WithBias(result, {p.columns})), .inputs = {{"a", a}}};
  if (!work.b_is_constant) made.inputs["b"] = b;
  return made;
}

Work WorkOf(const ConvolutionShape& s) {
  const Tensor x = RandomArray({1, s.in_channels, s.size, s.size});
  const Tensor w = RandomArray({s.out_channels, s.in_channels / s.groups, s.kernel, s.kernel}, 2);
  const ir::Expr sum = ops::Conv2D(Input("x", x.shape()), ir::Constant::Make(w),
                                   {.strides = {s.stride, s.stride},
                                    .padding = {s.padding, s.padding},
                                    .groups = s.groups,
                                    .channels = s.out_channels,
                                    .kernel_size = ops::Ints{s.kernel, s.kernel}});
  return {.module = ir::Module::FromExpr(WithBias(sum, {s.out_channels, 1, 1})),
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
  const CompileOptions options{.threads = threads};
  std::string chosen;
  const std::vector<std::string> rows = OtherRows(Lower(work.module, options).value(), &chosen);
  const auto ours = std::make_shared<CompiledGraph>(work.module, work.inputs, options);
  ours->Call();
  Contestants contestants = {{Role::kTenon, chosen, [ours] { ours->Call(); }}};
  double least = std::numeric_limits<double>::infinity();
  const auto race = [&](const std::string& name, const CompileOptions& by_row) {
    const auto other = std::make_shared<CompiledGraph>(work.module, work.inputs, by_row);
    const double seconds = RoughSeconds(*other);
    RequireClose(other->result(), ours->result(), 1e-3);
    if (seconds >= least) return;
    least = seconds;
    contestants.resize(1);
    contestants.push_back({Role::kPeer, name, [other] { other->Call(); }});
  };
  for (const std::string& row : rows) {
    CompileOptions by_row = options;
    by_row.measured = [&](const std::string&) {
      return strategies::MeasuredChoice{.row = row, .evidence = "asked for"};
    };
    race(row, by_row);
  }
  CompileOptions by_library = options;
  by_library.library = LibraryChoice::kLibrary;
  std::string of_library;
  OtherRows(Lower(work.module, by_library).value(), &of_library);
  if (of_library.starts_with("onednn") && of_library != chosen) race(of_library, by_library);
  return contestants;
}

constexpr Product kProducts[] = {
    {1, 512, 784},      {1, 1000, 2048}, {4, 512, 784},   {16, 512, 784},   {16, 512, 512},
    {16, 10, 512},      {64, 768, 768},  {128, 768, 768}, {128, 3072, 768}, {512, 768, 768},
    {1024, 1024, 1024}, {64, 1000, 512}, {128, 1000, 512}};

// Those of the heads of attention: scores and their sums of values, short, usual and long.
constexpr Product kBatchedProducts[] = {{16, 16, 64},   {16, 64, 16},   {128, 128, 64},
                                        {128, 64, 128}, {512, 512, 64}, {512, 64, 512}};

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
  const auto race_product = [&](const ProductWork& work) {
    const Product& p = work.product;
    race(StrCat("product of ", work.batch > 1 ? StrCat(work.batch, " x ") : "", p.rows, " x ",
                p.columns, " x ", p.depth, work.b_is_constant ? ", constant b" : ", b",
                work.b_by_columns ? " by columns" : " by rows"),
         [=] { return WorkOf(work); });
  };
  for (const bool is_constant : {true, false}) {
    for (const bool by_columns : {true, false}) {
      for (const Product& product : kProducts) race_product({1, product, is_constant, by_columns});
    }
  }
  for (const bool by_columns : {true, false}) {
    for (const Product& product : kBatchedProducts) race_product({12, product, false, by_columns});
  }
  for (const Kind& kind : kKinds) {
    for (const Image& image : kImages) {
      race(StrCat(kind.name, ", ", image.channels, " channels of ", image.size, " x ", image.size),
           [=] { return WorkOf(ShapeOf(kind, image)); });
    }
  }
}

}  // namespace tenon::benchmarks
