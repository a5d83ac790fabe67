// What the author of a compute tells those who schedule it: hints, which only the automatic
// schedule reads (strategies/auto_schedule.h), and a class by name, which generic schedules and
// users read. Neither changes what an element is.
//
//   Tensor packed = te::Compute(shape, body, "packed", te::Stored{});
//   Tensor tile = te::Compute(shape, sum, "tile", te::RegisterTile{.sum = te::TileSum::kDot});
//   Tensor plain = te::Compute(shape, sum, "conv2d_nchw", {"conv2d_nchw", te::ReadsRepeatedly{}});
#ifndef TENON_TE_HINT_H_
#define TENON_TE_HINT_H_

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tenon::te {

// A reduction that reads each element of its inputs many times, as a sum over windows does.
struct ReadsRepeatedly {};

// Stored before it is read, rather than computed again at each read: copies in the order in which
// tiles read, and numbers that are costly to find.
struct Stored {};

// Stored. Lines of few vectors are written out, so that what a vector reads is known beforehand.
struct WrittenOut {};

// A reduction with the axes (grid..., rows, vectors, lanes), of which the last three are a block of
// results that fits the register file (strategies/schedule/register_tile.h).
enum class TileRows {
  kEven,
  kUneven,    // read at uneven distances: pixels of several image rows
  kTall,      // uneven, and computed for all of the last grid axis in each block of the others
  kOfReader,  // uneven, and those of the reader, which takes them out of registers
};
enum class TileSum {
  kPlain,
  // The innermost reduction axis is what one instruction adds up in each lane: 4 products of uint8
  // by int8 in int32, or 2 of bfloat16 in float32. The left operand is read in a row of memory, the
  // right one as (..., lane, group). With kTall the axis is taps along a row, through which lanes
  // step.
  kDot,
  kWordDot,  // kDot with a left operand that is a word of int32
};
struct RegisterTile {
  TileRows rows = TileRows::kEven;
  TileSum sum = TileSum::kPlain;
  // How many terms along the first reduction axis all tiles of the last grid axis add up before any
  // of them adds more, so that what they share stays in the nearest cache. 0: each tile adds all.
  std::int64_t terms_at_once = 0;
};

// What a register tile reads for its own block alone. It is computed where the tile is.
enum class TileInputForm {
  kLines,
  // (..., row in a step, column in a step, row, column): loops over places in a step are unrolled,
  // as where a line is inside the image depends on them.
  kSteps,
  kAlignedSteps,  // kSteps whose rows start with a vector
  kCopies,        // a copy with margins, whose lines are cut where these begin
  kVectors,       // (..., row, group, lane), whole vectors that stay in registers
  kPanel,         // what all tiles along the last grid axis read: computed once for them
};
struct TileInput {
  TileInputForm form = TileInputForm::kLines;
};

// A stage of a convolution by Winograd's algorithm (strategies/te/conv/winograd_schedule.h).
enum class WinogradPart { kWeights, kImage, kTiles, kProduct, kResults };
struct WinogradStage {
  WinogradPart part;
};

// The product of a recurrent layer's state with the recurrence: (step, batch, column).
struct RecurrentSums {};

using Hint = std::variant<std::monostate, ReadsRepeatedly, Stored, WrittenOut, RegisterTile,
                          TileInput, WinogradStage, RecurrentSums>;

// "register tile (rows: tall, sum: dot)"; empty for no hint. Different hints have different texts.
std::string ToString(const Hint& hint);

struct Label {
  Label() = default;
  Label(std::string name) : tag(std::move(name)) {}  // NOLINT(google-explicit-constructor)
  Label(const char* name) : tag(name) {}             // NOLINT(google-explicit-constructor)
  template <typename Given>
  requires std::constructible_from<Hint, Given> Label(Given given)
      : hint(std::move(given)) {}  // NOLINT(google-explicit-constructor)
  Label(std::string name, Hint given) : tag(std::move(name)), hint(given) {}

  std::string tag;  // lower-case class of the computation: "conv2d_nchw"
  Hint hint;
  std::vector<std::string> axes;  // names of the data axes, one per dimension; empty: ax0, ax1, ...
};

}  // namespace tenon::te

#endif  // TENON_TE_HINT_H_
