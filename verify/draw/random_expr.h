// Random scalar expressions, with what is known about their values. Only verify/random_*.cc include
// this header.
#ifndef TENON_VERIFY_DRAW_RANDOM_EXPR_H_
#define TENON_VERIFY_DRAW_RANDOM_EXPR_H_

#include <vector>

#include "tenon/loop/expr.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

struct Term {
  loop::Expr value;
  double bound = 0;             // of the magnitude
  double grain = 0;             // the value is an exact multiple; 0: it may have been rounded
  double error = 0;             // how far another program's value may be away
  bool may_be_special = false;  // NaN or infinite; the other fields describe all other values
};

// The term with the rounding of the operation that made it, scaled so that bounds stay small.
Term Settled(Term term);
// The same, without scaling: for a value whose magnitude does not matter.
Term Rounded(Term term);
// The term with zeros instead of special values.
Term Finite(const Term& term);
// The term as a value of `type`.
Term ConvertTo(DataType type, const Term& term);
Term RandomConstant(DataType type, Random& random);
// A term of the same type made by a random function of one, two or three arguments.
Term RandomUnary(const Term& a, Random& random);
Term RandomBinary(const Term& a, const Term& b, Random& random);
// A bool that is the same in every program.
Term RandomCondition(const Term& a, const Term& b, Random& random);
Term Chosen(const Term& condition, const Term& a, const Term& b, bool lazy);
// The term scaled by a power of two so that its bound is at most `limit`.
Term Within(const Term& a, double limit);
Term ProductOf(const Term& a, const Term& b);
// BeforeSum scales a term so that a sum of `count` such terms stays small. SumOf gives what is
// known about the sum; its value only shows the type.
Term BeforeSum(const Term& term, std::int64_t count);
Term SumOf(const Term& term, std::int64_t count);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_RANDOM_EXPR_H_
