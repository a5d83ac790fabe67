#include "tenon/examples/ocr/boxes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ocr {
namespace {

double Cross(Point o, Point a, Point b) {
  return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}
double Dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
Point Perpendicular(Point a) { return {-a.y, a.x}; }

// Andrew's monotone chain.
std::vector<Point> ConvexHull(std::vector<Point> points) {
  const auto before = [](Point a, Point b) { return a.x < b.x || (a.x == b.x && a.y < b.y); };
  std::sort(points.begin(), points.end(), before);
  std::vector<Point> hull;
  for (int pass = 0; pass < 2; ++pass) {
    const std::size_t first = hull.size();
    for (const Point& p : points) {
      while (hull.size() >= first + 2 && Cross(hull[hull.size() - 2], hull.back(), p) <= 0)
        hull.pop_back();
      hull.push_back(p);
    }
    hull.pop_back();  // begins the other half
    std::reverse(points.begin(), points.end());
  }
  return hull.empty() ? std::vector<Point>{points.front()} : hull;
}

// The box of these points with its upper side in the direction `along`.
Box BoxAlong(const std::vector<Point>& points, Point along) {
  const Point down = Perpendicular(along);
  constexpr double kFar = std::numeric_limits<double>::infinity();
  double left = kFar, right = -kFar, top = kFar, bottom = -kFar;
  for (const Point& p : points) {
    left = std::min(left, Dot(p, along));
    right = std::max(right, Dot(p, along));
    top = std::min(top, Dot(p, down));
    bottom = std::max(bottom, Dot(p, down));
  }
  const double u = (left + right) / 2, v = (top + bottom) / 2;
  return {.centre = {u * along.x + v * down.x, u * along.y + v * down.y},
          .along = along,
          .width = right - left,
          .height = bottom - top};
}

// The same line turned by quarters until it points to the right, at most 45 degrees up or down.
Point NearestToHorizontal(Point d) {
  if (std::abs(d.y) > std::abs(d.x)) d = Perpendicular(d);
  return d.x < 0 ? Point{-d.x, -d.y} : d;
}

struct Component {
  std::vector<Point> outline;  // corners of the first and the last pixel of every row
};

// Components of pixels above the threshold that touch, at corners too.
std::vector<Component> FindComponents(const ProbabilityMap& map, float threshold) {
  std::vector<Component> components;
  std::vector<bool> seen(static_cast<std::size_t>(map.width) * map.height);
  const auto index = [&](int x, int y) { return static_cast<std::size_t>(y) * map.width + x; };
  std::vector<std::pair<int, int>> open;
  for (int y0 = 0; y0 < map.height; ++y0) {
    for (int x0 = 0; x0 < map.width; ++x0) {
      if (seen[index(x0, y0)] || !(map.values[index(x0, y0)] > threshold)) continue;
      std::vector<std::pair<int, int>> ends(static_cast<std::size_t>(map.height), {map.width, -1});
      seen[index(x0, y0)] = true;
      open.assign(1, {x0, y0});
      while (!open.empty()) {
        const auto [x, y] = open.back();
        open.pop_back();
        auto& [first, last] = ends[static_cast<std::size_t>(y)];
        first = std::min(first, x);
        last = std::max(last, x);
        for (int ny = std::max(y - 1, 0); ny <= std::min(y + 1, map.height - 1); ++ny) {
          for (int nx = std::max(x - 1, 0); nx <= std::min(x + 1, map.width - 1); ++nx) {
            if (seen[index(nx, ny)] || !(map.values[index(nx, ny)] > threshold)) continue;
            seen[index(nx, ny)] = true;
            open.emplace_back(nx, ny);
          }
        }
      }
      Component component;
      for (int y = 0; y < map.height; ++y) {
        const auto [first, last] = ends[static_cast<std::size_t>(y)];
        if (last < 0) continue;
        for (const int dy : {0, 1}) {
          component.outline.push_back({static_cast<double>(first), static_cast<double>(y + dy)});
          component.outline.push_back({static_cast<double>(last + 1), static_cast<double>(y + dy)});
        }
      }
      components.push_back(std::move(component));
    }
  }
  return components;
}

// Mean of the map over pixels whose centre is inside.
double MeanInside(const ProbabilityMap& map, const Box& box) {
  double x0 = map.width, x1 = 0, y0 = map.height, y1 = 0;
  for (const Point& p : box.Corners()) {
    x0 = std::min(x0, p.x), x1 = std::max(x1, p.x);
    y0 = std::min(y0, p.y), y1 = std::max(y1, p.y);
  }
  double sum = 0;
  int count = 0;
  for (int y = std::max(0, static_cast<int>(y0)); y < std::min<double>(map.height, y1); ++y) {
    for (int x = std::max(0, static_cast<int>(x0)); x < std::min<double>(map.width, x1); ++x) {
      const Point d{x + 0.5 - box.centre.x, y + 0.5 - box.centre.y};
      if (std::abs(Dot(d, box.along)) > box.width / 2 ||
          std::abs(Dot(d, Perpendicular(box.along))) > box.height / 2)
        continue;
      sum += map.values[static_cast<std::size_t>(y) * map.width + x];
      ++count;
    }
  }
  return count > 0 ? sum / count : 0;
}

// Rows are told apart by their centres: those within half a line's height of each other are one.
void SortForReading(std::vector<Box>* boxes) {
  std::sort(boxes->begin(), boxes->end(),
            [](const Box& a, const Box& b) { return a.centre.y < b.centre.y; });
  for (auto row = boxes->begin(); row != boxes->end();) {
    const auto end = std::find_if(row, boxes->end(), [&](const Box& b) {
      return b.centre.y - row->centre.y > row->height / 2;
    });
    std::sort(row, end, [](const Box& a, const Box& b) { return a.centre.x < b.centre.x; });
    row = end;
  }
}

}  // namespace

