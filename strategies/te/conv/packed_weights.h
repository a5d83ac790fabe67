// The weights of a convolution in the order in which register tiles read them.
//
//   const PackedOrder order = PackedOrderOf(conv, channels_at_once);
//   const Tensor packed = call.Prepared(PackedWeights(conv, order, filters, vectors));
#ifndef TENON_STRATEGIES_TE_CONV_PACKED_WEIGHTS_H_
#define TENON_STRATEGIES_TE_CONV_PACKED_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "tenon/strategies/te/conv/conv_sum.h"

namespace tenon::strategies {

// The axes between that of the vectors of filters and that of their lanes: parts of the channels if
// `channels_of_part` is given, then the channels of a part or the taps, whichever are added last.
struct PackedOrder {
  std::size_t taps;  // their number of axes
  bool taps_first;   // whether a tile adds the channels of a tap before the next tap
  std::int64_t channels_of_part = 0;

  bool HasParts() const { return channels_of_part > 0; }
  // The place of a weight of `channel` and of a tap.
  std::vector<te::Expr> At(const te::Expr& channel, const std::vector<te::Expr>& tap) const;
  std::vector<te::Expr> Extents(std::int64_t channels, const Shape& taps) const;
  // What the weight at such a place belongs to.
  te::Expr ChannelAt(const std::vector<te::Expr>& at) const;
  std::vector<te::Expr> TapAt(const std::vector<te::Expr>& at) const;
};

// Sums that leave out taps add so many channels of a tap before the next one, or all if it is 0.
// Other sums add all taps of a channel first.
PackedOrder PackedOrderOf(const ConvSum& conv, std::int64_t channels_at_once);

// One vector of filters after the other, zeros past the last filter. Those of a word lie together.
te::Tensor PackedWeights(const ConvSum& conv, const PackedOrder& order, std::int64_t filters,
                         std::int64_t vectors);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_CONV_PACKED_WEIGHTS_H_
