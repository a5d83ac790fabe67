#include "tenon/ops/call_op.h"

#include <algorithm>
#include <map>

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

ir::Expr MakeCall(const OpDef& op, std::vector<ir::Expr> args, attrs::Attrs attrs) {
  RequireArguments(op, args);
  return ir::Call::Make(OpRegistry::Global().Get(op.name), std::move(args), std::move(attrs));
}

std::map<std::string, const attrs::Schema*> Schemas() {
  std::map<std::string, const attrs::Schema*> schemas;
  const OpRegistry& registry = OpRegistry::Global();
  for (const std::string& name : registry.Names()) {
    const attrs::Schema* schema = OpOf(registry.Get(name))->schema;
    if (schema != nullptr) schemas.emplace(schema->name, schema);
  }
  return schemas;
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
  if (op.schema == nullptr) throw InvalidArgument(StrCat(name, " has no attributes"));
  return MakeCall(op, std::move(args), attrs::Attrs::FromJson(*op.schema, json));
}

attrs::Attrs MakeAttrs(const std::string& type_key, const std::string& json) {
  const auto schemas = Schemas();
  const auto found = schemas.find(type_key);
  if (found == schemas.end())
    throw NotFound(StrCat("no operator has attributes of the type ", type_key,
                          DidYouMean("; ", type_key, AttrsTypeKeys())));
  return attrs::Attrs::FromJson(*found->second, json);
}

std::vector<std::string> AttrsTypeKeys() {
  std::vector<std::string> keys;
  for (const auto& [key, unused] : Schemas()) keys.push_back(key);
  return keys;
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
