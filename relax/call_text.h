// Calls of operators as Relax text, with the attributes that Relax writes.
//
//   CallText(call, [&](const ir::Expr& arg) { return names.at(arg); });   // "R.nn.relu(x)"
#ifndef TENON_RELAX_CALL_TEXT_H_
#define TENON_RELAX_CALL_TEXT_H_

#include <functional>
#include <string>

#include "tenon/ir/expr.h"

namespace tenon::relax {

// What stands for an argument.
using UseText = std::function<std::string(const ir::Expr& arg)>;

std::string CallText(const ir::CallNode& call, const UseText& use);

}  // namespace tenon::relax

#endif  // TENON_RELAX_CALL_TEXT_H_
