#include "tenon/compiler/control/control_flow.h"

#include <unordered_map>
#include <vector>

#include "tenon/ir/visit.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {

// A depth-first walk over calls: one that leads to a function which is still being walked is
// recursion.
std::optional<std::string> ControlFlow(const ir::Module& module) {
  enum class Mark { kOpen, kDone };
  struct Frame {
    std::string name;
    std::vector<std::string> callees;
  };
  std::unordered_map<std::string, Mark> marks;
  std::vector<Frame> stack;
  bool has_if = false;
  const auto enter = [&](const std::string& name) {
    marks.emplace(name, Mark::kOpen);
    Frame frame{name, {}};
    if (const ir::Expr function = module.Find(name)) {
      ir::VisitPostOrder(function, [&](const ir::Expr& e) {
        has_if = has_if || e.kind() == ir::ExprKind::kIf;
        if (const auto* global = e.As<ir::GlobalVarNode>()) frame.callees.push_back(global->name);
      });
    }
    stack.push_back(std::move(frame));
  };
  enter("main");
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (has_if) return StrCat("@", top.name, " has an if");
    if (top.callees.empty()) {
      marks[top.name] = Mark::kDone;
      stack.pop_back();
      continue;
    }
    const std::string callee = std::move(top.callees.back());
    top.callees.pop_back();
    const auto mark = marks.find(callee);
    if (mark == marks.end()) {
      enter(callee);
    } else if (mark->second == Mark::kOpen) {
      return StrCat("@", callee, " calls itself");
    }
  }
  return std::nullopt;
}

}  // namespace tenon::compiler
