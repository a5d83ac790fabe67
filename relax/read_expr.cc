// Recursive descent with Python's precedence; the depth is bounded. Each call gets its type when it
// is read, as in Relax, so what an operator becomes may depend on the types of its arguments.
#include "tenon/relax/read_expr.h"

#include <utility>

#include "tenon/ir/metadata.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/call_types.h"
#include "tenon/passes/infer_type.h"
#include "tenon/relax/read_call.h"
#include "tenon/relax/read_plain.h"
#include "tenon/relax/value_text.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::relax {

using ir::Expr;

namespace {

// The type with unknown extents for those that have variables.
ir::Type WithoutVariables(const ir::Type& type) {
  if (const auto* tuple = type.As<ir::TupleTypeNode>()) {
    std::vector<ir::Type> fields;
    for (const ir::Type& field : tuple->fields) fields.push_back(WithoutVariables(field));
    return ir::TupleType(std::move(fields));
  }
  const auto* tensor = type.As<ir::TensorTypeNode>();
  if (tensor == nullptr) return type;
  std::vector<Dim> shape;
  for (const Dim& dim : tensor->shape) shape.push_back(dim.is_static() ? dim : Dim());
  return ir::TensorType(std::move(shape), tensor->dtype);
}

// The call of a function of the module: its variables of extents stand for those of the arguments.
Expr WithExtentsOfCall(const Expr& e, const std::vector<Expr>& params, const ir::Type& result) {
  const auto& call = *e.As<ir::CallNode>();
  std::vector<ir::Type> types, args;
  for (const Expr& param : params) types.push_back(param.checked_type());
  for (const Expr& arg : call.args) args.push_back(arg.checked_type());
  const Expr header = ir::Function::Make(params, ir::Tuple::Make({}), result);
  const ir::Type type = ir::FuncType(std::move(types), result);
  const auto own =
      passes::TypesOfCall(*header.As<ir::FunctionNode>(), *type.As<ir::FuncTypeNode>(), args);
  if (!own) return e;
  return ir::Call::Make(call.callee, call.args, call.attrs, e.span(),
                        own->result ? own->result : WithoutVariables(result));
}

}  // namespace

Expr ExprReader::Read() {
  const Nested nested(*text_);
  Expr sum = Product();
  while (text_->IsPunct("+") || text_->IsPunct("-")) {
    const Token sign = text_->Advance();
    may_be_number_ = true;
    const Expr right = Product();
    may_be_number_ = false;
    sum = Binary(sign, sign.text == "+" ? "add" : "subtract", sum, right);
  }
  return sum;
}

Expr ExprReader::Product() {
  Expr product = Factor();
  while (text_->IsPunct("*") || text_->IsPunct("/") || text_->IsPunct("//")) {
    const Token sign = text_->Advance();
    may_be_number_ = true;
    const Expr right = Factor();
    may_be_number_ = false;
    product = Binary(sign,
                     sign.text == "*"   ? "multiply"
                     : sign.text == "/" ? "divide"
                                        : "floor_divide",
                     product, right);
  }
  return product;
}

Expr ExprReader::Binary(const Token& at, const char* op, const Expr& a, const Expr& b) {
  return text_->Placed(at, [&] {
    return passes::InferCall(
        ir::Call::Make(ops::OpRegistry::Global().Get(op), {a, b}, {}, text_->SpanOf(at)));
  });
}

Expr ExprReader::Factor() {
  const Nested nested(*text_);
  if (text_->IsPunct("-")) {
    const Token sign = text_->Advance();
    const Expr value = Factor();
    return text_->Placed(sign, [&] {
      return passes::InferCall(ir::Call::Make(ops::OpRegistry::Global().Get("negative"), {value},
                                              {}, text_->SpanOf(sign)));
    });
  }
  const Token at = text_->token();
  Expr value = Primary();
  while (true) {
    if (text_->IsPunct("[")) {
      value = Item(value, at);
    } else if (text_->IsPunct("(") && value.checked_type().As<ir::FuncTypeNode>() != nullptr) {
      const auto& type = *value.checked_type().As<ir::FuncTypeNode>();
      value = CallOfFunction(at, value, type.result);
    } else {
      break;
    }
  }
  return value;
}

