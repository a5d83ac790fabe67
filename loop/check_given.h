// What users may give: numbers of iterations, extents, expressions of a certain depth.
#ifndef TENON_LOOP_CHECK_GIVEN_H_
#define TENON_LOOP_CHECK_GIVEN_H_

#include <optional>
#include <string>
#include <string_view>

#include "tenon/loop/expr.h"

namespace tenon::loop {

// Throws InvalidArgument for a null expression, which `what` names.
void RequireDefined(const Expr& e, std::string_view what = "an expression");

// Whether its value depends on more than its variables: it loads elements or calls C functions.
bool ReadsMemory(const Expr& e);

// Why `e` cannot be a factor or a number of parts, or nothing. For a symbolic one the caller
// promises that it can.
std::optional<std::string> WhyNoFactor(const Expr& e);

// Throws InvalidArgument, beginning with `what`, unless `e` is an int64 that reads no memory.
void RequireExtent(const Expr& e, const std::string& what);

// Throws InvalidArgument, beginning with `what`, if more than 4096 operands of `e` lie within each
// other. Walks over expressions take stack for each level.
void RequireDepth(const Expr& e, const std::string& what);

}  // namespace tenon::loop

#endif  // TENON_LOOP_CHECK_GIVEN_H_
