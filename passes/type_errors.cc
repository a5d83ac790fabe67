#include "tenon/passes/type_errors.h"

#include <unordered_map>

#include "tenon/ir/flatten.h"
#include "tenon/ir/visit.h"
#include "tenon/support/strings.h"

namespace tenon::passes {

using ir::CallNode;
using ir::Expr;
using ir::FuncTypeNode;
using ir::TupleTypeNode;
using ir::Type;

Error TypeErrors::AsOne() const {
  if (errors.size() + left_out == 1) return errors[0];
  std::string message = StrCat("there are ", errors.size() + left_out, " type errors");
  if (left_out > 0) StrAppend(&message, "; the first ", errors.size(), " follow");
  Error all = InvalidArgument(std::move(message));
  for (const Error& error : errors) all.AddNote(error.what());
  return all;
}

void RequireCountable(const Type& type) {
  for (const Type& part : ir::Flatten(type)) {
    const auto* tensor = part.As<ir::TensorTypeNode>();
    if (tensor == nullptr) continue;
    RequireFewAxes(static_cast<std::int64_t>(tensor->shape.size()));
    if (ir::IsStaticTensor(part)) NumBytes(ir::StaticShape(part, "a value"), tensor->dtype);
  }
}

namespace {

bool Complete(const Type& type) {
  if (!type) return false;
  const auto all = [](const std::vector<Type>& types) {
    for (const Type& t : types) {
      if (!Complete(t)) return false;
    }
    return true;
  };
  if (const auto* tuple = type.As<TupleTypeNode>()) return all(tuple->fields);
  if (const auto* reference = type.As<ir::RefTypeNode>()) return Complete(reference->value);
  if (const auto* function = type.As<FuncTypeNode>())
    return all(function->params) && Complete(function->result);
  return true;
}

bool CallsItself(const std::string& name, const Expr& function) {
  bool calls = false;
  ir::VisitPostOrder(function, [&](const Expr& e) {
    const auto* global = e.As<ir::GlobalVarNode>();
    calls = calls || (global != nullptr && global->name == name);
  });
  return calls;
}

// Counts the parts of types. A type that many types hold is walked once.
class PartCounter {
 public:
  std::size_t Count(const Type& type) {
    if (!type || type.As<ir::TensorTypeNode>() != nullptr) return 1;
    const auto known = counts_.find(type.get());
    if (known != counts_.end()) return known->second;
    std::size_t parts = 1;
    const auto add = [&](const std::vector<Type>& types) {
      for (const Type& part : types) parts += Count(part);
    };
    if (const auto* tuple = type.As<TupleTypeNode>()) add(tuple->fields);
    if (const auto* reference = type.As<ir::RefTypeNode>()) parts += Count(reference->value);
    if (const auto* function = type.As<FuncTypeNode>()) {
      add(function->params);
      parts += Count(function->result);
    }
    counts_.emplace(type.get(), parts);
    return parts;
  }

 private:
  std::unordered_map<const ir::TypeNode*, std::size_t> counts_;
};

}  // namespace

TypeErrors TooManyParts(const InferredTypes& inferred) {
  constexpr std::size_t kMaxParts = 4'000'000;
  TypeErrors found;
  PartCounter counter;
  std::size_t parts = 0;
  for (const std::vector<Expr>* all : {&inferred.vars, &inferred.constraints}) {
    for (const Expr& e : *all) {
      parts += counter.Count(inferred.type_of(e));
      if (parts <= kMaxParts) continue;
      found.errors.push_back(InvalidArgument(StrCat("the types of all values together have more "
                                                    "than ",
                                                    kMaxParts, " parts"))
                                 .At(e.span()));
      return found;
    }
  }
  return found;
}

TypeErrors UnknownTypes(const InferredTypes& inferred) {
  constexpr std::size_t kMaxErrors = 20;
  TypeErrors found;
  for (const Expr& e : inferred.vars) {
    if (Complete(inferred.type_of(e))) continue;
    if (found.errors.size() >= kMaxErrors) {
      ++found.left_out;
      continue;
    }
    found.errors.push_back(InvalidArgument(StrCat("the type of the variable %", ir::Var(e).name(),
                                                  " cannot be inferred; annotate it"))
                               .At(e.span()));
  }
  if (!found.errors.empty()) return found;
  for (const auto& [name, function] : inferred.globals) {
    const auto* type = inferred.type_of(function).As<FuncTypeNode>();
    if (type == nullptr || Complete(type->result) || !CallsItself(name, function)) continue;
    found.errors.push_back(
        InvalidArgument(StrCat("the result type of @", name,
                               ", which calls itself, cannot be inferred; annotate "
                               "it (-> type)"))
            .At(function.span()));
    return found;
  }
  for (const Expr& e : inferred.constraints) {
    if (Complete(inferred.type_of(e))) continue;
    const auto* call = e.As<CallNode>();
    found.errors.push_back(InvalidArgument(StrCat("the type of ",
                                                  call != nullptr && call->op() != nullptr
                                                      ? "this call of " + call->op()->name
                                                      : std::string("this expression"),
                                                  " cannot be inferred"))
                               .At(e.span()));
    return found;
  }
  return found;
}
TypeErrors UncountableTypes(const InferredTypes& inferred) {
  TypeErrors found;
  const auto check = [&](const Expr& e) {
    try {
      RequireCountable(inferred.type_of(e));
    } catch (Error& error) {
      found.errors.push_back(error.At(e.span()));
    }
  };
  for (const std::vector<Expr>* all : {&inferred.vars, &inferred.constraints}) {
    for (const Expr& e : *all) {
      check(e);
      if (!found.errors.empty()) return found;
    }
  }
  return found;
}

}  // namespace tenon::passes
