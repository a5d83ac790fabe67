#include "tenon/tests/passes/algebra_testing.h"

#include <regex>

namespace tenon::passes {

ir::Module WithConstants(const std::string& params, const std::string& body) {
  const ir::Module parsed =
      InferType(testing_graphs::Parsed("def @main(" + params + ") {\n" + body + "\n}"));
  ir::ExprMap constants;
  std::vector<ir::Expr> kept;
  int seed = 100;
  for (const ir::Expr& param : parsed.Main().params) {
    const std::string& name = param.As<ir::VarNode>()->name;
    if (!name.starts_with("k")) {
      kept.push_back(param);
      continue;
    }
    const auto& type = *param.checked_type().As<ir::TensorTypeNode>();
    const NDArray values = testing_graphs::Random(ir::StaticShape(param.checked_type(), "%" + name),
                                                  type.dtype, ++seed, 0.5, 2);
    if (name.starts_with("kn")) {
      for (std::int64_t i = 0; i < values.size(); i += 2)
        values.data<float>()[i] = -values.data<float>()[i];
    }
    constants.emplace(param, ir::Constant::Make(values));
  }
  const ir::Expr bound = ir::Substitute(parsed.Main().body, constants);
  return InferType(ir::Module().With("main", ir::Function::Make(kept, bound)));
}

std::string Body(const ir::Module& module) {
  std::string text = Print(module);
  text = std::regex_replace(text, std::regex(" /\\* ty=[^*]*\\*/"), "");
  text = std::regex_replace(text, std::regex("meta\\[relay.Constant\\]\\[(\\d+)\\]"), "k$1");
  text = text.substr(text.find("{\n") + 2);
  text = text.substr(0, text.rfind("}"));
  return std::regex_replace(text, std::regex("(^|\n)  "), "$1");
}

std::string LongChain(const char* first, const char* op, const char* operand, int depth) {
  std::string body = StrCat("%0 = ", first, ";\n");
  for (int i = 1; i < depth; ++i)
    StrAppend(&body, "%", i, " = ", op, "(%", i - 1, ", ", operand, ");\n");
  StrAppend(&body, "%last = ", op, "(%", depth - 1, ", ", operand, ");\n");
  return body;
}

std::vector<NDArray> ValuesOf(const ir::Module& module, runtime::Inputs inputs) {
  ir::ExprMap lifted;
  std::vector<ir::Expr> params = module.Main().params;
  ir::VisitPostOrder(module.Main().body, [&](const ir::Expr& e) {
    const auto* constant = e.As<ir::ConstantNode>();
    if (constant == nullptr || constant->data.shape().empty()) return;
    const std::string name = StrCat("constant", inputs.size());
    params.push_back(ir::Var::Make(name, e.checked_type()));
    lifted.emplace(e, params.back());
    inputs[name] = constant->data;
  });
  const ir::Expr body = ir::Substitute(module.Main().body, lifted);
  return testing_graphs::Interpreted(
      ir::Module().With("main", ir::Function::Make(std::move(params), body)), inputs);
}

void ExpectSameValues(const ir::Module& a, const ir::Module& b, double tolerance) {
  const runtime::Inputs inputs = testing_graphs::RandomInputs(a, 7);
  testing_graphs::ExpectClose(ValuesOf(b, inputs), ValuesOf(a, inputs), tolerance);
}

}  // namespace tenon::passes