Point Box::At(double u, double v) const {
  const Point down = Perpendicular(along);
  const double a = (u - 0.5) * width, b = (v - 0.5) * height;
  return {centre.x + a * along.x + b * down.x, centre.y + a * along.y + b * down.y};
}

std::array<Point, 4> Box::Corners() const { return {At(0, 0), At(1, 0), At(1, 1), At(0, 1)}; }

// Whoever turns the picture clockwise by a quarter finds the left side up, read from below.
Box Box::Turned(int quarters) const {
  Box box = *this;
  for (int i = 0; i < quarters % 4; ++i) {
    box.along = {box.along.y, -box.along.x};
    std::swap(box.width, box.height);
  }
  return box;
}

Box Box::Scaled(double x, double y) const {
  // The sides stay at a right angle only when both factors agree; they nearly do.
  const Point right{along.x * x, along.y * y}, down{-along.y * x, along.x * y};
  const double length = std::hypot(right.x, right.y);
  return {.centre = {centre.x * x, centre.y * y},
          .along = {right.x / length, right.y / length},
          .width = width * length,
          .height = height * std::hypot(down.x, down.y),
          .score = score};
}

Box SmallestBox(std::vector<Point> points) {
  const std::vector<Point> hull = ConvexHull(std::move(points));
  Box best = BoxAlong(hull, {1, 0});
  for (std::size_t i = 0; i < hull.size(); ++i) {
    const Point a = hull[i], b = hull[(i + 1) % hull.size()];
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    if (length == 0) continue;
    const Box box =
        BoxAlong(hull, NearestToHorizontal({(b.x - a.x) / length, (b.y - a.y) / length}));
    if (box.width * box.height < best.width * best.height) best = box;
  }
  return best;
}

std::vector<Box> FindBoxes(const ProbabilityMap& map, const BoxOptions& options) {
  std::vector<Box> boxes;
  for (Component& component : FindComponents(map, options.threshold)) {
    Box box = SmallestBox(std::move(component.outline));
    if (std::min(box.width, box.height) < options.min_side) continue;
    box.score = MeanInside(map, box);
    if (box.score < options.min_score) continue;
    const double grow = box.width * box.height * options.unclip / (2 * (box.width + box.height));
    box.width += 2 * grow;
    box.height += 2 * grow;
    boxes.push_back(box);
  }
  SortForReading(&boxes);
  return boxes;
}

}  // namespace ocr
