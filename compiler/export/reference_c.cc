#include "tenon/compiler/export/reference_c.h"

#include <algorithm>

#include "tenon/compiler/export/c_model.h"
#include "tenon/jit/c/c_reference.h"
#include "tenon/loop/visit.h"
#include "tenon/ops/registry.h"
#include "tenon/strategies/lower/generic_loops.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

std::string ResultName(const ir::Expr& e) {
  const auto* call = e.As<ir::CallNode>();
  if (call == nullptr || call->op() == nullptr) return "placeholder";
  const std::string& name = call->op()->name;
  if (ops::OpOf(*call)->pattern == ops::OpPattern::kCommReduce)
    return ResultName(call->args[0]) + "_red";
  if (ops::OpOf(*call)->pattern == ops::OpPattern::kOutEWiseFusable) return name;
  return "T_" + name.substr(name.rfind('.') + 1);
}

std::vector<std::string> ResultNames(const ir::Expr& body) {
  const auto* tuple = body.As<ir::TupleNode>();
  if (tuple == nullptr) return {ResultName(body)};
  std::vector<std::string> names;
  for (const ir::Expr& field : tuple->fields) names.push_back(ResultName(field));
  return names;
}

loop::Function Renamed(const loop::Function& function, const std::vector<std::string>& results) {
  loop::Function renamed = function;
  loop::BufferMap buffers;
  const std::size_t inputs =
      function.buffers.size() - std::min(results.size(), function.buffers.size());
  for (std::size_t i = 0; i < function.buffers.size(); ++i) {
    const loop::Buffer& old = function.buffers[i];
    const std::string name = i >= inputs ? results[i - inputs]
                             : i == 0    ? std::string("placeholder")
                                         : StrCat("placeholder", i);
    renamed.buffers[i] = loop::Buffer::Make(name, old->dtype, old->shape);
    buffers.emplace(old, renamed.buffers[i]);
  }
  renamed.body = loop::Body(loop::ReplaceBuffers(function.body.stmt(), buffers));
  return renamed;
}

}  // namespace

std::string WriteReferenceC(const Lowered& lowered, const std::string& name) {
  std::vector<loop::Function> functions;
  for (const LoweredKernel& kernel : lowered.kernels) {
    const auto& function = *kernel.function.As<ir::FunctionNode>();
    functions.push_back(Renamed(strategies::GenericLoops(function, NameInExport(kernel.name, name)),
                                ResultNames(function.body)));
  }
  return jit::ReferenceC(functions);
}

}  // namespace tenon::compiler
