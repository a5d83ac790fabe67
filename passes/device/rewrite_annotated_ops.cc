#include "tenon/passes/device/rewrite_annotated_ops.h"

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "tenon/ir/visit.h"
#include "tenon/ops/device/device_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/device/copy_to_device.h"

namespace tenon::passes {
namespace {

using ir::Expr;

class Rewriter {
 public:
  explicit Rewriter(const Device& fallback) : fallback_(fallback) {}

  Expr Rewrite(const Expr& function) {
    ir::VisitPostOrder(function, [&](const Expr& e) {
      const auto* call = e.As<ir::CallNode>();
      if (call != nullptr && call->callee == ops::Known().on_device) {
        const std::string& text = call->attrs.As<ops::OnDeviceAttrs>().virtual_device;
        devices_.insert_or_assign(call->args[0], Device::Parse(text).value_or(fallback_));
      }
    });
    return ir::RewritePostOrder(function, [&](const Expr& original, const Expr& rewritten) {
      return RewriteNode(original, ir::KeepType(original, rewritten));
    });
  }

 private:
  Expr RewriteNode(const Expr& original, const Expr& rewritten) {
    const auto* call = rewritten.As<ir::CallNode>();
    if (call == nullptr || call->op() == nullptr) return rewritten;
    if (call->callee == ops::Known().on_device) return call->args[0];
    const auto given = devices_.find(original);
    const Device device = given == devices_.end() ? fallback_ : given->second;
    std::vector<Expr> children = ir::Children(rewritten);
    bool copies = false;
    for (std::size_t i = 1; i < children.size(); ++i) {
      const Expr placed = On(device, children[i]);
      copies = copies || !(placed == children[i]);
      children[i] = placed;
    }
    const Expr out = copies
                         ? ir::WithChildren(rewritten, std::move(children), original.checked_type())
                         : rewritten;
    placed_.insert_or_assign(out, device);
    return out;
  }

  // The value on `device`.
  Expr On(const Device& device, const Expr& value) {
    if (const auto* tuple = value.As<ir::TupleNode>()) {
      std::vector<Expr> fields;
      bool changed = false;
      for (const Expr& field : tuple->fields) {
        fields.push_back(On(device, field));
        changed = changed || !(fields.back() == field);
      }
      return changed ? ir::WithChildren(value, std::move(fields), value.checked_type()) : value;
    }
    const Expr source = Source(value);
    const auto placed = placed_.find(source);
    if (placed == placed_.end() || placed->second == device) return value;
    Expr& copy = copies_[{value, device}];
    if (!copy) copy = CopyToDevice(value, placed->second, device, {});
    return copy;
  }
  // The call whose result is projected.
  static Expr Source(const Expr& value) {
    Expr source = value;
    while (const auto* item = source.As<ir::TupleGetItemNode>()) {
      const auto* tuple = item->tuple.As<ir::TupleNode>();
      const Expr inner =
          tuple == nullptr ? item->tuple : tuple->fields[static_cast<std::size_t>(item->index)];
      source = inner;
    }
    return source;
  }

  struct ByAddress {
    bool operator()(const std::pair<Expr, Device>& a, const std::pair<Expr, Device>& b) const {
      return std::pair(a.first.get(), a.second) < std::pair(b.first.get(), b.second);
    }
  };

  const Device fallback_;
  std::unordered_map<Expr, Device, ir::ExprHash> devices_;  // given, by the call as it was
  std::unordered_map<Expr, Device, ir::ExprHash> placed_;   // of calls that were rewritten
  std::map<std::pair<Expr, Device>, Expr, ByAddress> copies_;
};

}  // namespace

ir::Module RewriteAnnotatedOps(const ir::Module& module, const Device& fallback) {
  return module.Map([&](const Expr& function) { return Rewriter(fallback).Rewrite(function); });
}

}  // namespace tenon::passes
