// Boxes of text lines in the detector's map of probabilities.
//
// As differentiable binarisation reads its map (Liao et al., AAAI 2020): pixels above a threshold,
// their connected components, around each the rectangle of least area, which is grown to undo the
// shrinking that the network was trained with.
//
//   std::vector<Box> boxes = FindBoxes({.values = y.data<float>(), .width = 640, .height = 448},
//   {});
#ifndef TENON_EXAMPLES_OCR_BOXES_H_
#define TENON_EXAMPLES_OCR_BOXES_H_

#include <array>
#include <vector>

namespace ocr {

struct Point {
  double x = 0, y = 0;
};

// A rectangle in a picture, y downwards; pixel (0, 0) covers [0, 1) x [0, 1).
struct Box {
  Point centre;
  Point along{1, 0};  // unit vector of the upper side, from left to right
  double width = 0, height = 0;
  double score = 0;  // mean probability inside

  // Clockwise, the upper left one first.
  std::array<Point, 4> Corners() const;
  // The point at the fractions `u` of the width and `v` of the height.
  Point At(double u, double v) const;
  // The same rectangle seen turned: its left side (1), lower side (2) or right side (3) is up.
  Box Turned(int quarters) const;
  // Moved to a picture of another size.
  Box Scaled(double x, double y) const;
};

struct BoxOptions {
  float threshold = 0.3F;  // of a pixel
  double min_score = 0.6;  // of a box
  double min_side = 3;     // of a box before it is grown, in pixels
  double unclip = 1.5;     // a box grows by area * unclip / perimeter on every side
};

struct ProbabilityMap {
  const float* values = nullptr;  // row by row
  int width = 0, height = 0;
};

// The rectangle of least area around the points (one side of it lies on the convex hull; rotating
// calipers). Its upper side is the one nearest to the horizontal. Needs a point.
Box SmallestBox(std::vector<Point> points);

// In reading order: from top to bottom, in one row from left to right.
std::vector<Box> FindBoxes(const ProbabilityMap& map, const BoxOptions& options);

}  // namespace ocr

#endif  // TENON_EXAMPLES_OCR_BOXES_H_
