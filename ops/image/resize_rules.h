// Rules of resizing that kernels and importers share.
#ifndef TENON_OPS_IMAGE_RESIZE_RULES_H_
#define TENON_OPS_IMAGE_RESIZE_RULES_H_

namespace tenon::ops {

// Coordinates this close to a whole number count as that number where they are rounded down or up.
inline constexpr double kResizeNudge = 1e-5;

}  // namespace tenon::ops

#endif  // TENON_OPS_IMAGE_RESIZE_RULES_H_
