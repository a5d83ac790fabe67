// Post-training quantisation as in "A White Paper on Neural Network Quantization" (Nagel et al.,
// 2021), section 3: fold normalisation, choose ranges from samples, round weights by channel. How
// many products must stay in floating point is found by bisection over their order by what each
// costs alone; that takes a compile for each product.
#include "tenon/quantize/quantize.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <utility>

#include "tenon/compiler/named_passes.h"
#include "tenon/compiler/symbolic/named_extents.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/layout/blocked_conv.h"
#include "tenon/passes/quantize/insert_quantization.h"
#include "tenon/passes/quantize/quantization_plan.h"
#include "tenon/quantize/calibrate.h"
#include "tenon/quantize/loss.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::quantize {
namespace {

using ir::Expr;
using passes::ByteRange;
using passes::QuantizationPlan;

// Whether each channel of the result reads one channel of the data.
bool IsDepthwise(const Expr& product) {
  const auto& call = *product.As<ir::CallNode>();
  return call.callee == ops::Known().conv2d && passes::IsDepthwise(call);
}

// What a product costs alone is measured over so many samples.
constexpr std::size_t kSamplesAlone = 4;

// What makes weights of constants, so that their bytes are those that are multiplied.
constexpr char kPreparation[] =
    "ReferencesToValues, Inline{all}, InferType, SimplifyInference, DeadCodeElimination, "
    "FoldAffine, "
    "FoldConstant, FoldAffine, FoldExplicitPadding, EliminateCommonSubexpr, InferType";

// The bindings of a function's body as the graph that they stand for: each variable is its value.
Expr WithoutLets(const Expr& function) {
  const auto& node = *function.As<ir::FunctionNode>();
  ir::ExprMap values;
  Expr body = node.body;
  for (const auto* let = body.As<ir::LetNode>(); let != nullptr; let = body.As<ir::LetNode>()) {
    values.emplace(let->var, ir::Substitute(let->value, values));
    body = let->body;
  }
  if (values.empty()) return function;
  return ir::Function::Make(node.params, ir::Substitute(body, values), node.ret_type, node.attrs,
                            function.span());
}

ir::Module Prepared(const ir::Module& module) {
  if (compiler::HasSymbols(module))
    throw Unimplemented(
        "the module has extents that are variables; products of these have no integer kernels, so "
        "give numbers (--shape)");
  const ir::Module plain = module.With("main", WithoutLets(module.Get("main")));
  return passes::RunPasses(passes::ParsePipeline(kPreparation, DefaultPassArguments()), plain, {});
}

double Worst(const std::vector<double>& losses) {
  return losses.empty() ? 0 : *std::ranges::max_element(losses);
}

class Quantization {
 public:
  Quantization(const ir::Module& module, const SampleSource& samples,
               const QuantizeOptions& options)
      : samples_(samples), options_(options), module_(Prepared(module)) {}

  Quantized Run() {
    CheckOptions();
    CollectProducts();
    Say("calibrating");
    const QuantizationPlan plan = PlanWithout({});
    if (plan.products.empty()) Refuse(plan);
    const std::vector<Histogram> seen =
        Calibrate(module_, plan.values, Counted(), options_.compile);
    for (std::size_t i = 0; i < plan.values.size(); ++i) {
      ranges_.emplace(plan.values[i], ChooseRange(seen[i], options_.range));
      noise_.emplace(plan.values[i], NoiseOf(seen[i], ranges_.at(plan.values[i])));
    }
    Report(plan);
    Say("measuring the loss");
    standard_ = ValueOrThrow(Compile(module_, options_.compile));
    ir::Module result = Without({});
    report_.loss_of_all = report_.loss = LossOf(result, samples_);
    if (options_.max_loss && Worst(report_.loss) > *options_.max_loss) result = WithinLoss(plan);
    return {std::move(result), std::move(report_)};
  }

 private:
  using Calls = std::set<const ir::ExprNode*>;

  void Say(const std::string& step) const {
    if (options_.progress != nullptr) options_.progress(step);
  }

  void CheckOptions() const {
    const double percentile = options_.range.percentile;
    if (!(percentile > 50 && percentile <= 100))
      throw InvalidArgument(
          StrCat("percentile is ", percentile, "; it is above 50 and at most 100"));
    if (options_.max_loss && !(*options_.max_loss >= 0))
      throw InvalidArgument(StrCat("max_loss is ", *options_.max_loss, "; it is at least 0"));
  }

  // Why each product that stays in floating point by an option does.
  void CollectProducts() {
    const QuantizationPlan all = passes::PlanQuantization(module_);
    if (!options_.depthwise) {
      for (const Expr& product : all.products) {
        if (IsDepthwise(product))
          kept_.emplace(product.get(), "a depthwise convolution is slower on bytes");
      }
    }
    for (const std::string& name : options_.keep_float) {
      std::vector<std::string> known;
      bool found = false;
      for (const Expr& product : all.products) {
        known.push_back(NameOf(product));
        if (known.back() != name && !known.back().starts_with(name + " (")) continue;
        kept_.insert_or_assign(product.get(), "it is to be kept");
        found = true;
      }
      if (!found)
        throw NotFound(StrCat("there is no product ", name,
                              " to keep in floating point; there are ", StrJoin(known, ", ")));
    }
    order_ = all.products;
  }

