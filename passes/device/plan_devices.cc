// Unification: every expression has a domain. Domains that must be one device are joined
// (union-find), and a given device fixes the whole domain.
#include "tenon/passes/device/plan_devices.h"

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/ir/visit.h"
#include "tenon/ops/device/device_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/device/copy_to_device.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;
using ir::ExprKind;

class Domains {
 public:
  void Join(const Expr& a, const Expr& b, const Expr& at) {
    const int x = Root(a), y = Root(b);
    if (x == y) return;
    if (nodes_[x].device && nodes_[y].device && *nodes_[x].device != *nodes_[y].device)
      Conflict(*nodes_[x].device, *nodes_[y].device, at);
    if (!nodes_[x].device) nodes_[x].device = nodes_[y].device;
    nodes_[y].parent = x;
  }
  void Fix(const Expr& e, const Device& device, const Expr& at) {
    const int root = Root(e);
    if (nodes_[root].device && *nodes_[root].device != device)
      Conflict(*nodes_[root].device, device, at);
    nodes_[root].device = device;
  }
  std::optional<Device> DeviceOf(const Expr& e) { return nodes_[Root(e)].device; }

 private:
  struct Node {
    int parent;
    std::optional<Device> device;
  };

  int Root(const Expr& e) {
    const auto [it, added] = index_.try_emplace(e, static_cast<int>(nodes_.size()));
    if (added) nodes_.push_back({it->second, std::nullopt});
    int root = it->second;
    while (nodes_[root].parent != root) {
      nodes_[root].parent = nodes_[nodes_[root].parent].parent;
      root = nodes_[root].parent;
    }
    return root;
  }
  [[noreturn]] static void Conflict(const Device& a, const Device& b, const Expr& at) {
    const auto* call = at.As<CallNode>();
    const std::string what =
        call != nullptr && call->op() != nullptr ? call->op()->name : std::string("a value");
    throw InvalidArgument(StrCat(what, " would have values on ", a.ToString(), " and ",
                                 b.ToString(),
                                 "; an on_device between them is where they can be copied"))
        .At(at.span());
  }

  std::unordered_map<Expr, int, ir::ExprHash> index_;
  std::vector<Node> nodes_;
};

std::optional<Device> ParseDevice(const attrs::Value& value) {
  const auto* text = value.As<std::string>();
  return text == nullptr ? std::nullopt : Device::Parse(*text);
}

class Planner {
 public:
  Planner(const ir::Module& module, const Device& fallback)
      : module_(module), fallback_(fallback) {}

  ir::Module Plan() {
    for (const auto& [name, function] : module_.functions()) {
      FixGiven(*function.As<ir::FunctionNode>());
      ir::VisitPostOrder(function, [&](const Expr& e) { Constrain(e); });
    }
    for (const auto& [name, function] : module_.functions())
      ir::VisitPostOrder(function, [&](const Expr& e) { KeepAfterMark(e); });
    return module_.Map([&](const Expr& function) { return Rewrite(function); });
  }

 private:
  // A value that nothing fixes stays on the device that the mark before it names.
  void KeepAfterMark(const Expr& e) {
    const auto* call = e.As<CallNode>();
    if (call == nullptr || !(call->callee == ops::Known().on_device)) return;
    const std::optional<Device> body = KnownDeviceOf(call->args[0]);
    if (body && !domains_.DeviceOf(e)) domains_.Fix(e, *body, e);
  }

  // That of a tuple is the first that a field has.
  std::optional<Device> KnownDeviceOf(const Expr& value) {
    const auto* tuple = value.As<ir::TupleNode>();
    if (tuple == nullptr) return domains_.DeviceOf(value);
    for (const Expr& field : tuple->fields) {
      if (const std::optional<Device> device = KnownDeviceOf(field)) return device;
    }
    return std::nullopt;
  }

  // Fixes the devices that an earlier plan gives.
  void FixGiven(const ir::FunctionNode& function) {
    const std::vector<std::optional<Device>> given = GivenDevices(function);
    for (std::size_t i = 0; i < given.size(); ++i) FixTo(given[i], function.params[i]);
    const auto result = function.attrs.find("result_device");
    if (result != function.attrs.end() && function.body.kind() != ExprKind::kTuple)
      FixTo(ParseDevice(result->second), function.body);
  }
  void FixTo(const std::optional<Device>& device, const Expr& e) {
    if (device) domains_.Fix(e, *device, e);
  }

  // Constants and tuples have no device; the fields of tuples do.
  void Fix(const Expr& value, const Device& device, const Expr& at) {
    if (const auto* tuple = value.As<ir::TupleNode>()) {
      for (const Expr& field : tuple->fields) Fix(field, device, at);
    } else if (value.kind() != ExprKind::kConstant) {
      domains_.Fix(value, device, at);
    }
  }
  void Join(const Expr& value, const Expr& with, const Expr& at) {
    if (const auto* tuple = value.As<ir::TupleNode>()) {
      for (const Expr& field : tuple->fields) Join(field, with, at);
    } else if (value.kind() != ExprKind::kConstant) {
      domains_.Join(value, with, at);
    }
  }

