// The loops over blocks of rows run outside, then those over blocks of filters. The transformed
// pixels of a block of rows stay in the second-level cache. The weights of a block of filters for
// one element of a patch stay in the first-level cache while all tiles are multiplied by them.
#include "tenon/strategies/te/conv/winograd_schedule.h"

#include <algorithm>
#include <variant>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"

namespace tenon::strategies {
namespace {

using schedule::Schedule;
using schedule::Stage;
using te::IterVar;
using te::WinogradPart;

// Blocks of rows that a few threads share evenly enough; where there are fewer, they share the
// filters, too, and the transformed pixels are made before.
constexpr std::int64_t kMinRowBlocks = 8;

Stage* Find(const Schedule& schedule, WinogradPart part) {
  for (const auto& stage : schedule.stages()) {
    const auto* hint = std::get_if<te::WinogradStage>(&stage->op()->label.hint);
    if (hint != nullptr && hint->part == part) return stage.get();
  }
  return nullptr;
}

// The axes of a result in NCHW.
template <typename Axis>
struct ReaderAxes {
  Axis image, filter, row, column;
};

// Whether the access reads one element for each of the reader's, in the order of its axes.
bool IsElementwise(const Access& access, const std::vector<IterVar>& axes) {
  if (axes.size() != sizeof(ReaderAxes<char>)) return false;
  const auto at = ByRole<WinogradResults>(access.indices);
  const auto reader = ByRole<ReaderAxes>(axes);
  return (loop::IsConstInt(at.image, 0) || at.image.same_as(reader.image.var)) &&
         loop::UsesVar(at.filter_block, reader.filter.var) &&
         loop::UsesVar(at.row, reader.row.var) && at.column.same_as(reader.column.var);
}

// The only stage that reads the results, if it does so element by element, or null.
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

// Puts the 16 elements of a patch in places that do not share a set of the first-level cache. A set
// holds what is a multiple of 4096 bytes apart.
void SpreadOverSets(Stage& stage, const IterVar& axis) {
  constexpr std::int64_t kAliasingFloats = 1024, kFloatsApart = 32;
  stage.StorageAlign(axis, kAliasingFloats, kFloatsApart);
}

// Takes vectors along the tiles of a row, and the 16 elements of each patch together, since they
// share what they load.
void ScheduleTiles(Stage& tiles, const Accesses& accesses) {
  const auto axes = ByRole<WinogradTiles>(tiles.op()->axes);
  const auto [vectors, lane] = tiles.Split(axes.tile, accesses.LanesOf(*tiles.op()));
  tiles.Reorder({axes.image, axes.row_block, axes.channel, axes.tile_row, vectors, axes.row,
                 axes.column, lane});
  tiles.Unroll(axes.row);
  tiles.Unroll(axes.column);
  tiles.Vectorize(lane);
  SpreadOverSets(tiles, axes.column);
}

// Sums up register tiles; their weights are read once for all tiles of the block.
void ScheduleProduct(Stage& product) {
  const auto axes = ByRole<WinogradProduct>(product.op()->axes);
  const auto [steps, step] = product.Split(product.op()->reduce_axes[0], 4);
  product.Reorder({steps, step, axes.vector, axes.tile, axes.filter});
  product.Unroll(step);
  product.Unroll(axes.vector);
  product.Unroll(axes.tile);
  product.Vectorize(axes.filter);
  SpreadOverSets(product, axes.column);
}

void ScheduleResults(Stage& results) {
  const auto axes = ByRole<WinogradResults>(results.op()->axes);
  const auto [rows, row] = results.Split(axes.row, 2);
  const auto [columns, column] = results.Split(axes.column, 2);
  results.Reorder({rows, axes.vector, columns, row, column, axes.filter});
  results.Unroll(row);
  results.Unroll(column);
  results.Vectorize(axes.filter);
}

// The elements of a patch share what they are made of.
void ScheduleWeights(Stage& weights) {
  const auto axes = ByRole<WinogradWeights>(weights.op()->axes);
  weights.Reorder({axes.vector, axes.channel, axes.row, axes.column, axes.filter});
  weights.Unroll(axes.row);
  weights.Unroll(axes.column);
  weights.Vectorize(axes.filter);
  if (WorkOf(weights) >= kParallelWork) weights.Parallel(axes.vector);
}

}  // namespace

std::vector<Stage*> ScheduleWinograd(Schedule& schedule, Accesses& accesses) {
  if (Stage* weights = Find(schedule, WinogradPart::kWeights); weights != nullptr) {
    ScheduleWeights(*weights);
    return {weights};
  }
  Stage* results = Find(schedule, WinogradPart::kResults);
  Stage* found = results == nullptr ? nullptr : ReaderOf(*results, schedule, accesses);
  if (found == nullptr) return {};
  Stage& reader = *found;
  Stage& product = *Find(schedule, WinogradPart::kProduct);
  Stage& tiles = *Find(schedule, WinogradPart::kTiles);
  Stage* image = Find(schedule, WinogradPart::kImage);  // where there are margins
  const auto axes = ByRole<ReaderAxes>(reader.op()->axes);
  const auto of_results = ByRole<WinogradResults>(results->op()->axes);
  const std::int64_t lanes = Extent(of_results.filter);
  const auto [row_blocks, row] = reader.Split(axes.row, Extent(of_results.row));
  const auto [filter_blocks, filter] = reader.Split(axes.filter, Extent(of_results.vector) * lanes);
  const auto [vectors, of_vector] = reader.Split(filter, lanes);
  const auto [columns, column] = reader.Split(axes.column, std::min(lanes, Extent(axes.column)));
  reader.Reorder({axes.image, row_blocks, filter_blocks, row, vectors, columns, of_vector, column});
  const IterVar rows = reader.Fuse(axes.image, row_blocks);
  IterVar place = filter_blocks;
  // An image that is made before anything else is a stage like others.
  std::vector<Stage*> scheduled = {&reader, results, &product, &tiles};
  if (Extent(of_results.image) * Extent(of_results.row_block) >= kMinRowBlocks) {
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
