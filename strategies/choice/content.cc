#include "tenon/strategies/choice/content.h"

#include "tenon/ir/text_format.h"
#include "tenon/support/hash.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {

std::string ContentText(const Group& group) {
  std::string constants;
  for (const NDArray& constant : group.constants) constants += constant.defined() ? 'c' : '-';
  return StrCat("constants ", constants, "\n",
                ir::PrintExpr(ir::Expr(Ref<const ir::ExprNode>(group.function))));
}

std::string ContentKey(const std::string& text) { return HashText(HashBytes(text)); }

}  // namespace tenon::strategies
