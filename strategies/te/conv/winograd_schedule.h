// Schedules of convolutions by Winograd's minimal filtering (strategies/te/conv/winograd_conv.cc).
//
// Four stages have the hint te::WinogradStage: the padded image, its transformed tiles, their
// products with the transformed weights, and the results of a block. The weights are a fifth stage
// if they are not constant. A block of results is computed inside the loops of what reads it.
//
//   const auto i = ByRole<WinogradTiles>(axes);
//   tiles[WinogradTiles<Expr>{.image = n, ...}.List()]
#ifndef TENON_STRATEGIES_TE_CONV_WINOGRAD_SCHEDULE_H_
#define TENON_STRATEGIES_TE_CONV_WINOGRAD_SCHEDULE_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "tenon/schedule/schedule.h"
#include "tenon/strategies/schedule/accesses.h"

namespace tenon::strategies {

// The axes of the stages by role. An `Axis` is an extent, an index or a loop.
template <typename Axis>
struct WinogradWeights {
  Axis vector, row, column, channel, filter;
  std::vector<Axis> List() const { return {vector, row, column, channel, filter}; }
};
template <typename Axis>
struct WinogradTiles {
  Axis image, row_block, row, column, channel, tile_row, tile;
  std::vector<Axis> List() const {
    return {image, row_block, row, column, channel, tile_row, tile};
  }
};
template <typename Axis>
struct WinogradProduct {
  Axis image, row_block, filter_block, row, column, tile_block, vector, tile, filter;
  std::vector<Axis> List() const {
    return {image, row_block, filter_block, row, column, tile_block, vector, tile, filter};
  }
};
template <typename Axis>
struct WinogradResults {
  Axis image, row_block, filter_block, row, vector, column, filter;
  std::vector<Axis> List() const {
    return {image, row_block, filter_block, row, vector, column, filter};
  }
};

// The roles of these axes, which are in the order of the fields and as many.
template <template <typename> typename Roles, typename Axis>
Roles<Axis> ByRole(const std::vector<Axis>& axes) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) { return Roles<Axis>{axes.at(i)...}; }
  (std::make_index_sequence<sizeof(Roles<char>)>());
}

// Schedules the transformed weights, if the schedule makes them, or the other stages and what reads
// the results, which must be one stage that reads them element by element. Gives the stages that
// need nothing more; none where there are no such stages.
std::vector<schedule::Stage*> ScheduleWinograd(schedule::Schedule& schedule, Accesses& accesses);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_CONV_WINOGRAD_SCHEDULE_H_
