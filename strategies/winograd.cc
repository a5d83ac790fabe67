// Outside run the blocks of rows, then those of filters: of a block of rows the transformed pixels
// stay in the second-level cache, of a block of filters the weights of one element of a patch in
// the first-level one while all tiles are multiplied by them.
#include "tenon/strategies/winograd.h"

#include <algorithm>
#include <string>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"

namespace tenon::strategies {
namespace {

using schedule::Schedule;
using schedule::Stage;
using te::IterVar;

// Blocks of rows that a few threads share evenly enough; where there are fewer, they share the
// filters, too, and the transformed pixels are made before.
constexpr std::int64_t kMinRowBlocks = 8;

Stage* FindByTag(const Schedule& schedule, const char* tag) {
  for (const auto& stage : schedule.stages()) {
    if (stage->op()->tag == tag) return stage.get();
  }
  return nullptr;
}

// Whether the access is to one element for each of the reader's, in the order of its axes.
bool IsElementwise(const Access& access, const std::vector<IterVar>& axes) {
  const auto& at = access.indices;
  return axes.size() == 4 && (loop::IsConstInt(at[0], 0) || at[0].same_as(axes[0].var)) &&
         loop::UsesVar(at[2], axes[1].var) && loop::UsesVar(at[3], axes[2].var) &&
         at[5].same_as(axes[3].var);
}

// The stage that alone reads the results, element by element, or null.
Stage* ReaderOf(const Stage& results, const Schedule& schedule, Accesses& accesses) {
  Stage* reader = nullptr;
  for (const auto& stage : schedule.stages()) {
    if (stage->op()->is_placeholder() || stage->placement() == Stage::Placement::kInline) continue;
    for (const Access& access : accesses.Of(*stage)) {
      if (access.producer != results.op().get()) continue;
      if ((reader != nullptr && reader != stage.get()) || stage->op()->is_reduction() ||
          !IsElementwise(access, stage->op()->axes))
        return nullptr;
      reader = stage.get();
    }
  }
  return reader;
}

// The 16 elements of a patch lie in places that share no set of the first-level cache, which hold
// what is a multiple of 4096 bytes apart.
void SpreadOverSets(Stage& stage, const IterVar& axis) {
  constexpr std::int64_t kAliasingFloats = 1024, kFloatsApart = 32;
  stage.StorageAlign(axis, kAliasingFloats, kFloatsApart);
}

// Vectors along the tiles of a row; the 16 elements of each patch together, since they share what
// they load.
void ScheduleTiles(Stage& tiles, const Accesses& accesses) {
  const auto axes = tiles.op()->axes;
  const auto [vectors, lane] = tiles.Split(axes[6], accesses.LanesOf(*tiles.op()));
  tiles.Reorder({axes[0], axes[1], axes[4], axes[5], vectors, axes[2], axes[3], lane});
  tiles.Unroll(axes[2]);
  tiles.Unroll(axes[3]);
  tiles.Vectorize(lane);
  SpreadOverSets(tiles, axes[3]);
}

// Sums of a register tile, their weights read once for all tiles of the block.
void ScheduleProduct(Stage& product) {
  const auto axes = product.op()->axes;
  const IterVar rc = product.op()->reduce_axes[0];
  const auto [steps, step] = product.Split(rc, 4);
  product.Reorder({steps, step, axes[6], axes[7], axes[8]});
  product.Unroll(step);
  product.Unroll(axes[6]);
  product.Unroll(axes[7]);
  product.Vectorize(axes[8]);
  SpreadOverSets(product, axes[4]);
}

void ScheduleResults(Stage& results) {
  const auto axes = results.op()->axes;
  const auto [rows, row] = results.Split(axes[3], 2);
  const auto [columns, column] = results.Split(axes[5], 2);
  results.Reorder({rows, axes[4], columns, row, column, axes[6]});
  results.Unroll(row);
  results.Unroll(column);
  results.Vectorize(axes[6]);
}

// The elements of a patch share what they are made of.
void ScheduleWeights(Stage& weights) {
  const auto axes = weights.op()->axes;
  weights.Reorder({axes[0], axes[3], axes[1], axes[2], axes[4]});
  weights.Unroll(axes[1]);
  weights.Unroll(axes[2]);
  weights.Vectorize(axes[4]);
  if (WorkOf(weights) >= kParallelWork) weights.Parallel(axes[0]);
}

}  // namespace

bool IsWinogradStage(const te::OperationNode& op) { return op.tag.rfind("winograd_", 0) == 0; }

std::vector<Stage*> ScheduleWinograd(Schedule& schedule, Accesses& accesses) {
  if (Stage* weights = FindByTag(schedule, kWinogradWeights); weights != nullptr) {
    ScheduleWeights(*weights);
    return {weights};
  }
  Stage* results = FindByTag(schedule, kWinogradResult);
  Stage* found = results == nullptr ? nullptr : ReaderOf(*results, schedule, accesses);
  if (found == nullptr) return {};
  Stage& reader = *found;
  Stage& product = *FindByTag(schedule, kWinogradProduct);
  Stage& tiles = *FindByTag(schedule, kWinogradTiles);
  Stage* image = FindByTag(schedule, kWinogradImage);  // where there are margins
  const auto axes = reader.op()->axes;
  const auto& of_results = results->op()->axes;
  const std::int64_t lanes = Extent(of_results[6]);
  const auto [row_blocks, row] = reader.Split(axes[2], Extent(of_results[3]));
  const auto [filter_blocks, filter] =
      reader.Split(axes[1], Extent(of_results[4]) * Extent(of_results[6]));
  const auto [vectors, of_vector] = reader.Split(filter, lanes);
  const auto [columns, column] = reader.Split(axes[3], std::min(lanes, Extent(axes[3])));
  reader.Reorder({axes[0], row_blocks, filter_blocks, row, vectors, columns, of_vector, column});
  const IterVar rows = reader.Fuse(axes[0], row_blocks);
  IterVar place = filter_blocks;
  // An image that is made before anything else is a stage like others.
  std::vector<Stage*> scheduled = {&reader, results, &product, &tiles};
  if (Extent(of_results[0]) * Extent(of_results[1]) >= kMinRowBlocks) {
    reader.Parallel(rows);
    tiles.ComputeAt(reader, rows);
    if (image != nullptr) {
      image->ComputeAt(reader, rows);
      scheduled.push_back(image);
    }
  } else {
    place = reader.Fuse(rows, filter_blocks);
    reader.Parallel(place);
  }
  reader.Unroll(of_vector);
  reader.Vectorize(column);
  product.ComputeAt(reader, place);
  results->ComputeAt(reader, place);
  ScheduleTiles(tiles, accesses);
  ScheduleProduct(product);
  ScheduleResults(*results);
  if (tiles.placement() == Stage::Placement::kRoot) tiles.Parallel(tiles.leaves()[2]);
  return scheduled;
}

}  // namespace tenon::strategies
