#include "tenon/schedule/lowered_checks.h"

#include <algorithm>
#include <unordered_set>

#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using loop::Stmt;

void CheckParallelInside(const Stmt& stmt, const loop::ForNode* outer) {
  loop::VisitStmts(stmt, [&](const Stmt& s) {
    const auto* n = s.As<loop::ForNode>();
    if (n == nullptr || n->for_kind != loop::ForKind::kParallel || n == outer) return;
    if (outer != nullptr) {
      throw InvalidArgument(StrCat("parallel: loop ", n->var.name(),
                                   " runs inside the parallel loop ", outer->var.name(),
                                   "; parallel loops may not nest"));
    }
    CheckParallelInside(n->body, n);
  });
}

bool Has(const std::vector<loop::Buffer>& buffers, const loop::Buffer& buffer) {
  return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
}

}  // namespace

void CheckArguments(const Schedule& schedule, const std::vector<Tensor>& args,
                    const ScanSteps& steps, const std::string& function) {
  const auto refuse = [&](const std::string& reason) {
    throw InvalidArgument(StrCat("lower ", function, ": ", reason));
  };
  std::vector<loop::Buffer> parameters;
  for (const Tensor& arg : args) parameters.push_back(arg.buffer());
  for (const auto& stage : schedule.stages()) {
    if (stage->op()->is_placeholder() && !steps.IsState(*stage) &&
        !Has(parameters, stage->op()->outputs[0]))
      refuse(StrCat("placeholder ", stage->name(), " is read but is not among the arguments"));
  }
  for (const Tensor& output : schedule.outputs()) {
    if (!Has(parameters, output.buffer()))
      refuse(StrCat("output ", output.name(), " is not among the arguments"));
  }
  for (const Tensor& arg : args) {
    const Stage* stage = schedule.Find(arg.op().get());
    if (stage != nullptr && !stage->op()->is_placeholder() && !stage->is_output())
      refuse(StrCat("argument ", arg.name(),
                    " is an intermediate stage; only placeholders and outputs are allowed"));
  }
}

void CheckOutputs(const Schedule& schedule, const std::vector<loop::Buffer>& parameters) {
  for (const auto& stage : schedule.stages()) {
    if (!stage->is_output() || stage->placement() != Stage::Placement::kAt) continue;
    const std::vector<loop::Buffer>& outputs = stage->op()->outputs;
    if (std::none_of(outputs.begin(), outputs.end(),
                     [&](const loop::Buffer& buffer) { return Has(parameters, buffer); }))
      continue;
    throw InvalidArgument(StrCat(
        "compute_at: stage ", stage->name(), ", computed at axis ", stage->attach_axis().var.name(),
        " of ", stage->attach_stage().name(), ": there is no such loop any more; choose another"));
  }
}

void CheckParallel(const Stmt& body) { CheckParallelInside(body, nullptr); }

void CheckPlacements(const Stmt& body, const std::vector<loop::Buffer>& parameters) {
  std::unordered_set<const loop::BufferNode*> known;
  for (const loop::Buffer& buffer : parameters) known.insert(buffer.get());
  loop::VisitStmts(body, [&](const Stmt& s) {
    if (const auto* n = s.As<loop::AllocateNode>()) known.insert(n->buffer.get());
  });
  loop::VisitExprs(body, [&](const Expr& e) {
    const auto* load = e.As<loop::LoadNode>();
    const auto* address = e.As<loop::AddressNode>();
    if (load == nullptr && address == nullptr) return;
    const loop::Buffer& buffer = load != nullptr ? load->buffer : address->buffer;
    if (known.contains(buffer.get())) return;
    throw InvalidArgument(StrCat("compute_at: stage ", buffer->name,
                                 " has a reader outside the loop that it is computed in; ",
                                 "choose a loop around all of its readers, or compute_root"));
  });
}

}  // namespace tenon::schedule
