// Non-maximum suppression by a library function: of boxes that overlap, the one with the best score
// survives. Operators on lists of detected boxes share this.
//
//   const Survivors kept(boxes, scores, 100, 0.5, 0);
//   const Expr row = kept.RowAt(image, place);
//   boxes(image, kept.rows(row, 2), 0)
#ifndef TENON_STRATEGIES_TE_BOXES_SURVIVORS_H_
#define TENON_STRATEGIES_TE_BOXES_SURVIVORS_H_

#include <cstdint>

#include "tenon/te/tensor.h"

namespace tenon::strategies {

// The boxes of each class of each image, by falling score.
struct Survivors {
  te::Tensor rows;          // (row, 3): image, class and box; zeros after the last
  te::Tensor first, count;  // image -> where its rows begin, and how many it has
  std::int64_t total;       // rows that there is room for

  // boxes: (image, box, 4), of any two opposite corners; scores: (image, class, box), which count
  // above `lowest`. Both are float32 and not empty. At most `most` of a class are kept; a box is
  // dropped for an overlap above `overlap` with a better one.
  Survivors(const te::Tensor& boxes, const te::Tensor& scores, std::int64_t most, double overlap,
            double lowest);

  // The row that an image has at a place. If it has none there, it is any row.
  te::Expr RowAt(const te::Expr& image, const te::Expr& place) const;
};

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_BOXES_SURVIVORS_H_
