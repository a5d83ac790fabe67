#include "tenon/tools/ops_markdown.h"

#include "tenon/ops/layout_inference.h"
#include "tenon/strategies/strategy.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/strings.h"

namespace tenon::tools {
namespace {

constexpr const char* kIntroduction =
    "# Operators\n\n"
    "`tenon ops --markdown` writes this page; a test compares them. `tenon ops NAME` prints one of "
    "them with its implementations.\n\n"
    "**Level** says how common an operator is: 1 the core of networks, 10 the edge. **Pattern** is "
    "how elements of the\nresult depend on elements of the inputs; fusion decides by it "
    "(docs/architecture.md). **Layouts**: the passes that change\nthe order of axes know what "
    "becomes of the operator.\n";

// A bar would end the cell.
std::string Cell(const std::string& text) {
  std::string cell;
  for (const char c : text) StrAppend(&cell, c == '|' ? "\\" : "", std::string_view(&c, 1));
  return cell;
}

std::string Facts(const ops::OpDef& op) {
  std::vector<std::string> facts = {StrCat("level ", op.support_level),
                                    StrCat("pattern ", op.pattern ? ToString(*op.pattern) : "none"),
                                    StrCat("type relation ", op.relation_name)};
  if (op.Column<ops::LayoutInference>() != nullptr) facts.emplace_back("layouts");
  if (op.stateful) facts.emplace_back("stateful");
  if (op.reshape_only) facts.emplace_back("elements stay in order");
  if (op.Column<strategies::TeCompute>() == nullptr && op.Column<strategies::Strategy>() == nullptr)
    facts.emplace_back("replaced by passes before code is made");
  return StrJoin(facts, "; ");
}

std::string Section(const ops::OpDef& op) {
  std::string text = StrCat("\n## ", op.name, "\n\n", op.description, "\n\n", Facts(op), "\n");
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

std::string OpsMarkdown(const ops::OpRegistry& registry) {
  std::string text = kIntroduction;
  for (const std::string& name : registry.Names()) text += Section(*ops::OpOf(registry.Get(name)));
  return text;
}

}  // namespace tenon::tools
