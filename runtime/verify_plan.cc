#include "tenon/runtime/verify_plan.h"

#include <set>
#include <string>
#include <utility>

#include "tenon/runtime/device_copy.h"
#include "tenon/runtime/owners.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

class Verifier {
 public:
  Verifier(const Plan& plan, std::size_t num_kernels, std::size_t num_constants)
      : plan_(plan), num_kernels_(num_kernels), num_constants_(num_constants) {}

  void Run() {
    for (std::size_t n = 0; n < plan_.nodes.size(); ++n) {
      at_ = StrCat("node ", n, " (", plan_.nodes[n].name, ")");
      VerifyNode(n, plan_.nodes[n]);
    }
    at_ = "the results";
    Require(plan_.extents.size() <= plan_.heads.size(), "there are more extents than results");
    for (const EntryRef head : plan_.heads) VerifyRef(head, plan_.nodes.size());
    for (const RunTimeExtent& extent : plan_.extents) VerifyExtent(extent);
  }

 private:
  void Require(bool holds, const std::string& rule) const {
    if (!holds) throw DataLoss(StrCat(at_, ": ", rule));
  }

  void VerifyRef(EntryRef ref, std::size_t end) const {
    Require(ref.node >= 0 && static_cast<std::size_t>(ref.node) < end,
            StrCat("reads node ", ref.node, "; ", end, " nodes come before it"));
    const std::size_t outputs = plan_.nodes[static_cast<std::size_t>(ref.node)].outputs.size();
    Require(ref.output >= 0 && static_cast<std::size_t>(ref.output) < outputs,
            StrCat("reads output ", ref.output, " of node ", ref.node, ", which has ", outputs));
  }

  void VerifyNode(std::size_t n, const Node& node) {
    Require(names_.insert(node.name).second, "another node has its name");
    for (const EntryRef input : node.inputs) VerifyRef(input, n);
    for (const Entry& output : node.outputs) {
      try {
        static_cast<void>(output.bytes());
      } catch (const Error& error) {
        Require(false, error.message());
      }
      Require(IsAvailable(output.device),
              StrCat("is on ", output.device.ToString(), ", which is not there"));
    }
    Require(!IsGiven(node.kind) || node.inputs.empty(), "a given value has inputs");
    switch (node.kind) {
      case NodeKind::kInput:
        RequireOutputs(node, 1);
        return;
      case NodeKind::kConstant:
        RequireOutputs(node, 1);
        RequireIndex("constant", node.constant, num_constants_);
        Require(node.outputs[0].extents.empty(), "is a constant with a variable in its shape");
        return;
      case NodeKind::kKernel:
        Require(!node.outputs.empty(), "has no output");
        RequireIndex("kernel", node.kernel, num_kernels_);
        return;
      case NodeKind::kView:
        VerifyView(node);
        return;
      case NodeKind::kJoin:
        VerifyJoin(node);
        return;
      case NodeKind::kCopy:
        RequireOutputs(node, 1);
        Require(node.inputs.size() == 1, "a copy has one input");
        Require(IsOfExample(plan_.entry(node.inputs[0]), node.outputs[0]) ||
                    plan_.entry(node.inputs[0]).bytes() == node.outputs[0].bytes(),
                "a copy has as many bytes as its input");
        return;
    }
    Unreachable("every kind of node is verified");
  }

  void RequireOutputs(const Node& node, std::size_t count) const {
    Require(node.outputs.size() == count,
            StrCat("has ", node.outputs.size(), " outputs; it must have ", count));
  }
  void RequireIndex(const char* what, int index, std::size_t count) const {
    Require(index >= 0 && static_cast<std::size_t>(index) < count,
            StrCat("is ", what, " ", index, "; there are ", count));
  }

  // The numbers of variables are those of an example, which the conditions of the plan may exclude.
  // A plan at the values of a run has no variables, and is verified again.
  static bool IsOfExample(const Entry& a, const Entry& b) {
    return !a.extents.empty() || !b.extents.empty();
  }

  void VerifyView(const Node& node) const {
    Require(node.inputs.size() == 1, "a view has one input");
    Require(node.offsets.size() == node.outputs.size(), "a view has an offset for each output");
    const Entry& whole = plan_.entry(node.inputs[0]);
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      const Entry& part = node.outputs[o];
      Require(IsOfExample(whole, part) || (node.offsets[o] <= whole.bytes() &&
                                           part.bytes() <= whole.bytes() - node.offsets[o]),
              "a view ends after what it views");
      Require(node.offsets[o] % part.dtype.bytes() == 0, "a view begins inside an element");
      Require(part.device == whole.device, "a view is on another device");
    }
  }

  // The rules of Owners.
  void VerifyJoin(const Node& node) {
    RequireOutputs(node, 1);
    std::size_t bytes = 0;
    for (const EntryRef input : node.inputs) {
      const Owned part = Viewed(plan_, input);
      const Entry& owner = plan_.entry(part.entry);
      Require(part.offset == 0 && plan_.entry(input).bytes() == owner.bytes(),
              "a part of a value is joined");
      Require(!IsGiven(plan_.nodes[static_cast<std::size_t>(part.entry.node)].kind),
              "a given value is joined");
      Require(joined_.emplace(part.entry.node, part.entry.output).second,
              "a value that lies in a join is joined");
      Require(owner.device == node.outputs[0].device, "a value on another device is joined");
      bytes += owner.bytes();
      Require(bytes <= node.outputs[0].bytes(), "the parts of a join have more bytes than it");
    }
    Require(bytes == node.outputs[0].bytes(), "the parts of a join have fewer bytes than it");
  }

  void VerifyExtent(const RunTimeExtent& extent) const {
    Require(extent.result < plan_.heads.size() && extent.count < plan_.heads.size(),
            "an extent belongs to no result");
    Require(extent.axis < plan_.entry(plan_.heads[extent.result]).shape.size(),
            "an extent belongs to no axis");
    const Entry& count = plan_.entry(plan_.heads[extent.count]);
    Require(count.dtype == Int64 && NumElements(count.shape) == 1,
            "the count of an extent is not one int64");
  }

  const Plan& plan_;
  std::size_t num_kernels_, num_constants_;
  std::string at_;
  std::set<std::string> names_;
  std::set<std::pair<int, int>> joined_;
};

}  // namespace

void VerifyPlan(const Plan& plan, std::size_t num_kernels, std::size_t num_constants) {
  Verifier(plan, num_kernels, num_constants).Run();
}

}  // namespace tenon::runtime
