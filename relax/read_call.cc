#include "tenon/relax/read_call.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tenon/ops/registry.h"
#include "tenon/passes/infer_type.h"
#include "tenon/relax/extent_calls.h"
#include "tenon/relax/value_text.h"
#include "tenon/support/strings.h"

namespace tenon::relax {
namespace {

using ir::Expr;

attrs::Value ValueOf(std::string_view text) {
  Source source(text, "");
  Cursor cursor(&source);
  return ReadValue(&cursor);
}

// How many axes a window or an image has: as many as the attribute has by default, or the strides.
std::size_t Axes(const Signature& signature, std::string_view field) {
  for (const std::string_view name : {field, std::string_view("strides")}) {
    const attrs::FieldInfo* info = signature.op->schema->Find(std::string(name));
    const auto* list = info == nullptr ? nullptr : info->default_value.As<attrs::List>();
    if (list != nullptr && !list->empty()) return list->size();
  }
  // A size has no default. Images have a batch and channels beside it.
  const attrs::FieldInfo* layout = signature.op->schema->Find("layout");
  const auto* letters = layout == nullptr ? nullptr : layout->default_value.As<std::string>();
  return letters != nullptr && letters->size() > 2 ? letters->size() - 2 : 1;
}

// What the attribute is for a value of the parameter.
attrs::Value Converted(const Signature& signature, const Parameter& parameter, attrs::Value value) {
  const auto* list = value.As<attrs::List>();
  const bool is_number = value.As<std::int64_t>() != nullptr;
  switch (parameter.form) {
    case Form::kList:
      return is_number ? attrs::Value(attrs::List{value}) : value;
    case Form::kSpread:
      if (is_number)
        return attrs::Value(attrs::List(Axes(signature, parameter.attribute()), value));
      if (list != nullptr && list->size() == 1)
        return attrs::Value(attrs::List(Axes(signature, parameter.attribute()), list->front()));
      return value;
    case Form::kPadding: {
      const std::size_t axes = Axes(signature, "strides");
      if (is_number) return attrs::Value(attrs::List(2 * axes, value));
      if (list != nullptr && list->size() == 1)
        return attrs::Value(attrs::List(2 * axes, list->front()));
      if (list == nullptr || list->size() != axes) return value;
      attrs::List sides = *list;
      sides.insert(sides.end(), list->begin(), list->end());
      return attrs::Value(std::move(sides));
    }
    case Form::kOneAxis:
      if (list != nullptr && list->size() != 1)
        throw Unimplemented(StrCat("R.", signature.name, " over ", list->size(),
                                   " axes is not supported; over one it is"));
      return list != nullptr ? attrs::Value(list->front()) : value;
    case Form::kReversed:
      if (const bool* flag = value.As<bool>()) return attrs::Value(!*flag);
      throw InvalidArgument(StrCat(parameter.name, " is ", attrs::KindOf(value), ", not a bool"));
    case Form::kOutLayout:
      return value.is_none() ? attrs::Value("") : value;
    default:
      return value;
  }
}

class CallReader {
 public:
  CallReader(Cursor* text, const Token& at, const Signature& signature, Scope* scope,
             const ReadInput& read_input)
      : text_(text),
        at_(at),
        signature_(signature),
        scope_(*scope),
        read_input_(read_input),
        plain_(text, scope, read_input) {}

  Expr Read() {
    text_->Expect("(", "after the name of an operator");
    bool named = false;
    while (!text_->IsPunct(")")) {
      if (text_->IsKeyword()) {
        named = true;
        const Token name = text_->Advance();
        text_->Advance();
        Named(name);
      } else {
        if (named) text_->Fail(text_->token(), "arguments by position come before those by name");
        Positional();
      }
      if (!text_->Accept(",")) break;
    }
    text_->Expect(")", "after the arguments");
    return text_->Placed(at_, [&] {
      Expr call = Make();
      return call.kind() == ir::ExprKind::kCall && !call.checked_type() ? passes::InferCall(call)
                                                                        : call;
    });
  }

 private:
  bool IsVariadic() const { return signature_.op != nullptr && signature_.op->variadic; }

  [[noreturn]] void Refuse(const Token& at, const std::string& message) {
    throw text_->source()
        ->places.ErrorAt(at.offset, at.text.size(), message)
        .AddNote(signature_.ToString());
  }

