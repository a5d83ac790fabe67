// Boxes that a detector predicts as changes of its anchors. Where rounding may decide which ones
// are kept, there is no definition.
#include <algorithm>
#include <cmath>

#include "tenon/ops/boxes/detection_attrs.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/define/defined_boxes.h"

namespace tenon::verify {
namespace {

using ops::Ints;

// The best class, the first of several, and where it is likely enough its box.
Definitions BoxesOfAnchors(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::MultiBoxTransformLocAttrs>();
  const Shape& shape = call.shape(0);
  const DataType type = call.results[0].dtype();
  const std::int64_t first = attrs.keep_background ? 0 : 1, count = shape[2];
  const Real unit = static_cast<Real>(RoundingError(type)) * 32;
  Definitions made(2);
  for (std::int64_t image = 0; image < shape[0]; ++image) {
    std::int64_t kept = 0;
    for (std::int64_t box = 0; box < count && shape[1] > first; ++box) {
      const auto score = [&](std::int64_t c) {
        return call.Arg(0, (image * shape[1] + c) * count + box);
      };
      std::int64_t best = first;
      for (std::int64_t c = first; c < shape[1]; ++c) {
        if (score(c) > score(best)) best = c;
      }
      const bool counts = score(best) >= Rounded(attrs.threshold, type);
      if (!counts && !attrs.keep_background) continue;
      ++kept;
      const std::int64_t number = counts ? best - first : 0;
      made[0].Add({.real = static_cast<Real>(number)}, 0);
      made[0].Add({.real = score(best)}, 0);
      for (std::int64_t corner = 0; corner < 4; ++corner) {
        const std::int64_t axis = corner % 2;
        const Real low = call.Arg(2, box * 4 + axis), high = call.Arg(2, box * 4 + axis + 2);
        const auto change = [&](std::int64_t d) {
          return call.Arg(1, image * 4 * count + box * 4 + d) *
                 Rounded(attrs.variances[At(d)], type.is_half() ? Float32 : type);
        };
        const Real centre = change(axis) * (high - low) + (low + high) / 2;
        const Real reach = std::exp(change(axis + 2)) * (high - low) / 2;
        const Real at = corner < 2 ? centre - reach : centre + reach;
        made[0].Add({.real = attrs.clip ? std::min(std::max(at, Real{0}), Real{1}) : at},
                    unit * (std::abs(change(axis) * (high - low)) + std::abs(low) + std::abs(high) +
                            std::abs(reach)));
      }
    }
    AddWhole(kept, &made[1]);
    for (; kept < count; ++kept) {
      for (int e = 0; e < 6; ++e) made[0].Add({.real = -1}, 0);
    }
  }
  return made;
}

// Anchors at every place of a feature map.
class Anchors {
 public:
  Anchors(const DefinedCall& call, std::int64_t image)
      : call_(call), attrs_(call.call.attrs.As<ops::ProposalAttrs>()), image_(image) {
    const auto stride = static_cast<Real>(attrs_.feature_stride);
    for (const double ratio : attrs_.ratios) {
      const Real width = std::floor(std::sqrt(std::floor(stride * stride / ratio)) + 0.5L);
      for (const double scale : attrs_.scales) {
        extents_[0].push_back(width * scale);
        extents_[1].push_back(std::floor(width * ratio + 0.5L) * scale);
      }
    }
  }

