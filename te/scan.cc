#include "tenon/te/scan.h"

#include <unordered_set>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::te {
namespace {

// Checks what is given before anything is made.
class ScanChecker {
 public:
  ScanChecker(const std::string& name, const std::vector<Tensor>& init,
              const std::vector<Tensor>& update, const std::vector<Tensor>& state)
      : name_(name), init_(init), update_(update), state_(state) {}

  void CheckGiven() const {
    if (state_.empty()) Refuse("there is no state");
    if (init_.size() != state_.size() || update_.size() != state_.size())
      Refuse(StrCat(init_.size(), " inits, ", update_.size(), " updates and ", state_.size(),
                    " states are given; every state needs one of each"));
    for (const auto* tensors : {&init_, &update_, &state_}) {
      for (const Tensor& tensor : *tensors) tensor.buffer();  // throws where it is null
    }
    for (std::size_t i = 0; i < state_.size(); ++i) CheckState(i);
    const Expr &first = init_[0].shape()[0], &steps = state_[0].shape()[0];
    if (loop::CanProve(first > steps, {}) || loop::CanProve(first < 1, {}))
      Refuse(StrCat("the inits give ", loop::Print(first), " steps of ", loop::Print(steps),
                    "; at least 1 and at most all are allowed"));
  }

  // `steps` has the operations between states and updates.
  void CheckSteps(const std::vector<Operation>& steps) const {
    std::unordered_set<const OperationNode*> inside;
    for (const Operation& op : steps) inside.insert(op.get());
    for (const Operation& op : steps) {
      if (!op->is_compute()) {
        Refuse(StrCat(op->name, ", which depends on a state, is an external operation or a scan; ",
                      "only computes are allowed there"));
      }
      if (op->axes.empty())
        Refuse(StrCat(op->name, " depends on a state and has no time dimension"));
      const Expr &extent = op->outputs[0]->shape[0], &all = state_[0].shape()[0];
      if (!Equal(extent, all))
        Refuse(StrCat(op->name, " depends on a state and has ", loop::Print(extent),
                      " steps; it must have all ", loop::Print(all)));
      if (!op->target.empty())
        Refuse(
            StrCat(op->name,
                   ", which depends on a state, computes where its terms go; a step must compute "
                   "its elements one by one"));
      for (const Expr& body : op->Expressions()) CheckReads(*op, body, inside);
    }
  }

 private:
  [[noreturn]] void Refuse(const std::string& reason) const {
    throw InvalidArgument(StrCat("scan ", name_, ": ", reason));
  }

  void CheckState(std::size_t i) const {
    const Tensor& state = state_[i];
    if (!state.op()->is_placeholder())
      Refuse(StrCat("state ", state.name(), " is not a placeholder"));
    if (state.ndim() == 0) Refuse(StrCat("state ", state.name(), " has no time dimension"));
    for (std::size_t j = 0; j < i; ++j) {
      if (state_[j] == state) Refuse(StrCat("state ", state.name(), " is given twice"));
      if (update_[j] == update_[i])
        Refuse(StrCat("update ", update_[i].name(), " is given for two states"));
    }
    if (update_[i].op()->is_placeholder())
      Refuse(StrCat("update ", update_[i].name(), " is a placeholder; it must be a compute"));
    CheckAlike(state, init_[i], "init", 1);
    CheckAlike(state, update_[i], "update", 0);
    if (!Equal(init_[i].shape()[0], init_[0].shape()[0]))
      Refuse(StrCat("init ", init_[i].name(), " gives ", loop::Print(init_[i].shape()[0]),
                    " steps and init ", init_[0].name(), " ", loop::Print(init_[0].shape()[0])));
    if (!Equal(state.shape()[0], state_[0].shape()[0]))
      Refuse(StrCat("state ", state.name(), " has ", loop::Print(state.shape()[0]),
                    " steps and state ", state_[0].name(), " ", loop::Print(state_[0].shape()[0])));
  }

  static bool Equal(const Expr& a, const Expr& b) {
    return loop::IsConstInt(loop::Simplify(a - b), 0);
  }

