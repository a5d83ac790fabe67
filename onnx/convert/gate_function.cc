#include "tenon/onnx/convert/gate_function.h"

#include <optional>

#include "absl/strings/match.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// Numbers of the type of the layer.
struct Parameters {
  DataType type;
  double alpha, beta;
  Expr operator()(double value) const { return ops::Scalar(value, type); }
};

using Build = Expr (*)(const Expr& x, const Parameters& p);

Expr Positive(const Expr& x, const Parameters& p, double threshold) {
  return ir::Call::Make(ops::Known().greater, {x, p(threshold)});
}
Expr Affine(const Expr& x, const Parameters& p) {
  return ops::Add(ops::Multiply(x, p(p.alpha)), p(p.beta));
}
Expr Elu(const Expr& x, const Parameters& p) {
  return ops::Where(Positive(x, p, 0), x,
                    ops::Multiply(p(p.alpha), ops::Subtract(ops::Exp(x), p(1))));
}
Expr HardSigmoid(const Expr& x, const Parameters& p) { return ops::Clip(Affine(x, p), 0, 1); }
Expr LeakyRelu(const Expr& x, const Parameters& p) { return ops::LeakyRelu(x, p.alpha); }
Expr ScaledTanh(const Expr& x, const Parameters& p) {
  return ops::Multiply(p(p.alpha), ops::Tanh(ops::Multiply(p(p.beta), x)));
}
// Without overflow: max(x, 0) + log(1 + exp(-|x|)).
Expr Softplus(const Expr& x, const Parameters& p) {
  return ops::Add(ops::Maximum(x, p(0)),
                  ops::Log(ops::Add(p(1), ops::Exp(ops::Negative(ops::Abs(x))))));
}
Expr Softsign(const Expr& x, const Parameters& p) {
  return ops::Divide(x, ops::Add(p(1), ops::Abs(x)));
}
Expr ThresholdedRelu(const Expr& x, const Parameters& p) {
  return ops::Where(Positive(x, p, p.alpha), x, p(0));
}

// The values without a default are those of functions that do not have the parameter.
struct Row {
  const char* name;
  Build build;
  std::optional<double> alpha, beta;
  const char* field = nullptr;
};
constexpr Row kFunctions[] = {
    {"Affine", Affine, 1, 0},
    {"Elu", Elu, 1, {}},
    {"HardSigmoid", HardSigmoid, 0.2, 0.5},
    {"LeakyRelu", LeakyRelu, 0.01, {}},
    {"Relu", [](const Expr& x, const Parameters&) { return ops::Relu(x); }, {}, {}, "relu"},
    {"ScaledTanh", ScaledTanh, 1, 1},
    {"Sigmoid",
     [](const Expr& x, const Parameters&) { return ops::Sigmoid(x); },
     {},
     {},
     "sigmoid"},
    {"Softplus", Softplus, {}, {}},
    {"Softsign", Softsign, {}, {}},
    {"Tanh", [](const Expr& x, const Parameters&) { return ops::Tanh(x); }, {}, {}, "tanh"},
    {"ThresholdedRelu", ThresholdedRelu, 1, {}},
};

// Exporters write names in any case.
const Row& RowOf(const std::string& name) {
  std::vector<std::string> names;
  for (const Row& row : kFunctions) {
    if (absl::EqualsIgnoreCase(row.name, name)) return row;
    names.emplace_back(row.name);
  }
  throw Unimplemented(
      StrCat("the activation ", name, " is not supported; ", StrJoin(names, ", "), " are"));
}

// Functions take their parameters from a list in their order.
class ParameterList {
 public:
  ParameterList(Node& node, const char* name) {
    if (const auto* list = node.Find(name))
      values_.assign(list->floats().begin(), list->floats().end());
  }
  double Take(std::optional<double> otherwise) {
    if (!otherwise) return 0;
    return next_ < values_.size() ? values_[next_++] : *otherwise;
  }

 private:
  std::vector<double> values_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<GateFunction> GateFunctionsOf(Node& node, const std::vector<std::string>& defaults,
                                          std::size_t gates, std::int64_t directions) {
  std::vector<std::string> names;
  if (const auto* given = node.Find("activations"))
    names.assign(given->strings().begin(), given->strings().end());
  if (names.empty()) {
    for (std::int64_t k = 0; k < directions; ++k)
      names.insert(names.end(), defaults.begin(), defaults.end());
  }
  const std::size_t wanted = defaults.size() * static_cast<std::size_t>(directions);
  if (names.size() != wanted)
    throw InvalidArgument(StrCat("activations has ", names.size(), " names; it takes ", wanted));
  ParameterList alphas(node, "activation_alpha"), betas(node, "activation_beta");
  const bool has_clip = node.Has("clip");
  const double limit = node.Float("clip", 0);
  if (has_clip && !(limit >= 0))
    throw InvalidArgument(StrCat("clip is ", limit, "; it must not be negative"));
  std::vector<GateFunction> functions;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Row& row = RowOf(names[i]);
    const bool clips = has_clip && i % defaults.size() < gates;
    const Parameters p{DataTypeOf(node.input(0)), alphas.Take(row.alpha), betas.Take(row.beta)};
    functions.push_back(
        {.make = [build = row.build, p, clips, limit](
                     const Expr& x) { return build(clips ? ops::Clip(x, -limit, limit) : x, p); },
         .field = clips ? nullptr : row.field});
  }
  return functions;
}

}  // namespace tenon::onnx_import
