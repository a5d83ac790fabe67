// Which taps of a convolution the tiles of its result need. A tile whose pixels meet a tap only in
// the padding leaves it out.
//
//   if (PartOfTaps(conv, 6) < 0.9) sum = te::Where(sum, MeetsImage(conv, 6, first, last, taps));
#ifndef TENON_STRATEGIES_TE_CONV_TILE_TAPS_H_
#define TENON_STRATEGIES_TE_CONV_TILE_TAPS_H_

#include <cstdint>
#include <vector>

#include "tenon/strategies/te/conv/conv_sum.h"

namespace tenon::strategies {

// How many of all pairs of a tile and a tap are needed, from 0 to 1. Tiles hold so many
// neighbouring pixels of the result, counted row by row. All spatial extents must be numbers. 1 if
// `conv.inside` is empty.
double PartOfTaps(const ConvSum& conv, std::int64_t pixels);
// The same of tiles of one pixel, which need the fewest.
double LeastPartOfTaps(const ConvSum& conv);

// Whether a tile of so many pixels meets the image at a tap. `first` and `last` are the spatial
// coordinates of its first and last pixel.
te::Expr MeetsImage(const ConvSum& conv, std::int64_t pixels, const std::vector<te::Expr>& first,
                    const std::vector<te::Expr>& last, const std::vector<te::IterVar>& taps);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_CONV_TILE_TAPS_H_
