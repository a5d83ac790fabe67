// Random scalar expressions with what is known of their values. Only compiler/random_*.cc include
// this header.
#ifndef TENON_COMPILER_RANDOM_EXPR_H_
#define TENON_COMPILER_RANDOM_EXPR_H_

#include <vector>

#include "tenon/compiler/array_values.h"
#include "tenon/loop/expr.h"

namespace tenon::compiler {

struct Term {
  loop::Expr value;
  double bound = 0;  // of the magnitude
  double grain = 0;  // the value is an exact multiple of it; 0: it may have been rounded
  double error = 0;  // how far it may be from another program's
};

// `count` terms of error `error` each; where `term` is exact and its bound small the sum is, too.
Term Settled(Term term);
// The term as a value of `type`.
Term ConvertTo(DataType type, const Term& term);
Term RandomConstant(DataType type, Random& random);
// A term of the same type made of a random function of one, two or three.
Term RandomUnary(const Term& a, Random& random);
Term RandomBinary(const Term& a, const Term& b, Random& random);
// A bool that comes out the same in every program.
Term RandomCondition(const Term& a, const Term& b, Random& random);
Term Chosen(const Term& condition, const Term& a, const Term& b, bool lazy);
// Scaled by a power of two so that the bound is at most `limit`.
Term Within(const Term& a, double limit);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_RANDOM_EXPR_H_
