// A plug-in with a pass that has an option, and a table of patterns.
//
//   tenon opt net.relay --plugin libpasses_plugin.so --passes='acme.DropRelu{max=2}'
//   tenon opt net.relay --plugin libpasses_plugin.so --passes='FuseOpsByPattern{acme.dense}'
#include "tenon/compiler/named_passes.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/pattern/pattern.h"

namespace {

namespace attrs = tenon::attrs;
namespace ir = tenon::ir;
namespace passes = tenon::passes;

struct DropReluOptions {
  static constexpr const char* kTypeKey = "acme.DropRelu";
  std::int64_t max = 1000;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("max", &DropReluOptions::max, "how many are dropped").AtLeast(0));
  }
};

// Replaces the first calls of nn.relu by their arguments.
ir::Module DropRelu(const ir::Module& module, std::int64_t max) {
  std::int64_t dropped = 0;
  return module.Map([&](const ir::Expr& function) {
    return ir::RewritePostOrder(function, [&](const ir::Expr& original, const ir::Expr& e) {
      const auto* call = e.As<ir::CallNode>();
      const bool is_relu =
          call != nullptr && call->op() != nullptr && call->op()->name == "nn.relu";
      return is_relu && dropped++ < max ? call->args[0] : ir::KeepType(original, e);
    });
  });
}

const bool pass_registered = tenon::RegisterPass(
    {.name = "acme.DropRelu",
     .summary = "replaces nn.relu by its argument",
     .options = {&attrs::SchemaOf<DropReluOptions>()},
     .make = [](const passes::GivenOptions& given, const passes::PassArguments&) -> passes::Pass {
       const std::int64_t max = given.fields.As<DropReluOptions>().max;
       return {.name = "acme.DropRelu",
               .function = [max](const ir::Module& m) { return DropRelu(m, max); }};
     }});

const bool patterns_registered = tenon::RegisterPatterns("acme.dense", [] {
  return std::vector<passes::FusionPattern>{
      {"acme.dense", passes::IsOp("nn.dense")(passes::Wildcard(), passes::Wildcard())}};
});

}  // namespace