  void Positional() {
    if (IsVariadic()) {
      extra_inputs_.push_back(read_input_());
      return;
    }
    if (next_ >= signature_.parameters.size())
      Refuse(text_->token(), StrCat("R.", signature_.name, " takes at most ",
                                    signature_.parameters.size(), " arguments by position"));
    Take(signature_.parameters[next_++]);
  }

  void Named(const Token& name) {
    if (const Parameter* parameter = signature_.Find(name.text)) {
      if (inputs_.contains(parameter->name) || values_.contains(std::string(parameter->name)))
        Refuse(name, StrCat("the argument ", name.text, " is given twice"));
      Take(*parameter);
      return;
    }
    for (const attrs::FieldInfo* field : signature_.further) {
      if (field->name != name.text) continue;
      if (!further_.emplace(field->name, ReadValue(text_)).second)
        Refuse(name, StrCat("the argument ", name.text, " is given twice"));
      return;
    }
    std::vector<std::string> known;
    for (const Parameter& parameter : signature_.parameters) known.emplace_back(parameter.name);
    for (const attrs::FieldInfo* field : signature_.further) known.push_back(field->name);
    Refuse(name, StrCat("R.", signature_.name, " has no argument ", name.text,
                        DidYouMean("; ", name.text, known)));
  }

  void Take(const Parameter& parameter) {
    if (!parameter.is_input()) {
      TakeValue(parameter);
    } else if (parameter.form == Form::kOptionalInput && text_->AcceptName("None")) {
      inputs_.emplace(parameter.name, Expr());
    } else {
      inputs_.emplace(parameter.name, read_input_());
    }
  }

  void TakeValue(const Parameter& parameter) {
    const Token at = text_->token();
    if (parameter.attribute() == "newshape") has_known_shape_ = plain_.BeginsKnown();
    std::optional<PlainValue> plain =
        plain_.ReadArgument(parameter.attribute() == "newshape" || parameter.name == "shape");
    if (!plain) {
      values_.emplace(parameter.name, ReadValue(text_));
    } else if (plain->number) {
      values_.emplace(parameter.name, plain->attribute);
    } else if (plain->extent) {
      Refuse(at, StrCat(plain->ToString(), " has variables; R.", signature_.name,
                        " takes numbers as ", parameter.name));
    } else if (std::all_of(plain->shape->begin(), plain->shape->end(),
                           [](const Dim& dim) { return dim.is_static(); })) {
      attrs::List extents;
      for (const Dim& dim : *plain->shape) extents.emplace_back(dim.value());
      values_.emplace(parameter.name, attrs::Value(std::move(extents)));
    } else if (parameter.name == "shape" && signature_.op != nullptr) {
      values_.emplace(parameter.name, attrs::Value());
      extents_ = std::move(plain->shape);
    } else {
      Refuse(at, StrCat(plain->ToString(),
                        " has variables, which R.reshape, R.broadcast_to, R.full, R.zeros and "
                        "R.ones take, and R.",
                        signature_.name, " does not"));
    }
  }

  Expr Make() {
    std::vector<Expr> inputs = std::move(extra_inputs_);
    if (!IsVariadic()) {
      std::size_t wanted = 0, given = 0;
      for (const Parameter& parameter : signature_.parameters) {
        if (!parameter.is_input()) continue;
        const auto found = inputs_.find(parameter.name);
        if (parameter.form == Form::kInput) {
          ++wanted;
          if (found != inputs_.end()) ++given;
        }
        inputs.push_back(found == inputs_.end() ? Expr() : found->second);
      }
      if (given < wanted)
        throw InvalidArgument(StrCat("R.", signature_.name, " takes ", wanted,
                                     wanted == 1 ? " input" : " inputs", ", not ", given))
            .AddNote(signature_.ToString());
    }
    if (signature_.build != nullptr) return MakeBuilt(std::move(inputs));
    const ops::OpDef& op = *signature_.op;
    if (extents_) {
      const auto dtype = values_.find("dtype");
      return CallWithExtents(op.name, inputs,
                             dtype == values_.end() ? attrs::Value() : dtype->second, *extents_,
                             scope_, text_->SpanOf(at_));
    }
    attrs::Attrs attrs;
    if (op.schema != nullptr) {
      attrs::FieldValues fields = std::move(further_);
      for (const Parameter& parameter : signature_.parameters) SetField(parameter, &fields);
      if (has_known_shape_) KeepZeros(&fields);
      SetOutLayout(&fields);
      attrs = attrs::Attrs::FromFields(*op.schema, fields);
    }
    return ir::Call::Make(ops::OpRegistry::Global().Get(op.name), std::move(inputs),
                          std::move(attrs), text_->SpanOf(at_));
  }

