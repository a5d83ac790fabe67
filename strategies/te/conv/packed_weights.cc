// A tile reads one vector of weights for each of its steps, so these lie one after the other. Parts
// of the channels keep those of a turn together: at strides of pages they would share the sets of
// the nearest cache.
#include "tenon/strategies/te/conv/packed_weights.h"

#include "tenon/te/math.h"

namespace tenon::strategies {

using te::Expr;
using te::Var;

std::vector<Expr> PackedOrder::At(const Expr& channel, const std::vector<Expr>& tap) const {
  std::vector<Expr> at;
  if (HasParts()) at.push_back(te::FloorDiv(channel, channels_of_part));
  const Expr of_part = HasParts() ? te::FloorMod(channel, channels_of_part) : channel;
  if (!taps_first) at.push_back(of_part);
  at.insert(at.end(), tap.begin(), tap.end());
  if (taps_first) at.push_back(of_part);
  return at;
}

std::vector<Expr> PackedOrder::Extents(std::int64_t channels, const Shape& tap_extents) const {
  std::vector<Expr> extents;
  if (HasParts()) extents.emplace_back(channels / channels_of_part);
  const std::int64_t of_part = HasParts() ? channels_of_part : channels;
  if (!taps_first) extents.emplace_back(of_part);
  extents.insert(extents.end(), tap_extents.begin(), tap_extents.end());
  if (taps_first) extents.emplace_back(of_part);
  return extents;
}

Expr PackedOrder::ChannelAt(const std::vector<Expr>& at) const {
  const std::size_t parts = HasParts() ? 1 : 0;
  const Expr& of_part = at[parts + (taps_first ? taps : 0)];
  return HasParts() ? at[0] * channels_of_part + of_part : of_part;
}

std::vector<Expr> PackedOrder::TapAt(const std::vector<Expr>& at) const {
  const auto begin = at.begin() + (HasParts() ? 1 : 0) + (taps_first ? 0 : 1);
  return {begin, begin + static_cast<std::ptrdiff_t>(taps)};
}

PackedOrder PackedOrderOf(const ConvSum& conv, std::int64_t channels_at_once) {
  const bool skips = !conv.inside.empty();
  return {
      .taps = conv.dims(), .taps_first = skips, .channels_of_part = skips ? channels_at_once : 0};
}

te::Tensor PackedWeights(const ConvSum& conv, const PackedOrder& order, std::int64_t filters,
                         std::int64_t vectors) {
  std::vector<Expr> shape = {vectors};
  const std::vector<Expr> extents = order.Extents(conv.group_inputs, conv.taps);
  shape.insert(shape.end(), extents.begin(), extents.end());
  const std::size_t lane = shape.size();
  shape.emplace_back(conv.lanes());
  const std::int64_t group = conv.channels_of_word;
  if (group > 1) shape.emplace_back(group);
  return te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        const Expr filter = i[0] * conv.lanes() + i[lane];
        const std::vector<Expr> at(i.begin() + 1, i.begin() + static_cast<std::ptrdiff_t>(lane));
        const Expr word = order.ChannelAt(at);
        const Expr channel = group == 1 ? word : word * group + i.back();
        const Expr value = conv.weight(filter, channel, order.TapAt(at));
        if (vectors * conv.lanes() == filters) return value;
        return te::IfThenElse(filter < Expr(filters), value, te::Cast(value.dtype(), 0));
      },
      "packed", te::Stored{});
}

}  // namespace tenon::strategies