Expr ExprReader::Item(const Expr& value, const Token& at) {
  text_->Expect("[", "before the number of a field");
  const Token number = text_->ExpectKind(TokenKind::kNumber, "the number of a field");
  text_->Expect("]", "after the number of a field");
  const auto* tuple = value.checked_type().As<ir::TupleTypeNode>();
  if (tuple == nullptr)
    text_->Fail(at, StrCat("this is ", ir::ToString(value.checked_type()),
                           ", which has no fields; only tuples have"));
  const auto index = ParseNumber<int>(number.text);
  if (!index || static_cast<std::size_t>(*index) >= tuple->fields.size())
    text_->Fail(number, StrCat("the tuple has ", tuple->fields.size(), " fields, from 0 on"));
  return ir::TupleGetItem::Make(value, *index, text_->SpanOf(at),
                                tuple->fields[static_cast<std::size_t>(*index)]);
}

Expr ExprReader::Primary() {
  switch (text_->token().kind) {
    case TokenKind::kName: {
      const Token name = text_->Advance();
      if (const Expr value = scope_->Find(name.text)) return value;
      if (const PlainValue* plain = scope_->FindPlain(name.text)) return Plain(name, *plain);
      if (name.text == "R" && text_->IsPunct(".")) return AfterR(name);
      if (name.text == "metadata" && text_->IsPunct("[")) return Metadata(name);
      if (module_->IsModule(name.text) && text_->Accept(".")) {
        const Token function = text_->ExpectName("the name of a function of the module");
        const ir::Type result = module_->ResultOf(function);
        const Expr call = CallOfFunction(
            function, ir::GlobalVar::Make(std::string(function.text), text_->SpanOf(function)),
            result);
        return WithExtentsOfCall(call, module_->ParametersOf(function), result);
      }
      return Variable(name);
    }
    case TokenKind::kNumber:
      text_->Fail(text_->token(), StrCat("a number is no tensor; write R.const(",
                                         text_->token().text, ", \"float32\")"));
    case TokenKind::kPunctuation:
      if (text_->IsPunct("(")) return Parenthesised();
      if (text_->IsPunct("[")) return TupleOf(text_->Advance(), "]", true);
      break;
    default:
      break;
  }
  text_->FailExpected("an expression");
}

Expr ExprReader::Plain(const Token& name, const PlainValue& whole) {
  const bool is_item = whole.shape && text_->IsPunct("[");
  const PlainValue value = is_item ? ReadItem(text_, whole) : whole;
  if (value.number && std::exchange(may_be_number_, false)) return value.number;
  const std::string example = is_item ? StrCat(name.text, "[0]") : std::string(name.text);
  text_->Fail(
      name,
      StrCat(is_item ? "this" : name.text, " is ", value.ToString(),
             ", which is no tensor; it may stand ",
             value.shape    ? StrCat("where an operator takes a shape: R.reshape(x, ", example, ")")
             : value.extent ? StrCat("in a shape: R.reshape(x, (", example, ", 4))")
                            : StrCat("where an operator takes a number: R.add(x, ", example, ")")));
}

// Of a name that is not known.
Expr ExprReader::Variable(const Token& name) {
  const std::optional<BlockKind> ended = scope_->Ended(name.text);
  if (ended == BlockKind::kBranch)
    text_->Fail(name, StrCat(name.text,
                             " belongs to a branch of an if; after it only the last "
                             "variable of both branches is known"));
  if (ended == BlockKind::kDataflow)
    text_->Fail(name, StrCat(name.text, " belongs to a block that has ended; R.output(", name.text,
                             ") at its end makes it known here"));
  if (name.text == "I" || name.text == "T" || name.text == "R" || name.text == "tvm")
    text_->Fail(name, StrCat("'", name.text, "' begins no value that can be read"));
  std::vector<std::string> known = scope_->Names();
  text_->Fail(name, StrCat("the variable ", name.text, " is not defined",
                           DidYouMean("; ", name.text, known)));
}

// A tuple, or one expression in parentheses.
Expr ExprReader::Parenthesised() { return TupleOf(text_->Advance(), ")", false); }

// The fields up to `close`; a single one without a comma is itself, unless `always`.
Expr ExprReader::TupleOf(const Token& at, const char* close, bool always) {
  const Nested nested(*text_);
  std::vector<Expr> fields;
  std::vector<ir::Type> types;
  bool is_tuple = always || text_->IsPunct(close);
  while (!text_->IsPunct(close)) {
    fields.push_back(Read());
    types.push_back(fields.back().checked_type());
    if (!text_->Accept(",")) break;
    is_tuple = true;
  }
  text_->Expect(close, "after a tuple");
  if (!is_tuple) return fields[0];
  return text_->Placed(at, [&] {
    return ir::Tuple::Make(std::move(fields), text_->SpanOf(at), ir::TupleType(std::move(types)));
  });
}

