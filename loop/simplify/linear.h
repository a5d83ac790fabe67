// Arithmetic on sums in normal form (Linear), and the factors of their terms.
//
//   Linear sum = ToLinear(i * 4, {});
//   AddScaled(&sum, ToLinear(j, {}), 2);  // 4 * i + 2 * j
#ifndef TENON_LOOP_SIMPLIFY_LINEAR_H_
#define TENON_LOOP_SIMPLIFY_LINEAR_H_

#include <cstdint>
#include <vector>

#include "tenon/loop/simplify/simplify.h"

namespace tenon::loop {

// Linear forms wrap around as registers do, which keeps their value. Both functions return whether
// nothing had to wrap around.
bool AddTerm(Linear* l, const Expr& atom, std::int64_t coefficient);
bool AddScaled(Linear* l, const Linear& other, std::int64_t k);
// Adds a * b term by term, with variables as factors in order, so that equal products look equal.
void AddProducts(Linear* l, const Linear& a, const Linear& b);

bool IsMonomial(const Linear& l);
// Whether a term is a quotient by an expression of variables, or a product with one.
bool HasSymbolicQuotient(const Linear& l);

// The factors of a product, or `e` alone. There is no limit on their number.
std::vector<Expr> FactorsOf(const Expr& e);
// The product of the factors, in an order that does not depend on theirs. Undefined if there are
// none.
Expr ProductInOrder(std::vector<Expr> factors);

}  // namespace tenon::loop

#endif  // TENON_LOOP_SIMPLIFY_LINEAR_H_