  std::int64_t count() const { return height() * width() * kinds(); }
  bool is_doubtful() const { return is_doubtful_; }
  // Of the corners x1, y1, x2, y2, and its score; -1 for one that does not count.
  struct Predicted {
    Real corners[4], score;
  };
  Predicted Of(std::int64_t box) {
    const std::int64_t kind = box % kinds(), column = box / kinds() % width(),
                       row = box / kinds() / width();
    const auto stride = static_cast<Real>(attrs_.feature_stride);
    const auto delta = [&](std::int64_t which) {
      return call_.Arg(
          1, ((image_ * 4 * kinds() + kind * 4 + which) * height() + row) * width() + column);
    };
    Predicted made{};
    for (std::int64_t corner = 0; corner < 4; ++corner) {
      const std::int64_t axis = corner % 2;
      const Real extent = extents_[axis][At(kind)];
      Real centre = static_cast<Real>(axis == 0 ? column : row) * stride + (stride - 1) / 2;
      Real size = extent;
      if (!attrs_.iou_loss) {
        centre += delta(axis) * extent;
        size *= std::exp(delta(axis + 2));
      }
      Real at = corner < 2 ? centre - (size - 1) / 2 : centre + (size - 1) / 2;
      if (attrs_.iou_loss) at += delta(corner);
      made.corners[corner] = std::max(std::min(at, OfImage(1 - axis) - 1), Real{0});
    }
    const Real least = OfImage(2) * static_cast<Real>(attrs_.rpn_min_size);
    bool is_small = false;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const Real extent = made.corners[axis + 2] - made.corners[axis] + 1;
      is_small |= extent < least;
      is_doubtful_ |= IsDoubtful(extent, least);
    }
    if (is_small) {
      for (std::size_t corner = 0; corner < 4; ++corner)
        made.corners[corner] += corner < 2 ? -least / 2 : least / 2;
    }
    const bool is_inside = static_cast<Real>(row + 1) <= OfImage(0) / stride &&
                           static_cast<Real>(column + 1) <= OfImage(1) / stride;
    made.score =
        is_inside && !is_small
            ? call_.Arg(
                  0, ((image_ * 2 * kinds() + kinds() + kind) * height() + row) * width() + column)
            : -1;
    return made;
  }

 private:
  std::int64_t kinds() const { return call_.shape(0)[1] / 2; }
  std::int64_t height() const { return call_.shape(0)[2]; }
  std::int64_t width() const { return call_.shape(0)[3]; }
  Real OfImage(std::int64_t which) const { return call_.Arg(2, image_ * 3 + which); }

  const DefinedCall& call_;
  const ops::ProposalAttrs& attrs_;
  const std::int64_t image_;
  std::vector<Real> extents_[2];
  bool is_doubtful_ = false;
};

Definitions Proposals(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::ProposalAttrs>();
  const std::int64_t images = call.shape(0)[0];
  bool is_doubtful = false;
  Definition made;
  for (std::int64_t image = 0; image < images; ++image) {
    Anchors anchors(call, image);
    std::vector<Anchors::Predicted> boxes;
    for (std::int64_t box = 0; box < anchors.count(); ++box) boxes.push_back(anchors.Of(box));
    Ints order = Ranked(anchors.count(), [&](std::int64_t box) { return boxes[At(box)].score; });
    if (attrs.rpn_pre_nms_top_n > 0)
      order.resize(std::min(order.size(), At(attrs.rpn_pre_nms_top_n)));
    // The far sides lie past the last pixel.
    const auto area_of = [&](std::int64_t box) {
      return Box::Of(
          [&](std::int64_t d) { return boxes[At(box)].corners[d] + (d < 2 ? Real{0} : Real{1}); });
    };
    const Suppression suppression{[&](std::int64_t better, std::int64_t box) {
                                    const Real overlap = OverlapOf(area_of(better), area_of(box));
                                    is_doubtful |= IsDoubtful(overlap, attrs.threshold);
                                    return overlap > Rounded(attrs.threshold, Float32);
                                  },
                                  At(attrs.rpn_post_nms_top_n)};
    const Ints kept = suppression.Of(order);
    is_doubtful |= anchors.is_doubtful();
    for (std::int64_t i = 0; i < attrs.rpn_post_nms_top_n; ++i) {
      AddWhole(image, &made);
      for (std::size_t corner = 0; corner < 4; ++corner) {
        const Real at = kept.empty() ? 0 : boxes[At(kept[At(i) % kept.size()])].corners[corner];
        made.Add({.real = at}, 1e-4L * (std::abs(at) + 8));
      }
    }
  }
  return is_doubtful ? Definitions() : Definitions{made};
}

}  // namespace

void AddDetectionDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["vision.multibox_transform_loc"] = BoxesOfAnchors;
  t["vision.proposal"] = Proposals;
}

}  // namespace tenon::verify
