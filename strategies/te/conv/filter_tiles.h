// The register tiles of a convolution whose lanes are filters: how many vectors of filters by how
// many pixels, and the time that they take.
//
//   const FilterTile tile = FilterTileOf(conv, vectors, pixels, call.config);
#ifndef TENON_STRATEGIES_TE_CONV_FILTER_TILES_H_
#define TENON_STRATEGIES_TE_CONV_FILTER_TILES_H_

#include <cstdint>

#include "tenon/strategies/te/conv/conv_sum.h"

namespace tenon::strategies {

struct FilterTile {
  std::int64_t vectors, pixels;
};

// The tile with the least estimated time, or what `config` says instead. Words are read for all
// lanes of a vector of their own tile. `vectors` and `pixels` are those of an image's result.
FilterTile FilterTileOf(const ConvSum& conv, std::int64_t vectors, std::int64_t pixels,
                        Config* config);
// The estimated time of all such tiles of an image, a multiply-add being 1.
double FilterTileTime(const ConvSum& conv, std::int64_t vectors, std::int64_t pixels);

// The channels that tiles add in turn, or what `config` says instead. 0: all.
std::int64_t ChannelsAtOnce(const ConvSum& conv, std::int64_t vectors, Config* config);

// Whether tiles of so many pixels begin at the same places of rows, or hold whole ones.
bool FitsRows(const ConvSum& conv, std::int64_t pixels);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_CONV_FILTER_TILES_H_
