#include "tenon/verify/verify_schedule.h"

#include <algorithm>

#include "tenon/compiler/build.h"
#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/schedule/lower.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/interpret.h"
#include "tenon/verify/array_values.h"

namespace tenon::jit {
namespace {

using loop::Expr;

constexpr std::int64_t kDefaultSize = 17;
// The interpreter computes this many terms in about a second.
constexpr double kInterpretedTerms = 1e7;
constexpr double kRoundings = 64;

std::int64_t ValueOf(const Expr& extent, const loop::ExprMap& sizes) {
  const Expr value = loop::Simplify(loop::Substitute(extent, sizes));
  const auto* imm = value.As<loop::IntImmNode>();
  if (imm == nullptr)
    throw InvalidArgument(StrCat("verify: the extent ", loop::Print(extent), " has no value"));
  return imm->value;
}

// An access outside an array may give the right result by chance.
CompileOptions Checked(CompileOptions options) {
  options.check_bounds = true;
  options.pipeline.verify = true;
  return options;
}

class Verifier {
 public:
  Verifier(const std::vector<te::Tensor>& outputs, const std::vector<te::Tensor>& args,
           const VerifyOptions& options)
      : outputs_(outputs), args_(args), options_(options) {
    CollectSizes();
    for (const te::Operation& op : te::PostOrder(outputs)) Weigh(*op);
  }

  void Check(const Kernel& kernel) {
    verify::Random random(options_.seed);
    std::vector<NDArray> arrays;
    for (const te::Tensor& arg : args_) {
      arrays.push_back(arg.op()->is_placeholder()
                           ? verify::RandomArray(ShapeOf(arg), arg.dtype(), random)
                           : verify::Unwritten(ShapeOf(arg), arg.dtype()));
    }
    const std::vector<NDArray> expected = Expected(arrays);
    const absl::Status status = kernel.Run(arrays);
    if (!status.ok()) throw FromStatus(status);
    for (std::size_t i = 0; i < args_.size(); ++i) {
      if (!args_[i].op()->is_placeholder()) Compare(args_[i], arrays[i], expected[i]);
    }
  }

 private:
  void CollectSizes() {
    for (const auto& [var, size] : options_.sizes) {
      if (size < 0)
        throw InvalidArgument(
            StrCat("verify: the size of ", var.name(), " is ", size, "; it must be at least 0"));
      sizes_.insert_or_assign(var, Expr(size));
    }
    std::size_t known = 0;
    loop::ExprMap seen;
    for (const te::Tensor& arg : args_) {
      for (const Expr& extent : arg.shape()) {
        loop::VisitExpr(extent, [&](const Expr& e) {
          if (e.kind() != loop::ExprKind::kVar || !seen.emplace(e, e).second) return;
          if (!sizes_.emplace(e, Expr(kDefaultSize)).second) ++known;
        });
      }
    }
    if (known == options_.sizes.size()) return;
    for (const auto& [var, size] : options_.sizes) {
      if (!seen.contains(var))
        throw InvalidArgument(
            StrCat("verify: ", var.name(), " is not a symbolic extent of an argument"));
    }
  }

  Shape ShapeOf(const te::Tensor& tensor) const {
    Shape shape;
    for (const Expr& extent : tensor.shape()) shape.push_back(ValueOf(extent, sizes_));
    return shape;
  }

  // Counts the terms of an operation.
  void Weigh(const te::OperationNode& op) {
    for (const loop::Buffer& buffer : op.outputs) {
      double terms = 1;
      for (const te::IterVar& axis : op.reduce_axes)
        terms *= static_cast<double>(ValueOf(axis.extent, sizes_));
      for (const Expr& extent : buffer->shape)
        terms *= static_cast<double>(ValueOf(extent, sizes_));
      terms_ += terms;
    }
  }

  std::vector<NDArray> Expected(const std::vector<NDArray>& arrays) {
    std::vector<NDArray> expected = arrays;
    if (terms_ > kInterpretedTerms) {
      for (std::size_t i = 0; i < args_.size(); ++i) {
        if (!args_[i].op()->is_placeholder())
          expected[i] = verify::Unwritten(arrays[i].shape(), arrays[i].dtype());
      }
      const Kernel kernel =
          ValueOrThrow(Build(schedule::Schedule(outputs_), args_, "unscheduled", options_.compile));
      const absl::Status status = kernel.Run(expected);
      if (!status.ok()) throw FromStatus(status);
      return expected;
    }
    std::vector<std::pair<te::Tensor, NDArray>> inputs;
    std::vector<te::Tensor> computed;
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < args_.size(); ++i) {
      if (args_[i].op()->is_placeholder()) {
        inputs.emplace_back(args_[i], arrays[i]);
      } else {
        computed.push_back(args_[i]);
        positions.push_back(i);
      }
    }
    const std::vector<NDArray> results = te::Interpret(computed, inputs);
    for (std::size_t i = 0; i < positions.size(); ++i) expected[positions[i]] = results[i];
    return expected;
  }

  void Compare(const te::Tensor& tensor, const NDArray& actual, const NDArray& expected) const {
    const double scale = std::max(1.0, verify::LargestMagnitude(expected));
    const double tolerance =
        scale * options_.tolerance.value_or(DefaultTolerance(outputs_, sizes_));
    const auto difference = verify::FirstDifference(actual, expected, tolerance);
    if (!difference) return;
    std::string words = StrCat("verify: ", tensor.name(), "(", StrJoin(difference->index, ", "),
                               ") is ", difference->actual, "; it must be ", difference->expected);
    if (tensor.dtype().is_float()) words += StrCat(" within ", tolerance);
    throw DataLoss(
        StrCat(words, " (shape ", ShapeToString(expected.shape()), ", seed ", options_.seed, ")"));
  }

  const std::vector<te::Tensor>& outputs_;
  const std::vector<te::Tensor>& args_;
  const VerifyOptions& options_;
  loop::ExprMap sizes_;
  double terms_ = 0;
};

}  // namespace

double DefaultTolerance(const std::vector<te::Tensor>& outputs, const loop::ExprMap& sizes) {
  double reduced = 1, rounding = 0;
  for (const te::Operation& op : te::PostOrder(outputs)) {
    for (const te::IterVar& axis : op->reduce_axes)
      reduced *= std::max(1.0, static_cast<double>(ValueOf(axis.extent, sizes)));
    for (const loop::Buffer& buffer : op->outputs)
      rounding = std::max(rounding, verify::RoundingError(buffer->dtype));
  }
  return rounding * (kRoundings + reduced);
}

absl::Status Verify(const schedule::Schedule& schedule, const std::vector<te::Tensor>& args,
                    const VerifyOptions& options) {
  return CatchErrors([&] {
    const Kernel kernel = ValueOrThrow(Build(schedule, args, "verified", Checked(options.compile)));
    Verifier(schedule.outputs(), args, options).Check(kernel);
  });
}

absl::Status VerifyLoops(const loop::Function& function, const std::vector<te::Tensor>& outputs,
                         const std::vector<te::Tensor>& args, const VerifyOptions& options) {
  return CatchErrors([&] {
    const Kernel kernel = ValueOrThrow(Compile(function, Checked(options.compile)));
    Verifier(outputs, args, options).Check(kernel);
  });
}

}  // namespace tenon::jit
