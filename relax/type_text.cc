#include "tenon/relax/type_text.h"

#include <algorithm>
#include <array>
#include <limits>

#include "tenon/relax/string_text.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::relax {
namespace {

std::string ExtentText(const Dim& dim);

// As it stands in a product.
std::string AtomText(const DimAtom& atom) {
  switch (atom.kind) {
    case DimAtomKind::kSymbol:
      return atom.text;
    case DimAtomKind::kFloorDiv:
      return StrCat("((", ExtentText(atom.a), ") // ", ExtentText(atom.b), ")");
    case DimAtomKind::kMax:
      return StrCat("T.max(", ExtentText(atom.a), ", ", ExtentText(atom.b), ")");
    case DimAtomKind::kMin:
      return StrCat("T.min(", ExtentText(atom.a), ", ", ExtentText(atom.b), ")");
  }
  Unreachable("the switch over kinds of atoms is exhaustive");
}

std::string ExtentText(const Dim& dim) {
  if (dim.is_static()) return StrCat(dim.value());
  std::string text;
  for (const Dim::Term& term : dim.terms()) {
    std::string product;
    if (term.coefficient == std::numeric_limits<std::int64_t>::min())
      throw InvalidArgument(StrCat("the extent ", dim.ToString(), " has no text"));
    const std::int64_t factor = std::abs(term.coefficient);
    if (factor != 1 || term.atoms.empty()) product = StrCat(factor);
    for (const DimAtomRef& atom : term.atoms)
      StrAppend(&product, product.empty() ? "" : " * ", AtomText(*atom));
    const bool is_negative = term.coefficient < 0;
    if (text.empty()) {
      text = is_negative ? StrCat("-", product) : product;
    } else {
      StrAppend(&text, is_negative ? " - " : " + ", product);
    }
  }
  return text;
}

// Words of Python and names that have a meaning in the text.
constexpr std::array<std::string_view, 40> kWords = {
    "False",  "I",      "Module", "None",  "R",      "T",       "True",     "and",
    "as",     "assert", "async",  "await", "break",  "class",   "cls",      "continue",
    "def",    "del",    "elif",   "else",  "except", "finally", "for",      "from",
    "global", "if",     "import", "in",    "is",     "lambda",  "metadata", "nonlocal",
    "not",    "or",     "pass",   "raise", "return", "try",     "while",    "with"};

}  // namespace

bool IsName(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (text.empty() || !is_letter(text[0]) || text == "yield") return false;
  return !std::binary_search(kWords.begin(), kWords.end(), text) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool TypeText::Says(const ir::Type& type) {
  std::vector<ir::Type> pending = {type};
  while (!pending.empty()) {
    const ir::Type part = pending.back();
    pending.pop_back();
    if (!part) return false;
    if (const auto* tensor = part.As<ir::TensorTypeNode>()) {
      const auto unknown = std::count_if(tensor->shape.begin(), tensor->shape.end(),
                                         [](const Dim& dim) { return dim.is_any(); });
      if (unknown != 0 && unknown != static_cast<std::ptrdiff_t>(tensor->shape.size()))
        return false;
    } else if (const auto* tuple = part.As<ir::TupleTypeNode>()) {
      pending.insert(pending.end(), tuple->fields.begin(), tuple->fields.end());
    } else if (const auto* function = part.As<ir::FuncTypeNode>()) {
      pending.insert(pending.end(), function->params.begin(), function->params.end());
      pending.push_back(function->result);
    }
  }
  return true;
}

std::string TypeText::Tensor(const ir::TensorTypeNode& tensor) const {
  const std::string dtype = StrCat("dtype=\"", tensor.dtype.ToString(), "\"");
  const auto is_any = [](const Dim& dim) { return dim.is_any(); };
  const bool has_any = std::any_of(tensor.shape.begin(), tensor.shape.end(), is_any);
  if (has_any) {
    if (where_ == Where::kSignature &&
        !std::all_of(tensor.shape.begin(), tensor.shape.end(), is_any))
      throw InvalidArgument(
          StrCat("Relax text has no type for a tensor of which some extents are "
                 "known and others are not: (",
                 StrJoin(tensor.shape, ", ",
                         [](std::string* text, const Dim& dim) { *text += dim.ToString(); }),
                 "); give the others names"));
    return StrCat("R.Tensor(", dtype, ", ndim=", tensor.shape.size(), ")");
  }
  std::string shape;
  for (const Dim& dim : tensor.shape) {
    std::set<std::string> names;
    dim.AddSymbols(&names);
    for (const std::string& name : names) {
      if (!IsName(name))
        throw InvalidArgument(
            StrCat("the variable ", QuotedString(name), " of an extent is no name in Relax text"));
      symbols_->insert(name);
    }
    const std::string extent = ExtentText(dim);
    const bool quoted = where_ == Where::kSignature && !dim.is_static();
    StrAppend(&shape, shape.empty() ? "" : ", ", quoted ? StrCat("\"", extent, "\"") : extent);
  }
  if (tensor.shape.size() == 1) shape += ",";
  return StrCat("R.Tensor((", shape, "), ", dtype, ")");
}

std::string TypeText::Of(const ir::Type& type) const {
  const auto join = [&](const std::vector<ir::Type>& types) {
    return StrJoin(types, ", ",
                   [&](std::string* text, const ir::Type& part) { *text += Of(part); });
  };
  if (const auto* tensor = type.As<ir::TensorTypeNode>()) return Tensor(*tensor);
  if (const auto* tuple = type.As<ir::TupleTypeNode>())
    return tuple->fields.empty() ? "R.Tuple" : StrCat("R.Tuple(", join(tuple->fields), ")");
  if (const auto* function = type.As<ir::FuncTypeNode>())
    return StrCat("R.Callable((", join(function->params), function->params.size() == 1 ? ",)" : ")",
                  ", ", Of(function->result), ", True)");
  throw InvalidArgument("a type that is not known has no text");
}

}  // namespace tenon::relax
