// Random scalar expressions with what is known of their values. Only verify/random_*.cc include
// this header.
#ifndef TENON_VERIFY_RANDOM_EXPR_H_
#define TENON_VERIFY_RANDOM_EXPR_H_

#include <vector>

#include "tenon/loop/expr.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

struct Term {
  loop::Expr value;
  double bound = 0;             // of the magnitude
  double grain = 0;             // the value is an exact multiple of it; 0: it may have been rounded
  double error = 0;             // how far it may be from another program's
  bool may_be_special = false;  // NaN or infinite; the other fields speak of the rest
};

// With the rounding of the operation that made it, and scaled so that bounds stay small.
Term Settled(Term term);
// The same of a value whose magnitude is of no concern: it stays as it is.
Term Rounded(Term term);
// The term without special values: zeros stand for them.
Term Finite(const Term& term);
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
Term ProductOf(const Term& a, const Term& b);
// A term of a sum of `count` such that the sum stays small, and what is known of the sum. Its value
// stands for the type alone.
Term BeforeSum(const Term& term, std::int64_t count);
Term SumOf(const Term& term, std::int64_t count);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_RANDOM_EXPR_H_
