// Random values for the fields of attributes, by reflection.
//
//   const attrs::Attrs attributes = DrawAttributes(*ops::OpOf(callee), random);
#ifndef TENON_VERIFY_DRAW_RANDOM_ATTRIBUTES_H_
#define TENON_VERIFY_DRAW_RANDOM_ATTRIBUTES_H_

#include "tenon/ops/op.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

// Draws values for some fields at random, each accepted by its field; the others keep their
// defaults. `extreme_percent` of integers are far from usual ones. Throws InvalidArgument where a
// required field takes only a text that cannot be drawn.
attrs::Attrs DrawAttributes(const ops::OpDef& op, Random& random, int extreme_percent = 0);

// `attributes` of the operator with another value of one field; the same where none is accepted.
attrs::Attrs WithOtherField(const ops::OpDef& op, const attrs::Attrs& attributes, Random& random);

// `attributes` with one integer changed, in a list, too: to one next to it, or to one that is far
// from all usual ones. The same where there is none, or where its field does not accept the value.
attrs::Attrs WithOtherInteger(const attrs::Attrs& attributes, Random& random);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_RANDOM_ATTRIBUTES_H_