  void CheckAlike(const Tensor& state, const Tensor& other, std::string_view role,
                  std::size_t first_dimension) const {
    if (other.dtype() != state.dtype())
      Refuse(StrCat(role, " ", other.name(), " has the type ", other.dtype().ToString(), "; state ",
                    state.name(), " has ", state.dtype().ToString()));
    if (other.ndim() != state.ndim())
      Refuse(StrCat(role, " ", other.name(), " has ", other.ndim(), " dimensions; state ",
                    state.name(), " has ", state.ndim()));
    for (std::size_t d = first_dimension; d < state.ndim(); ++d) {
      if (!Equal(other.shape()[d], state.shape()[d]))
        Refuse(StrCat("dimension ", d, " of ", role, " ", other.name(), " is ",
                      loop::Print(other.shape()[d]), "; of state ", state.name(), " it is ",
                      loop::Print(state.shape()[d])));
    }
  }

  void CheckReads(const OperationNode& op, const Expr& body,
                  const std::unordered_set<const OperationNode*>& inside) const {
    loop::Bounds bounds;
    const auto* start = init_[0].shape()[0].As<loop::IntImmNode>();
    bounds.Bind(op.axes[0].var,
                {start == nullptr ? 0 : start->value, loop::Interval::kHighest / 4});
    loop::VisitExpr(body, [&](const Expr& e) {
      const auto* load = e.As<loop::LoadNode>();
      if (load == nullptr || !load->producer) return;
      const Tensor read = TensorOf(*load);
      const Expr& step = load->indices.empty() ? op.axes[0].var : load->indices[0];
      if (IsState(read)) {
        if (loop::CanProve(step < op.axes[0].var, bounds) && loop::CanProve(step >= 0, bounds))
          return;
        Refuse(StrCat(op.name, " reads state ", read.name(), " at step ", loop::Print(step),
                      ", which is not known to be computed before step ", op.axes[0].var.name(),
                      "; the first computed step is ", loop::Print(init_[0].shape()[0])));
      }
      if (inside.contains(read.op().get()) && !Equal(step, op.axes[0].var))
        Refuse(StrCat(op.name, " reads ", read.name(), " at step ", loop::Print(step),
                      "; what depends on a state is read at the step that is computed, ",
                      op.axes[0].var.name()));
    });
  }

  bool IsState(const Tensor& tensor) const {
    for (const Tensor& state : state_) {
      if (state == tensor) return true;
    }
    return false;
  }

  const std::string& name_;
  const std::vector<Tensor>& init_;
  const std::vector<Tensor>& update_;
  const std::vector<Tensor>& state_;
};

std::vector<Operation> StepsOf(const std::vector<Tensor>& update,
                               const std::vector<Tensor>& state) {
  std::unordered_set<const OperationNode*> inside, updates;
  for (const Tensor& tensor : update) updates.insert(tensor.op().get());
  for (const Tensor& tensor : state) inside.insert(tensor.op().get());
  std::vector<Operation> steps;
  for (const Operation& op : PostOrder(update)) {
    if (op->is_placeholder()) continue;
    bool depends = updates.contains(op.get());
    for (const Tensor& input : InputsOf(*op))
      depends = depends || inside.contains(input.op().get());
    if (!depends) continue;
    inside.insert(op.get());
    steps.push_back(op);
  }
  return steps;
}

}  // namespace

std::vector<Tensor> Scan(const std::vector<Tensor>& init, const std::vector<Tensor>& update,
                         const std::vector<Tensor>& state, std::string name) {
  const ScanChecker checker(name, init, update, state);
  checker.CheckGiven();
  checker.CheckSteps(StepsOf(update, state));
  auto* op = new OperationNode;
  const Operation handle(op);
  op->kind = OperationKind::kScan;
  op->name = std::move(name);
  const Expr first = init[0].shape()[0];
  op->axes = {{Var("t"), first, loop::Simplify(state[0].shape()[0] - first), false, true}};
  op->init = init;
  op->update = update;
  op->state = state;
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < state.size(); ++i) {
    op->outputs.push_back(
        loop::Buffer::Make(state.size() == 1 ? op->name : StrCat(op->name, ".v", i),
                           state[i].dtype(), state[i].shape()));
    tensors.emplace_back(handle, static_cast<int>(i));
  }
  return tensors;
}

std::vector<Operation> StepOperations(const OperationNode& scan) {
  return StepsOf(scan.update, scan.state);
}

}  // namespace tenon::te