// metadata["relax.expr.Constant"][0]
Expr ExprReader::Metadata(const Token& at) {
  text_->Expect("[", "after metadata");
  const Token kind = text_->token();
  if (text_->String() != ir::kRelaxConstants)
    text_->Fail(kind, StrCat("only constants come from the metadata: metadata[\"",
                             ir::kRelaxConstants, "\"]"));
  text_->Expect("]", "after the kind of metadata");
  text_->Expect("[", "before the number of a constant");
  const Token number = text_->ExpectKind(TokenKind::kNumber, "the number of a constant");
  text_->Expect("]", "after the number of a constant");
  const auto index = ParseNumber<std::size_t>(number.text);
  if (!index) text_->Fail(number, StrCat("'", number.text, "' is not the number of a constant"));
  return module_->ConstantOf(*index, at);
}

// R.const(...), R.tuple(...), or an operator.
Expr ExprReader::AfterR(const Token& at) {
  const bool may_be_number = std::exchange(may_be_number_, false);
  std::string name;
  Token whole = at;
  while (text_->Accept(".")) {
    const Token part = text_->ExpectName("the name of an operator");
    StrAppend(&name, name.empty() ? "" : ".", part.text);
    whole.text =
        text_->source()->text.substr(at.offset, part.offset + part.text.size() - at.offset);
  }
  if (name == "const") return Const(whole);
  if (name == "tuple") {
    text_->Expect("(", "after R.tuple");
    return TupleOf(whole, ")", true);
  }
  if (name == "prim_value" && may_be_number) return ReadPrimValue(text_, whole).number;
  if (name == "match_cast") return MatchCast(whole);
  if (name == "shape" || name == "shape_of" || name == "prim_value" || name == "str" ||
      name == "dtype")
    text_->Fail(whole, StrCat("R.", name,
                              " is no tensor; it may stand where an operator takes a value, and a "
                              "number as a tensor is R.const(1, \"int64\")"));
  if (!text_->IsPunct("(")) text_->Fail(whole, StrCat("R.", name, " is named but not called"));
  return CallOfOperator(whole, name);
}

Expr ExprReader::CallOfOperator(const Token& at, const std::string& name) {
  const Signature signature = text_->Placed(at, [&] { return SignatureOf(name); });
  return ReadCall(text_, at, signature, scope_, [&] {
    may_be_number_ = true;
    Expr input = Read();
    may_be_number_ = false;
    return input;
  });
}

// R.match_cast(x, R.Tensor((n, 4), "float32")): x, where that is known already.
Expr ExprReader::MatchCast(const Token& at) {
  text_->Expect("(", "after R.match_cast");
  const Expr value = Read();
  text_->Expect(",", "between the value and the type of R.match_cast");
  const Annotation annotation =
      ReadAnnotation(text_, &scope_->symbols, Where::kBody, PlainExtents(text_, scope_));
  text_->Accept(",");
  text_->Expect(")", "after R.match_cast");
  if (!annotation.FollowsFrom(value.checked_type()))
    text_->Fail(at, StrCat("R.match_cast says more than is known, which would be checked as the "
                           "module runs; its value is ",
                           ir::ToString(value.checked_type())));
  return value;
}

// R.const(0.5, "float32"): numbers are kept as text, which is read as the type that is given.
Expr ExprReader::Const(const Token& at) {
  text_->Expect("(", "after R.const");
  const Literal literal =
      ReadLiteral(text_, "a number, True or False (other constants are in the metadata)");
  DataType dtype = literal.is_flag ? Bool : literal.is_real ? Float32 : Int32;
  if (text_->Accept(",")) {
    if (text_->IsKeyword() && text_->AcceptName("dtype")) text_->Advance();
    dtype = ReadElementType(text_);
  }
  text_->Expect(")", "after R.const");
  return ScalarOf(*text_, literal, dtype, at);
}

Expr ExprReader::CallOfFunction(const Token& at, const Expr& callee, const ir::Type& result) {
  text_->Expect("(", "after the name of a function");
  std::vector<Expr> args;
  while (!text_->IsPunct(")")) {
    if (text_->IsKeyword())
      text_->Fail(text_->token(), "functions take their arguments by position");
    args.push_back(Read());
    if (!text_->Accept(",")) break;
  }
  text_->Expect(")", "after the arguments");
  return ir::Call::Make(callee, std::move(args), {}, text_->SpanOf(at), result);
}

}  // namespace tenon::relax
