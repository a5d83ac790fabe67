#include "tenon/relax/branches.h"

#include <algorithm>

#include "tenon/ops/type_relation.h"
#include "tenon/support/strings.h"

namespace tenon::relax {

using ir::Expr;

namespace {

// Whether the types are one, apart from extents that are not known. Inference would make a number
// of a variable that meets one, and one branch says nothing of the other's extents.
bool AreOne(const ir::Type& a, const ir::Type& b) {
  if (!a || !b || ir::Equal(a, b)) return true;
  const auto *x = a.As<ir::TensorTypeNode>(), *y = b.As<ir::TensorTypeNode>();
  if (x != nullptr && y != nullptr)
    return x->dtype == y->dtype && std::equal(x->shape.begin(), x->shape.end(), y->shape.begin(),
                                              y->shape.end(), [](const Dim& p, const Dim& q) {
                                                return p == q || p.is_any() || q.is_any();
                                              });
  const auto *s = a.As<ir::TupleTypeNode>(), *t = b.As<ir::TupleTypeNode>();
  return s != nullptr && t != nullptr &&
         std::equal(s->fields.begin(), s->fields.end(), t->fields.begin(), t->fields.end(), AreOne);
}

}  // namespace

void RequireCondition(const Cursor& text, const Token& at, const Expr& condition) {
  const auto* type = condition.checked_type().As<ir::TensorTypeNode>();
  if (type == nullptr || type->dtype != Bool || !type->shape.empty())
    text.Fail(at, StrCat("the condition of an if is ", ir::ToString(condition.checked_type()),
                         "; it must be a bool without axes: R.Tensor((), dtype=\"bool\")"));
}

Expr MakeIf(const Cursor& text, const Expr& condition, const Branch& yes, const Branch& no,
            const Span& span) {
  if (yes.name.text != no.name.text)
    text.Fail(no.name,
              StrCat("the first branch of the if binds ", yes.name.text, " last, and this one ",
                     no.name.text, "; the last variable of both must be the same"));
  const ir::Type first = yes.value.checked_type();
  const ir::Type second = no.value.checked_type();
  if (!AreOne(first, second))
    text.Fail(no.name, StrCat(yes.name.text, " is ", ir::ToString(first),
                              " in the first branch of the if and ", ir::ToString(second),
                              " in the second; both must be of one type"));
  return ir::If::Make(condition, yes.value, no.value, span, ops::Unify(first, second));
}

}  // namespace tenon::relax
