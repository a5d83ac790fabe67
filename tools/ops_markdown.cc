#include "tenon/tools/ops_markdown.h"

#include "tenon/ops/layout/layout_inference.h"
#include "tenon/strategies/strategy.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/strings.h"

namespace tenon::tools {
namespace {

constexpr const char* kIntroduction =
    "# Operators\n\n"
    "`tenon ops --markdown` writes this page; a test compares them. `tenon ops NAME` prints one of "
    "them with its implementations.\n\n"
    "**Level** says how common an operator is: 1 the core of networks, 10 the edge, 11 quantised "
    "operators and einsum. **Pattern** is "
    "how elements of the\nresult depend on elements of the inputs; fusion decides by it "
    "(docs/passes.md). **Layouts**: the passes that change\nthe order of axes know what "
    "becomes of the operator.\n";

// Operators of Relay that Tenon does not have, with the reason.
struct LeftOut {
  const char* reason;
  std::vector<const char*> names;
};
const std::vector<LeftOut>& WhatIsLeftOut() {
  static const std::vector<LeftOut> all = {
      {"For training, which is out of scope.",
       {"annotation.checkpoint", "nn.avg_pool2d_grad", "nn.conv2d_backward_weight",
        "nn.max_pool2d_grad"}},
      {"Random numbers are not a function of the inputs.",
       {"random.multinomial", "random.normal", "random.threefry_generate", "random.threefry_split",
        "random.uniform"}},
      {"Stages of a schedule that the reference writes into its graphs: a strategy packs weights, "
       "transforms tiles and changes layouts inside kernels here.",
       {"auto_scheduler_layout_transform", "meta_schedule_layout_transform",
        "nn.contrib_conv2d_gemm_weight_transform",
        "nn.contrib_conv2d_gemm_without_weight_transform",
        "nn.contrib_conv2d_winograd_nnpack_weight_transform",
        "nn.contrib_conv2d_winograd_weight_transform",
        "nn.contrib_conv2d_winograd_without_weight_transform",
        "nn.contrib_conv3d_winograd_weight_transform",
        "nn.contrib_conv3d_winograd_without_weight_transform", "nn.internal.sparse_dense_padded",
        "qnn.contrib_dense_pack"}},
      {"Marks that its passes leave for one another: composites, devices and quantisation are "
       "attributes here.",
       {"annotation.bitpack_end", "annotation.bitpack_start", "annotation.cast_hint",
        "call_lowered", "debug", "qnn.simulated_dequantize", "qnn.simulated_quantize",
        "relay.op.annotation.simulated_quantize"}},
      {"Arithmetic bit by bit is for CPUs without instructions for bytes.",
       {"nn.bitpack", "nn.bitserial_conv2d", "nn.bitserial_dense"}},
      {"No model that is built or imported here has windows at computed positions.",
       {"nn.deformable_conv2d"}},
  };
  return all;
}

// A bar would end the table cell.
std::string Cell(const std::string& text) {
  std::string cell;
  for (const char c : text) StrAppend(&cell, c == '|' ? "\\" : "", std::string_view(&c, 1));
  return cell;
}

std::string Section(const ops::OpDef& op) {
  std::string text =
      StrCat("\n## ", op.name, "\n\n", op.description, "\n\n", StrJoin(FactsOf(op), "; "), "\n");
  if (!op.arguments.empty() || op.variadic) {
    StrAppend(&text, "\n| input | type | meaning |\n| --- | --- | --- |\n");
    for (const ops::ArgumentDoc& argument : op.arguments)
      StrAppend(&text, "| ", argument.name, " | ", argument.type, " | ", Cell(argument.help),
                " |\n");
  }
  if (op.schema == nullptr || op.schema->fields.empty()) return text;
  StrAppend(&text, "\n| attribute | type | default | meaning |\n| --- | --- | --- | --- |\n");
  for (const attrs::FieldInfo& field : op.schema->fields) {
    const std::string value =
        field.is_required ? "required" : StrCat("`", attrs::ToText(field.default_value), "`");
    StrAppend(&text, "| ", field.name, " | ", Cell(field.type), " | ", value, " | ",
              Cell(field.help), field.bounds.empty() ? "" : StrCat(" (", field.bounds, ")"),
              " |\n");
  }
  return text;
}

}  // namespace

std::vector<std::string> FactsOf(const ops::OpDef& op) {
  std::vector<std::string> facts = {StrCat("level ", op.support_level),
                                    StrCat("pattern ", op.pattern ? ToString(*op.pattern) : "none"),
                                    StrCat("type relation ", op.relation_name)};
  if (op.Column<ops::LayoutInference>() != nullptr) facts.emplace_back("layouts");
  if (op.stateful) facts.emplace_back("stateful");
  if (op.reshape_only) facts.emplace_back("elements stay in order");
  if (op.Column<strategies::TeCompute>() == nullptr && op.Column<strategies::Strategy>() == nullptr)
    facts.emplace_back("replaced by passes before code is made");
  return facts;
}

std::string OpsMarkdown(const ops::OpRegistry& registry) {
  std::string text = kIntroduction;
  for (const std::string& name : registry.Names()) text += Section(*ops::OpOf(registry.Get(name)));
  text +=
      "\n## Left out\n\nOperators of Relay that Tenon leaves out on purpose.\n\n| operators | "
      "reason |\n| --- | --- |\n";
  for (const LeftOut& group : WhatIsLeftOut())
    StrAppend(&text, "| ", StrJoin(group.names, ", "), " | ", group.reason, " |\n");
  return text;
}

}  // namespace tenon::tools