  void Constrain(const Expr& e) {
    switch (e.kind()) {
      case ExprKind::kCall:
        ConstrainCall(e, *e.As<CallNode>());
        return;
      case ExprKind::kLet: {
        const auto& let = *e.As<ir::LetNode>();
        Join(let.value, let.var, e);
        Join(let.body, e, e);
        return;
      }
      case ExprKind::kTupleGetItem: {
        const auto& item = *e.As<ir::TupleGetItemNode>();
        const auto* tuple = item.tuple.As<ir::TupleNode>();
        Join(tuple == nullptr ? item.tuple : tuple->fields[static_cast<std::size_t>(item.index)], e,
             e);
        return;
      }
      case ExprKind::kVar:
      case ExprKind::kGlobalVar:
      case ExprKind::kOp:
      case ExprKind::kConstant:
      case ExprKind::kTuple:
      case ExprKind::kFunction:
      case ExprKind::kIf:
        return;
    }
  }

  void ConstrainCall(const Expr& e, const CallNode& call) {
    if (call.callee == ops::Known().on_device) {
      const auto& attrs = call.attrs.As<ops::OnDeviceAttrs>();
      const std::optional<Device> device = Device::Parse(attrs.virtual_device);
      if (!device || (!attrs.constrain_body && !attrs.constrain_result)) {
        Join(call.args[0], e, e);
        return;
      }
      if (attrs.constrain_body) Fix(call.args[0], *device, e);
      if (attrs.constrain_result) domains_.Fix(e, *device, e);
      return;
    }
    if (call.callee == ops::Known().device_copy) {
      const auto& attrs = call.attrs.As<ops::DeviceCopyAttrs>();
      if (const auto source = Device::Parse(attrs.src_virtual_device))
        domains_.Fix(call.args[0], *source, e);
      if (const auto target = Device::Parse(attrs.dst_virtual_device)) domains_.Fix(e, *target, e);
      return;
    }
    if (call.op() != nullptr) {
      for (const Expr& arg : call.args) Join(arg, e, e);
      return;
    }
    const auto* global = call.callee.As<ir::GlobalVarNode>();
    const Expr callee = global == nullptr ? call.callee : module_.Get(global->name);
    const auto* function = callee.As<ir::FunctionNode>();
    if (function == nullptr) return;
    for (std::size_t i = 0; i < call.args.size(); ++i) Join(call.args[i], function->params[i], e);
    Join(function->body, e, e);
  }

  Device DeviceOf(const Expr& e) { return domains_.DeviceOf(e).value_or(fallback_); }

  // The value, which was `original`, on a device.
  Expr On(const Device& device, const Expr& original, const Expr& now, const Span& span) {
    if (const auto* before = original.As<ir::TupleNode>()) {
      std::vector<Expr> fields = now.As<ir::TupleNode>()->fields;
      bool changed = false;
      for (std::size_t i = 0; i < fields.size(); ++i) {
        const Expr placed = On(device, before->fields[i], fields[i], span);
        changed = changed || !(placed == fields[i]);
        fields[i] = placed;
      }
      return changed ? ir::WithChildren(now, std::move(fields), original.checked_type()) : now;
    }
    if (original.kind() == ExprKind::kConstant || DeviceOf(original) == device) return now;
    return CopyToDevice(now, DeviceOf(original), device, span);
  }

  Expr Rewrite(const Expr& function) {
    const Expr rewritten =
        ir::RewritePostOrder(function, [&](const Expr& original, const Expr& now) {
          const Expr typed = ir::KeepType(original, now);
          const auto* call = typed.As<CallNode>();
          if (call == nullptr || !(call->callee == ops::Known().on_device)) return typed;
          return On(DeviceOf(original), original.As<CallNode>()->args[0], call->args[0],
                    original.span());
        });
    const auto& before = *function.As<ir::FunctionNode>();
    const auto& after = *rewritten.As<ir::FunctionNode>();
    attrs::List params;
    bool elsewhere = false;
    for (const Expr& param : before.params) {
      params.emplace_back(DeviceOf(param).ToString());
      elsewhere = elsewhere || DeviceOf(param) != Device();
    }
    const Device result = DeviceOf(before.body);
    if (!elsewhere && result == Device()) return rewritten;
    ir::FunctionAttrs attrs = after.attrs;
    attrs.insert_or_assign("param_devices", attrs::Value(std::move(params)));
    attrs.insert_or_assign("result_device", attrs::Value(result.ToString()));
    return ir::Function::Make(after.params, after.body, after.ret_type, std::move(attrs),
                              function.span(), function.checked_type());
  }

  const ir::Module& module_;
  const Device fallback_;
  Domains domains_;
};

}  // namespace

std::vector<std::optional<Device>> GivenDevices(const ir::FunctionNode& function) {
  std::vector<std::optional<Device>> devices(function.params.size());
  const auto given = function.attrs.find("param_devices");
  const auto* list = given == function.attrs.end() ? nullptr : given->second.As<attrs::List>();
  for (std::size_t i = 0; list != nullptr && i < std::min(list->size(), devices.size()); ++i)
    devices[i] = ParseDevice((*list)[i]);
  return devices;
}

ir::Module PlanDevices(const ir::Module& module, const Device& fallback) {
  return Planner(module, fallback).Plan();
}

}  // namespace tenon::passes
