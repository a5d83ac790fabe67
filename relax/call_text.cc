#include "tenon/relax/call_text.h"

#include "tenon/relax/signature.h"
#include "tenon/relax/string_text.h"
#include "tenon/relax/value_text.h"
#include "tenon/support/strings.h"

namespace tenon::relax {
namespace {

using ir::Expr;

// The value of an attribute of a call: types are their names.
std::string CallValueText(const attrs::Value& value) {
  if (const auto* dtype = value.As<DataType>()) return QuotedString(dtype->ToString());
  return ValueText(value);
}

attrs::Value DataLayout(const attrs::Attrs& attrs) {
  return attrs.Get(attrs.schema()->Find("data_layout") != nullptr ? "data_layout" : "layout");
}

std::string ParameterText(const Parameter& parameter, const attrs::Attrs& attrs) {
  if (parameter.form == Form::kFixed || parameter.form == Form::kIgnored)
    return std::string(parameter.default_value);
  const attrs::Value value = attrs.Get(std::string(parameter.attribute()));
  switch (parameter.form) {
    case Form::kOneAxis:
      return ValueText(attrs::Value(attrs::List{value}));
    case Form::kFirstAxis:
      return value.is_none() ? "0" : CallValueText(value);
    case Form::kReversed:
      return *value.As<bool>() ? "False" : "True";
    case Form::kOutLayout:
      if (value == attrs::Value("")) return CallValueText(DataLayout(attrs));
      return ValueText(value);
    default:
      return CallValueText(value);
  }
}

}  // namespace

std::string CallText(const ir::CallNode& call, const UseText& use) {
  const Signature signature = SignatureFor(*ops::OpOf(call), call.attrs);
  std::string args;
  const auto add = [&](std::string_view name, const std::string& value) {
    StrAppend(&args, args.empty() ? "" : ", ", name, name.empty() ? "" : "=", value);
  };
  if (signature.op->variadic) {
    for (const Expr& arg : call.args) add("", use(arg));
  }
  std::size_t input = 0;
  bool named = false;
  for (const Parameter& parameter : signature.parameters) {
    if (parameter.is_input()) {
      if (signature.op->variadic) continue;
      add(named ? parameter.name : "", use(call.args[input++]));
    } else {
      // What is before an input that has a place stands in its place, too.
      named = true;
      add(parameter.name, ParameterText(parameter, call.attrs));
    }
  }
  for (const attrs::FieldInfo* field : signature.further) {
    const attrs::Value value = call.attrs.Get(field->name);
    if (!(value == field->default_value)) add(field->name, CallValueText(value));
  }
  return StrCat("R.", signature.name, "(", args, ")");
}

}  // namespace tenon::relax
