#include "tenon/ops/call_op.h"

#include "tenon/ops/registry.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

const OpDef& DefinitionOf(const std::string& name) { return *OpOf(OpRegistry::Global().Get(name)); }

void RequireArguments(const OpDef& op, const std::vector<ir::Expr>& args) {
  if (op.num_inputs() >= 0 && args.size() != static_cast<std::size_t>(op.num_inputs()))
    throw InvalidArgument(StrCat(op.name, " takes ", op.num_inputs(),
                                 op.num_inputs() == 1 ? " argument, not " : " arguments, not ",
                                 args.size()))
        .AddNote(SignatureOf(op.name));
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!args[i]) throw InvalidArgument(StrCat(op.name, ": argument ", i, " is null"));
  }
}

bool IsEmptyObject(const std::string& json) {
  std::string text = json;
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; });
  // Blanks stand between the braces and around them alone.
  return text == "{}";
}

ir::Expr MakeCall(const OpDef& op, std::vector<ir::Expr> args, attrs::Attrs attrs) {
  RequireArguments(op, args);
  return ir::Call::Make(OpRegistry::Global().Get(op.name), std::move(args), std::move(attrs));
}

}  // namespace

ir::Expr CallOp(const std::string& name, std::vector<ir::Expr> args,
                const attrs::FieldValues& fields) {
  const OpDef& op = DefinitionOf(name);
  if (op.schema != nullptr)
    return MakeCall(op, std::move(args), attrs::Attrs::FromFields(*op.schema, fields));
  if (!fields.empty())
    throw InvalidArgument(StrCat(name, " has no attributes; it is given ", fields.begin()->first));
  return MakeCall(op, std::move(args), {});
}

ir::Expr CallOp(const std::string& name, std::vector<ir::Expr> args,
                std::initializer_list<FieldArgument> fields) {
  attrs::FieldValues values;
  for (const FieldArgument& field : fields) {
    if (!values.emplace(field.name, field.value).second)
      throw InvalidArgument(StrCat(name, ": the field ", field.name, " is given twice"));
  }
  return CallOp(name, std::move(args), values);
}

ir::Expr CallOpWithJson(const std::string& name, std::vector<ir::Expr> args,
                        const std::string& json) {
  const OpDef& op = DefinitionOf(name);
  if (json.empty()) return CallOp(name, std::move(args), attrs::FieldValues());
  if (op.schema == nullptr) {
    if (!IsEmptyObject(json)) throw InvalidArgument(StrCat(name, " has no attributes"));
    return CallOp(name, std::move(args), attrs::FieldValues());
  }
  return MakeCall(op, std::move(args), attrs::Attrs::FromJson(*op.schema, json));
}

std::string SignatureOf(const std::string& name) {
  const OpDef& op = DefinitionOf(name);
  std::vector<std::string> parts;
  for (const ArgumentDoc& argument : op.arguments)
    parts.push_back(StrCat(argument.name, ": ", argument.type));
  if (op.variadic) parts.emplace_back("...");
  if (op.schema != nullptr && !op.schema->fields.empty()) {
    parts.emplace_back("*");
    for (const attrs::FieldInfo& field : op.schema->fields)
      parts.push_back(
          StrCat(field.name, ": ", field.type,
                 field.is_required ? "" : StrCat(" = ", attrs::ToText(field.default_value))));
  }
  return StrCat(name, "(", StrJoin(parts, ", "), ")");
}

}  // namespace tenon::ops