  Expr MakeBuilt(std::vector<Expr> inputs) {
    BoundCall call{.inputs = std::move(inputs), .values = {}, .span = text_->SpanOf(at_)};
    for (const Parameter& parameter : signature_.parameters) {
      if (parameter.is_input()) continue;
      const std::string name(parameter.name);
      const auto found = values_.find(name);
      if (found != values_.end()) {
        call.values[name] = found->second;
      } else if (!parameter.default_value.empty()) {
        call.values[name] = ValueOf(parameter.default_value);
      } else {
        throw InvalidArgument(StrCat("R.", signature_.name, " needs ", name))
            .AddNote(signature_.ToString());
      }
    }
    return signature_.build(call);
  }

  void SetField(const Parameter& parameter, attrs::FieldValues* fields) {
    if (parameter.is_input()) return;
    const auto found = values_.find(std::string(parameter.name));
    const attrs::FieldInfo* info = signature_.op->schema->Find(std::string(parameter.attribute()));
    attrs::Value value;
    if (found != values_.end()) {
      value = found->second;
    } else if (!parameter.default_value.empty()) {
      value = ValueOf(parameter.default_value);
    } else if (parameter.form == Form::kPadding) {
      value = info->default_value;
    } else {
      return;
    }
    if (parameter.form == Form::kIgnored) return;
    if (parameter.form == Form::kFixed) {
      if (!value.is_none() && !(value == ValueOf(parameter.default_value)))
        throw Unimplemented(StrCat("R.", signature_.name, " with ", parameter.name, "=",
                                   ValueText(value), " is not supported; ", parameter.name, "=",
                                   parameter.default_value, " is"));
      return;
    }
    const std::string field(parameter.attribute());
    // None stands for an element type, or a list, that is not given.
    if (value.is_none() && info != nullptr &&
        (info->default_value.As<DataType>() != nullptr ||
         info->default_value.As<attrs::List>() != nullptr))
      return;
    (*fields)[field] = Converted(signature_, parameter, std::move(value));
  }

  // An extent of 0 that is known is no code.
  static void KeepZeros(attrs::FieldValues* fields) {
    const auto* shape = fields->at("newshape").As<attrs::List>();
    const attrs::Value zero(std::int64_t{0});
    if (shape != nullptr && std::find(shape->begin(), shape->end(), zero) != shape->end())
      (*fields)["allowzero"] = attrs::Value(true);
  }

  // A result in the data's layout is what the attribute's default means.
  void SetOutLayout(attrs::FieldValues* fields) const {
    const auto out = fields->find("out_layout");
    if (out == fields->end()) return;
    for (const char* name : {"data_layout", "layout"}) {
      const attrs::FieldInfo* info = signature_.op->schema->Find(name);
      if (info == nullptr) continue;
      const auto data = fields->find(name);
      if (out->second == (data == fields->end() ? info->default_value : data->second))
        out->second = attrs::Value("");
    }
  }

  Cursor* const text_;
  const Token at_;
  const Signature& signature_;
  const Scope& scope_;
  const ReadInput& read_input_;
  PlainReader plain_;
  std::size_t next_ = 0;
  std::map<std::string_view, Expr> inputs_;
  std::vector<Expr> extra_inputs_;
  attrs::FieldValues values_, further_;
  std::optional<std::vector<Dim>> extents_;  // of a shape with variables
  bool has_known_shape_ = false;             // what R.reshape gets is no list with codes
};

}  // namespace

Expr ReadCall(Cursor* text, const Token& at, const Signature& signature, Scope* scope,
              const ReadInput& read_input) {
  return CallReader(text, at, signature, scope, read_input).Read();
}

}  // namespace tenon::relax
