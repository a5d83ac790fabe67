// Losses.
#include <cmath>

#include "tenon/support/strings.h"
#include "tenon/tests/strategies/operator_cases.h"

namespace tenon::operator_cases {
namespace {

Reference LogLikelihood(const std::string& reduction, double ignored) {
  return [=](const Arrays& in) {
    const Array &x = in[0], &targets = in[1], &weights = in[2];
    double sum = 0, total = 0;
    const Array losses = Make(targets.shape, [&](const Index& at) {
      const double target = targets(at);
      const auto classes = static_cast<double>(weights.shape[0]);
      if (target == ignored || target < 0 || target >= classes) return 0.0;
      Index from = at;
      from.insert(from.begin() + (at.empty() ? 0 : 1), static_cast<std::int64_t>(target));
      const double weight = weights({static_cast<std::int64_t>(target)});
      sum -= x(from) * weight;
      total += weight;
      return -x(from) * weight;
    });
    if (reduction == "none") return Arrays{losses};
    return Arrays{{{}, {reduction == "sum" ? sum : sum / total}}};
  };
}

Reference Entropy(bool of_logarithms) {
  return [=](const Arrays& in) {
    double sum = 0;
    for (std::size_t i = 0; i < in[0].values.size(); ++i)
      sum -= in[1].values[i] * (of_logarithms ? in[0].values[i] : std::log(in[0].values[i]));
    return Arrays{{{}, {sum / static_cast<double>(in[0].shape[0])}}};
  };
}

}  // namespace

void AddLosses(std::vector<OpCase>* cases) {
  for (const std::string reduction : {"mean", "sum", "none"}) {
    const auto add = [&](const std::string& name, const Shape& shape, Input targets,
                         const std::string& attrs, double ignored) {
      const std::int64_t classes = shape[shape.size() == 1 ? 0 : 1];
      cases->push_back({StrCat("nn.nll_loss_", reduction, name),
                        {F("x", shape, -3, 0), std::move(targets), F("w", {classes}, 0.5, 2)},
                        StrCat("nn.nll_loss(%x, %t, %w, reduction=\"", reduction, "\"", attrs, ")"),
                        LogLikelihood(reduction, ignored)});
    };
    add("", {17, 5}, L("t", {17}, 0, 4), "", -100);
    add("_of_images", {3, 7, 4, 5}, I("t", {3, 4, 5}, 0, 6), ", ignore_index=2", 2);
    add("_of_one", {5}, With(I("t", {}), {3}), "", -100);
    // Targets that are no class: -100, -1, 5 and 2^40.
    add("_out_of_range", {6, 5}, With(L("t", {6}), {-100, 0, -1, 5, 1099511627776, 4}), "", -100);
    add("_of_none", {2, 5}, With(I("t", {2}), {-100, 7}), "", -100);
    add("_of_nothing", {0, 5}, I("t", {0}), "", -100);
    add("_of_no_class", {3, 0}, I("t", {3}), "", -100);
  }
  // What is ignored may be NaN.
  cases->push_back(
      {"nn.nll_loss_beside_nan",
       {With(F("x", {2, 2}), {kNaN, -1, -2, kNaN}), With(I("t", {2}), {1, 0}), F("w", {2}, 0.5, 2)},
       "nn.nll_loss(%x, %t, %w)",
       LogLikelihood("mean", -100)});
  for (const bool of_logarithms : {false, true}) {
    const std::string name = StrCat("nn.cross_entropy", of_logarithms ? "_with_logits" : "");
    const std::string body = StrCat(name, "(%x, %t)");
    const double low = of_logarithms ? -3 : 0.1;
    for (const Shape& shape : {Shape{1, 1}, {17, 5}, {3, 64}})
      cases->push_back({StrCat(name, "_", StrJoin(shape, "x")),
                        {F("x", shape, low, 1), F("t", shape, 0, 1)},
                        body,
                        Entropy(of_logarithms)});
    cases->push_back({StrCat(name, "_of_doubles"),
                      {With(D("x", {2, 2}), {0.25, 0.75, 0.5, 0.5}), D("t", {2, 2})},
                      body,
                      Entropy(of_logarithms)});
    cases->push_back({StrCat(name, "_of_nothing"),
                      {F("x", {0, 3}), F("t", {0, 3})},
                      body,
                      Entropy(of_logarithms)});
  }
  // Nothing times the logarithm of nothing.
  cases->push_back({"nn.cross_entropy_of_zero",
                    {With(F("x", {1, 2}), {0, 1}), With(F("t", {1, 2}), {0, 1})},
                    "nn.cross_entropy(%x, %t)",
                    Entropy(false)});
}

}  // namespace tenon::operator_cases
