#include "tenon/relax/branches.h"

#include "tenon/ops/type_relation.h"
#include "tenon/support/strings.h"

namespace tenon::relax {

using ir::Expr;

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
  ir::Type both;
  try {
    both = ops::Unify(first, second);
  } catch (const Error&) {
    text.Fail(no.name, StrCat(yes.name.text, " is ", ir::ToString(first),
                              " in the first branch of the if and ", ir::ToString(second),
                              " in the second; both must be of one type"));
  }
  return ir::If::Make(condition, yes.value, no.value, span, both);
}

}  // namespace tenon::relax
