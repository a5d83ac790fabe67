#include "tenon/schedule/parameters.h"

#include <algorithm>

#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {

Parameters::Parameters(const std::vector<Tensor>& args, const std::string& function) {
  for (const Tensor& arg : args) {
    if (Has(arg.buffer()))
      throw InvalidArgument(
          StrCat("lower ", function, ": argument ", arg.name(), " is given twice"));
    buffers_.push_back(arg.buffer());
    for (const loop::Expr& extent : arg.shape()) AddScalars(extent);
  }
  arguments_ = buffers_;
}

void Parameters::AddScalars(const loop::Expr& extent) {
  loop::VisitExpr(extent, [&](const loop::Expr& e) {
    if (e.kind() != loop::ExprKind::kVar) return;
    const auto same = [&](const loop::Var& v) { return v.same_as(e); };
    if (std::none_of(scalars_.begin(), scalars_.end(), same)) scalars_.emplace_back(e);
  });
}

bool Parameters::Has(const loop::Buffer& buffer) const {
  return std::find(buffers_.begin(), buffers_.end(), buffer) != buffers_.end();
}

void Parameters::Replace(const loop::Buffer& buffer, const loop::Buffer& memory) {
  std::replace(buffers_.begin(), buffers_.end(), loop::Buffer(buffer), memory);
}

loop::Stmt Parameters::UseArguments(const loop::Stmt& body) const {
  loop::BufferMap arguments;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (!(buffers_[i] == arguments_[i])) arguments.emplace(buffers_[i], arguments_[i]);
  }
  return arguments.empty() ? body : loop::ReplaceBuffers(body, arguments);
}

}  // namespace tenon::schedule
