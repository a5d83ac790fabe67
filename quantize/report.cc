#include "tenon/quantize/report.h"

#include <algorithm>
#include <cstdio>

#include "tenon/support/strings.h"

namespace tenon::quantize {
namespace {

std::string Percent(double part) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", part * 100);
  return text;
}

std::string Losses(const std::vector<double>& losses) {
  return StrJoin(losses, ", ",
                 [](std::string* text, double loss) { StrAppend(text, Percent(loss)); });
}

}  // namespace

std::string NameOf(const ir::Expr& e) {
  if (const auto* var = e.As<ir::VarNode>()) return StrCat("the input ", var->name);
  if (e.span().known()) return e.span().ToString();
  const auto* call = e.As<ir::CallNode>();
  const auto* op = call == nullptr ? nullptr : call->callee.As<ir::OpNode>();
  return op == nullptr ? "a value" : StrCat("a result of ", op->name);
}

std::string ToText(const QuantizeReport& report) {
  std::string text;
  const auto bytes =
      std::ranges::count_if(report.products, &std::string::empty, &ProductReport::floats);
  StrAppend(&text, bytes, " of ", report.products.size(), " products on bytes, ranges by ",
            NameOf(report.rule), " over ", report.samples,
            report.samples == 1 ? " sample\n" : " samples\n");
  for (const ProductReport& product : report.products) {
    StrAppend(&text, "  ", product.name, ": ");
    std::vector<std::string> parts;
    if (product.noise > 0) parts.push_back(StrCat("noise ", Percent(product.noise)));
    if (product.loss_alone) parts.push_back(StrCat("loss alone ", Percent(*product.loss_alone)));
    if (!product.floats.empty()) parts.push_back(StrCat("in floating point: ", product.floats));
    StrAppend(&text, StrJoin(parts, ", "), "\n");
  }
  StrAppend(&text, "loss of the results: ", Losses(report.loss));
  if (report.loss != report.loss_of_all)
    StrAppend(&text, " (", Losses(report.loss_of_all), " with all products on bytes)");
  return text + "\n";
}

}  // namespace tenon::quantize
