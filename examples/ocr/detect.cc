// The detector takes pictures of any size whose sides are multiples of 32, normalised with the
// means and deviations of ImageNet, and gives for each pixel the probability of text.
#include "tenon/examples/ocr/detect.h"

#include <algorithm>
#include <cmath>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace ocr {
namespace {

constexpr int kMaxSide = 960;
constexpr int kMultiple = 32;
constexpr Normalisation kImageNet{.mean = {0.485F, 0.456F, 0.406F},
                                  .deviation = {0.229F, 0.224F, 0.225F}};

int Rounded(double extent) {
  return std::max(1, static_cast<int>(std::lround(extent / kMultiple))) * kMultiple;
}

}  // namespace

std::vector<Box> DetectLines(const Network& detector, const Picture& picture,
                             const Observer& observer) {
  const double scale =
      std::min(1.0, static_cast<double>(kMaxSide) / std::max(picture.width, picture.height));
  const int width = Rounded(picture.width * scale), height = Rounded(picture.height * scale);
  const tenon::NDArray y =
      detector(Cut(picture, picture.Frame(), height, width, width, kImageNet), observer);
  if (y.shape() != tenon::Shape{1, 1, height, width})
    throw tenon::InvalidArgument(tenon::StrCat("the detector gives the shape ",
                                               tenon::ShapeToString(y.shape()),
                                               "; a probability per pixel is expected"));
  std::vector<Box> boxes =
      FindBoxes({.values = y.data<float>(), .width = width, .height = height}, {});
  for (Box& box : boxes)
    box = box.Scaled(static_cast<double>(picture.width) / width,
                     static_cast<double>(picture.height) / height);
  return boxes;
}

}  // namespace ocr
