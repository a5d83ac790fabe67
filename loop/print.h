// Loops as readable text, for people and for whole-text tests. Equal names are told apart by a
// suffix. At most 20,000 nodes of an expression are printed, each as often as it is used; "..."
// stands for the rest.
#ifndef TENON_LOOP_PRINT_H_
#define TENON_LOOP_PRINT_H_

#include <string>

#include "tenon/loop/function.h"

namespace tenon::loop {

std::string Print(const Expr& expr);
std::string Print(const Stmt& stmt);
std::string Print(const Function& function);

}  // namespace tenon::loop

#endif  // TENON_LOOP_PRINT_H_
