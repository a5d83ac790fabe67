// Attributes of discrete Fourier transforms.
#ifndef TENON_OPS_REDUCE_FOURIER_ATTRS_H_
#define TENON_OPS_REDUCE_FOURIER_ATTRS_H_

#include <cstdint>

#include "tenon/attrs/attrs.h"

namespace tenon::ops {

// The maximum length of a transform: it is a product with a matrix that has a row for each element.
inline constexpr std::int64_t kMaxTransformLength = 2048;

struct DFTAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.DFTAttrs";
  bool inverse = false;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("inverse", &DFTAttrs::inverse,
                                      "the signal of a spectrum, divided by its length"));
  }
};

struct StftAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.StftAttrs";
  std::int64_t n_fft = -1;
  std::int64_t hop_length = -1;
  std::int64_t win_length = -1;
  bool normalized = false;
  bool onesided = true;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("n_fft", &StftAttrs::n_fft,
                     "elements of a frame; as many as the window has when not positive"),
        attrs::Field("hop_length", &StftAttrs::hop_length,
                     "elements from one frame to the next; a quarter of n_fft when not positive"),
        attrs::Field("win_length", &StftAttrs::win_length,
                     "elements of the window: n_fft, or not positive for that value"),
        attrs::Field("normalized", &StftAttrs::normalized, "divided by the square root of n_fft"),
        attrs::Field("onesided", &StftAttrs::onesided,
                     "without the upper half of the bins, which mirror the others"));
  }
};

// The extents of a transform with its defaults resolved. `window` is the length of the window.
struct Frames {
  std::int64_t length, step, bins;
  Frames(const StftAttrs& attrs, std::int64_t window)
      : length(attrs.n_fft > 0 ? attrs.n_fft : window),
        step(attrs.hop_length > 0 ? attrs.hop_length
             : length < 4         ? 1
                                  : length / 4),
        bins(attrs.onesided ? length / 2 + 1 : length) {}
  // How many frames fit into a signal that is at least as long as one frame.
  std::int64_t CountIn(std::int64_t signal) const { return (signal - length) / step + 1; }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_REDUCE_FOURIER_ATTRS_H_
