// The tiles of a convolution whose lanes are pixels of a row: how many filters by how many vectors,
// and whether the channels of a block of pixels are packed. A tuner may choose otherwise.
//
//   const auto tiles = std::get<RowTiles>(RowTilesOf(conv, call, call.config));
#ifndef TENON_STRATEGIES_TE_CONV_ROW_TILES_H_
#define TENON_STRATEGIES_TE_CONV_ROW_TILES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "tenon/strategies/te/conv/conv.h"

namespace tenon::strategies {

struct RowTiles {
  bool open;    // rows and columns are expressions; flat
  bool flat;    // the image is taken as a single row
  bool packed;  // flat, and the channels of a block are copied to lie together
  std::int64_t rows, columns;
  std::int64_t filters, vectors;  // of a tile
  std::int64_t part;              // filters that share a packed block
  std::int64_t lanes;             // of a vector
  bool filters_first;             // all blocks of pixels for a tile of filters, or the other way

  std::int64_t block() const { return vectors * lanes; }
  // Where the grid of tiles has the blocks of pixels, the parts of the filters, and their tiles.
  std::size_t block_axis() const { return filters_first ? 4 : 2; }
  std::size_t part_axis() const { return filters_first ? 2 : 3; }
  std::size_t tile_axis() const { return part_axis() + 1; }
};

// The shape of the result that tiles are chosen for. Images of any extents count as one row that is
// neither long nor a multiple of vectors, so that tiles suit small ones, too.
Shape ShapeOfRows(const TeCall& call, bool open);

// The tiles with the least estimated time, or what `config` says instead where it is not null. A
// text says why there are none.
std::variant<RowTiles, std::string> RowTilesOf(const Conv& conv, const TeCall& call,
                                               Config* config);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_CONV_ROW_TILES_H_
