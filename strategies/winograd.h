// Schedules of convolutions by Winograd's minimal filtering (strategies/te/winograd_conv.cc).
//
// Four stages by tag: the padded image, its transformed tiles, their products with the transformed
// weights and the results of a block, in the order (image, block of rows, block of filters, row,
// vector of filters, column, filter). A block of results is computed inside the loops of what reads
// it.
#ifndef TENON_STRATEGIES_WINOGRAD_H_
#define TENON_STRATEGIES_WINOGRAD_H_

#include <vector>

#include "tenon/schedule/schedule.h"
#include "tenon/strategies/accesses.h"

namespace tenon::strategies {

inline constexpr const char* kWinogradWeights = "winograd_weights";
inline constexpr const char* kWinogradImage = "winograd_image";
inline constexpr const char* kWinogradTiles = "winograd_tiles";
inline constexpr const char* kWinogradProduct = "winograd_product";
inline constexpr const char* kWinogradResult = "winograd_result";

// Whether a stage of this tag is stored, whoever reads it.
bool IsWinogradStage(const te::OperationNode& op);

// Schedules the transformed weights, where the schedule makes them, or the other stages and what
// reads the results, which must be one stage that reads them element by element. Gives the stages
// that need nothing more; none where there are no such stages.
std::vector<schedule::Stage*> ScheduleWinograd(schedule::Schedule& schedule, Accesses& accesses);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_WINOGRAD_H_
