#include "tenon/ops/registry.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>

#include "tenon/ops/builtin.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

std::string Place(const std::source_location& where) {
  return StrCat(where.file_name(), ":", where.line());
}

// Whether a text can name it (ir/lexer.cc).
bool IsReadable(std::string_view name) {
  char before = '.';
  for (const char c : name) {
    const bool is_letter = std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
    const bool goes_on = std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
    if (!is_letter && (before == '.' || !goes_on)) return false;
    before = c;
  }
  return before != '.';
}

}  // namespace

const char* ToString(OpPattern pattern) {
  switch (pattern) {
    case OpPattern::kElemWise:
      return "kElemWise";
    case OpPattern::kBroadcast:
      return "kBroadcast";
    case OpPattern::kInjective:
      return "kInjective";
    case OpPattern::kCommReduce:
      return "kCommReduce";
    case OpPattern::kOutEWiseFusable:
      return "kOutEWiseFusable";
    case OpPattern::kTuple:
      return "kTuple";
    case OpPattern::kOpaque:
      return "kOpaque";
  }
  return "?";
}

bool HasKnownConditions(const OpDef& op) {
  using Function = void (*)(TypeCall&);
  const Function* relation = op.type_relation.target<Function>();
  static constexpr Function kShared[] = {Identity, IdentityToBool, Broadcast, BroadcastToBool};
  return op.Column<KnownConditions>() != nullptr ||
         (relation != nullptr &&
          std::find(std::begin(kShared), std::end(kShared), *relation) != std::end(kShared));
}

OpRegistry& OpRegistry::Global() {
  static OpRegistry* const registry = [] {
    auto* made = new OpRegistry();  // lives as long as the process
    RegisterBuiltinOps(*made);
    for (auto& [name, entry] : made->entries_) entry.definition->SetColumn(KnownConditions());
    return made;
  }();
  return *registry;
}

OpBuilder OpRegistry::Register(const std::string& name, std::source_location where) {
  if (name.empty()) throw InvalidArgument("an operator needs a name");
  if (!IsReadable(name))
    throw InvalidArgument(StrCat(
        "texts cannot hold an operator called '", name, "', registered at ", Place(where),
        "; a name is made of letters, digits, _ and dots, and begins with a letter, as does what "
        "follows a dot"));
  const auto found = entries_.find(name);
  if (found != entries_.end())
    throw AlreadyExists(StrCat("the operator ", name, " is registered twice: at ",
                               Place(found->second.definition->registered_at), " and at ",
                               Place(where)));
  const Ref<OpDef> definition = MakeRef<OpDef>(name, where);
  entries_.emplace(name, Entry{definition, ir::Expr(Ref<const ir::ExprNode>(definition.get()))});
  return OpBuilder(definition.get());
}

const OpRegistry::Entry& OpRegistry::Lookup(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found != entries_.end()) return found->second;
  throw NotFound(StrCat("there is no operator named ", name, DidYouMean("; ", name, Names())));
}

const ir::Expr& OpRegistry::Get(const std::string& name) const { return Lookup(name).expr; }

ir::Expr OpRegistry::Find(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? ir::Expr() : found->second.expr;
}

OpDef& OpRegistry::Definition(const std::string& name) { return *Lookup(name).definition; }

std::vector<std::string> OpRegistry::Names() const {
  std::vector<std::string> names;
  for (const auto& entry : entries_) names.push_back(entry.first);
  return names;
}

void OpRegistry::ThrowStartupErrors() {
  if (startup_errors_.empty()) return;
  const std::vector<std::string> errors = std::move(startup_errors_);
  startup_errors_.clear();
  throw FailedPrecondition(StrCat("operators could not be registered: ", StrJoin(errors, "; ")));
}

ir::OpResolver OpRegistry::Resolver() const {
  return {[this](const std::string& name) { return Find(name); }, [this] { return Names(); }};
}

}  // namespace tenon::ops