  [[noreturn]] static void Refuse(const QuantizationPlan& plan) {
    Error error = InvalidArgument(
        "the module has no product of float32 (nn.conv2d, nn.dense, nn.matmul, nn.batch_matmul) "
        "that can be computed on bytes");
    for (const auto& [call, reason] : plan.refusals)
      error.AddNote(StrCat(NameOf(call), ": ", reason));
    throw error;
  }

  // The samples, counted in the report.
  SampleSource Counted() {
    return [this](std::size_t index) {
      auto inputs = samples_(index);
      if (inputs) report_.samples = std::max(report_.samples, index + 1);
      return inputs;
    };
  }

  QuantizationPlan PlanWithout(const Calls& floats) const {
    return passes::PlanQuantization(module_, [&](const Expr& product) {
      return !kept_.contains(product.get()) && !floats.contains(product.get());
    });
  }

  // With fewer products on bytes, some are read only after operators that move them.
  const ByteRange& RangeOf(const Expr& value) const {
    Expr source = value;
    while (!ranges_.contains(source)) source = source.As<ir::CallNode>()->args[0];
    return ranges_.at(source);
  }

  ir::Module Without(const Calls& floats) const {
    const QuantizationPlan plan = PlanWithout(floats);
    std::vector<ByteRange> ranges;
    for (const Expr& value : plan.values) ranges.push_back(RangeOf(value));
    return passes::InsertQuantization(module_, plan, ranges);
  }

  std::vector<double> LossOf(const ir::Module& module, const SampleSource& samples) const {
    return quantize::LossOf(ValueOrThrow(Compile(module, options_.compile)), *standard_, samples);
  }

  void Report(const QuantizationPlan& plan) {
    report_.rule = options_.range.rule;
    std::unordered_map<const ir::ExprNode*, double> noise;
    for (const auto& operand : plan.operands)
      noise[operand.reader.get()] += noise_.at(plan.values[operand.value]);
    for (const auto& weight : plan.weights) {
      const Expr& given = weight.call.As<ir::CallNode>()->args[weight.index];
      noise[weight.call.get()] +=
          passes::WeightNoise(given.As<ir::ConstantNode>()->data, weight.axis);
    }
    for (const Expr& product : order_) {
      ProductReport entry{.name = NameOf(product), .noise = std::sqrt(noise[product.get()])};
      if (const auto kept = kept_.find(product.get()); kept != kept_.end())
        entry.floats = kept->second;
      place_.emplace(product.get(), report_.products.size());
      report_.products.push_back(std::move(entry));
    }
    for (const auto& [call, reason] : plan.refusals)
      report_.products.push_back({.name = NameOf(call), .noise = 0, .floats = reason});
  }

  // What each product costs when it alone is on bytes. Costs add up about as squares do, so that
  // those of the highest cost are the ones to leave out.
  void MeasureAlone(const std::vector<Expr>& products) {
    const SampleSource first = [&](std::size_t index) {
      return index < kSamplesAlone ? samples_(index) : std::nullopt;
    };
    Calls others;
    for (const Expr& product : products) others.insert(product.get());
    for (std::size_t i = 0; i < products.size(); ++i) {
      const ir::ExprNode* product = products[i].get();
      ProductReport& entry = report_.products[place_.at(product)];
      Say(StrCat("measuring the loss by ", entry.name, " alone, ", i + 1, " of ", products.size()));
      others.erase(product);
      entry.loss_alone = Worst(LossOf(Without(others), first));
      others.insert(product);
    }
  }

  // The fewest products in floating point, those of the highest cost first, that bring the loss
  // within the bound. With all of them, there is none.
  ir::Module WithinLoss(const QuantizationPlan& plan) {
    MeasureAlone(plan.products);
    std::vector<Expr> costliest = plan.products;
    std::ranges::stable_sort(costliest, std::greater(), [&](const Expr& e) {
      return *report_.products[place_.at(e.get())].loss_alone;
    });
    const auto first = [&](std::size_t count) {
      Calls floats;
      for (std::size_t i = 0; i < count; ++i) floats.insert(costliest[i].get());
      return floats;
    };
    // With `low` the loss is too high, with `high` it is not.
    std::size_t low = 0, high = costliest.size();
    ir::Module result = module_;
    report_.loss.assign(report_.loss.size(), 0);
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      Say(StrCat("measuring the loss with ", middle, " of ", costliest.size(),
                 " products in floating point"));
      ir::Module tried = Without(first(middle));
      std::vector<double> loss = LossOf(tried, samples_);
      if (Worst(loss) > *options_.max_loss) {
        low = middle;
      } else {
        high = middle;
        result = std::move(tried);
        report_.loss = std::move(loss);
      }
    }
    for (std::size_t i = 0; i < high; ++i)
      report_.products[place_.at(costliest[i].get())].floats = "the loss would be too high";
    return result;
  }

  const SampleSource& samples_;
  const QuantizeOptions& options_;
  const ir::Module module_;
  std::vector<Expr> order_;                                    // products
  std::unordered_map<const ir::ExprNode*, std::string> kept_;  // in floating point, and why
  std::unordered_map<Expr, ByteRange, ir::ExprHash> ranges_;
  std::unordered_map<Expr, double, ir::ExprHash> noise_;  // mean square error of a value, over it
  std::unordered_map<const ir::ExprNode*, std::size_t> place_;  // in the report
  std::optional<Executable> standard_;
  QuantizeReport report_;
};

}  // namespace

absl::StatusOr<Quantized> Quantize(const ir::Module& module, const SampleSource& samples,
                                   const QuantizeOptions& options) {
  return CatchErrors([&] { return Quantization(module, samples, options).Run(); });
}

}  // namespace tenon::quantize
