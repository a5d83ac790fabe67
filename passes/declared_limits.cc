#include "tenon/passes/declared_limits.h"

#include <set>
#include <string>
#include <utility>

#include "tenon/ir/flatten.h"
#include "tenon/ir/parse_extents.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using Kind = ExtentCondition::Kind;

// The text with blanks in place of names in quotes, which may have any characters.
std::string WithoutQuoted(const std::string& text) {
  std::string plain = text;
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      is_quoted = !is_quoted;
    } else if (is_quoted) {
      plain[i] = ' ';
      if (text[i] == '\\' && i + 1 < text.size()) plain[++i] = ' ';
    }
  }
  return plain;
}

// The parts of a text between commas outside of parentheses.
std::vector<std::string> PartsOf(const std::string& text) {
  const std::string plain = WithoutQuoted(text);
  std::vector<std::string> parts(1);
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += plain[i] == '(' ? 1 : plain[i] == ')' ? -1 : 0;
    if (plain[i] == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  return parts;
}

ExtentCondition LimitOf(const std::string& text, const ir::ExtentOfName& meaning) {
  const std::string plain = WithoutQuoted(text);
  for (const char* sign : {"<=", ">=", "=="}) {
    const std::size_t at = plain.find(sign);
    if (at == std::string::npos) continue;
    const auto side = [&](const std::string& extent) {
      const std::vector<Dim> read = ir::ParseExtents(StrCat("(", extent, ")"), meaning);
      if (read.size() != 1) throw InvalidArgument(StrCat("limits: ", extent, " is not one extent"));
      return read[0];
    };
    Dim a = side(text.substr(0, at)), b = side(text.substr(at + 2));
    if (sign == std::string(">=")) std::swap(a, b);
    return {a, sign == std::string("==") ? Kind::kEqual : Kind::kAtMost, b, kLimitsOwner};
  }
  throw InvalidArgument(StrCat("limits: \"", text,
                               "\" compares nothing; a limit is two extents "
                               "with <=, >= or == between them, such as n <= 512"));
}

}  // namespace

std::vector<ExtentCondition> DeclaredLimits(const ir::FunctionNode& main) {
  const auto found = main.attrs.find(kLimits);
  if (found == main.attrs.end()) return {};
  const auto* text = found->second.As<std::string>();
  if (text == nullptr) throw InvalidArgument("limits of @main must be a text").At(main.span);
  std::set<std::string> known;
  for (const ir::Expr& param : main.params)
    known.merge(ir::SymbolsOf(ir::Var(param).type_annotation()));
  const auto variable = [&](const std::string& name) {
    if (!known.contains(name))
      throw InvalidArgument(StrCat("limits: no input has the variable ", name,
                                   "; there are: ", StrJoin(known, ", ")));
    return Dim::Symbol(name);
  };
  std::vector<ExtentCondition> limits;
  for (const std::string& part : PartsOf(*text)) limits.push_back(LimitOf(part, variable));
  return limits;
}

}  // namespace tenon::passes
