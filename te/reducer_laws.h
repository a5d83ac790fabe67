// Whether the terms of a reduction may be joined in another order than one by one.
//
// A reducer declares it (Combiner::is_commutative in te/tensor.h). What it declares is tried on
// samples: a proof is out of reach for reducers with exp or divisions, which are common, and a
// wrong declaration shows on almost any three terms. So a reducer is believed until samples
// contradict it. Samples are terms as `source` makes them from small positive numbers, the
// identity, and terms that were joined, since reducers may rely on what all of their values have in
// common.
//
//   WhyOrderCounts(sub, {A(k)});
//   // "reducer sub is not associative: (2 . 2) . 2 is -2, but 2 . (2 . 2) is 2"
#ifndef TENON_TE_REDUCER_LAWS_H_
#define TENON_TE_REDUCER_LAWS_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/te/tensor.h"

namespace tenon::te {

// Nothing if the order does not count, as far as is known. Reducers that cannot be evaluated are
// believed.
std::optional<std::string> WhyOrderCounts(const Combiner& combiner,
                                          const std::vector<Expr>& source);

}  // namespace tenon::te

#endif  // TENON_TE_REDUCER_LAWS_H_
