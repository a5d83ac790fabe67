// Lists of boxes: corners on a grid, so that overlaps are exact and may equal their threshold, some
// of them in the wrong order or without an area; scores of which many are equal; counts of 0.
#include <algorithm>
#include <string>

#include "tenon/ops/ints.h"
#include "tenon/verify/draw/operands.h"

namespace tenon::verify {
namespace {

using attrs::Value;
using ops::Ints;
using Types = std::vector<DataType>;
using Reals = std::vector<double>;

// Quotients of such areas and their distance from a threshold in eighths are known in every type.
const Types kExactTypes = {Float32, Float32, Float32, Float64, Float16};
const Reals kThresholds = {0.5, 0.25, 0.375, 0.75, 0.875, 1, 0};

std::int64_t CountOfBoxes(Random& random) { return random.Of(Ints{1, 2, 3, 5, 9, 17, 40, 70, 0}); }
std::int64_t CountOfImages(Random& random) { return random.Of(Ints{1, 1, 2, 3, 0}); }

// A number of steps of 1/8, from 0 to 2.
double Place(Random& random) { return static_cast<double>(random.Below(17)) / 8; }

// Low and high corner of an axis; a few of them the other way round.
std::pair<double, double> Sides(Random& random) {
  const double a = Place(random), b = Place(random);
  if (random.Chance(8)) return {a, b};
  return {std::min(a, b), std::max(a, b)};
}

// Few different ones, some of them below 0.
struct Scores {
  Random& random;
  const std::int64_t steps = random.Of(Ints{1, 3, 8, 64});

  double Of() const { return static_cast<double>(random.Below(steps + 2) - 1) / 64; }
};

// Of the shape (images, count, 4): first corner, opposite corner.
NDArray Corners(std::int64_t images, std::int64_t count, DataType type, Random& random) {
  NDArray drawn;
  std::pair<double, double> sides[2];
  return ArrayOf({images, count, 4}, type, [&](std::int64_t i) {
    if (i % 4 == 0) {
      for (auto& axis : sides) axis = Sides(random);
    }
    return i % 4 < 2 ? sides[i % 2].first : sides[i % 2].second;
  });
}

NDArray Scalar(double value, DataType type) {
  return ArrayOf({}, type, [&](std::int64_t) { return value; });
}

// Boxes with score, class and corners at elements that are drawn.
struct Rows {
  std::int64_t score = 1, id = 0, corners = 2;
  NDArray data;

  explicit Rows(Random& random) {
    const std::int64_t images = CountOfImages(random), count = CountOfBoxes(random);
    const DataType type = random.Of(kExactTypes);
    if (random.Chance(30)) {
      corners = random.Of(Ints{0, 1, 2, 3});
      score = random.Of(corners == 0 ? Ints{4, 5} : Ints{0});
      id = corners == 1 ? -1 : corners == 0 ? 9 - score : 1;
      if (corners == 3) id = random.Of(Ints{1, 2, -1});
    }
    const std::int64_t elements = std::max({score, id, corners + 3}) + 1 + random.Below(2);
    const NDArray boxes = Corners(images, count, Float32, random);
    const Scores scores{random};
    const std::int64_t classes = random.Of(Ints{1, 2, 4});
    data = ArrayOf({images, count, elements}, type, [&](std::int64_t i) -> double {
      const std::int64_t e = i % elements;
      if (e == score) return scores.Of();
      if (e == id)
        return static_cast<double>(random.Below(classes + 1) - (random.Chance(20) ? 1 : 0));
      if (e >= corners && e < corners + 4)
        return static_cast<double>(boxes.data<float>()[i / elements * 4 + e - corners]);
      return 0;
    });
  }
};

Operands ValidCounts(Random& random) {
  const Rows rows(random);
  Operands operands;
  operands.Add(rows.data);
  const double threshold = static_cast<double>(random.Below(5) - 1) / 64;
  operands.Add(Scalar(threshold, random.Chance(70) ? Float32 : Float64));
  operands.attributes = {{"id_index", Value(rows.id)}, {"score_index", Value(rows.score)}};
  if (random.Chance(40))
    operands.attributes["score_threshold"] = Value(static_cast<double>(random.Below(5) - 1) / 64);
  return operands;
}

Operands Suppression(Random& random) {
  const Rows rows(random);
  const Shape& shape = rows.data.shape();
  const Types integers = {Int32, Int32, Int64, UInt8};
  Operands operands;
  operands.Add(rows.data);
  const bool are_all = random.Chance(40);
  operands.Add(ArrayOf({shape[0]}, random.Of(integers), [&](std::int64_t) {
    return static_cast<double>(are_all ? shape[1] : random.Below(shape[1] + 3));
  }));
  operands.Add(ArrayOf({shape[0], shape[1]}, random.Of(integers),
                       [&](std::int64_t i) { return static_cast<double>((i * 7 + 3) % 100); }));
  operands.Add(Scalar(random.Of(Reals{-1, 0, 1, 2, 5, 100}), random.Of(Types{Int32, Int64, Int8})));
  operands.Add(Scalar(random.Of(kThresholds), random.Chance(70) ? Float32 : Float64));
  attrs::FieldValues& a = operands.attributes;
  a["score_index"] = Value(rows.score);
  a["id_index"] = Value(rows.id);
  a["coord_start"] = Value(rows.corners);
  for (const char* flag : {"force_suppress", "return_indices", "invalid_to_bottom"})
    a[flag] = Value(random.Chance(50));
  if (random.Chance(40)) a["top_k"] = Value(random.Of(Ints{-1, 0, 1, 3, 8, 200}));
  return operands;
}

Operands AllClasses(Random& random) {
  const std::int64_t images = CountOfImages(random), count = CountOfBoxes(random),
                     classes = random.Of(Ints{1, 2, 3, 0});
  const Scores scores{random};
  const auto one = [&] { return random.Chance(50) ? Shape{} : Shape{1}; };
  Operands operands;
  operands.Add(Corners(images, count, Float32, random));
  operands.Add(
      ArrayOf({images, classes, count}, Float32, [&](std::int64_t) { return scores.Of(); }));
  operands.Add(ArrayOf(one(), random.Of(Types{Int64, Int32}), [&](std::int64_t) {
    return static_cast<double>(random.Of(Ints{0, 1, 2, 5, 100, -1}));
  }));
  operands.Add(ArrayOf(one(), Float32, [&](std::int64_t) { return random.Of(kThresholds); }));
  operands.Add(ArrayOf(one(), Float32, [&](std::int64_t) { return scores.Of(); }));
  return operands;
}

Operands Regular(Random& random) {
  const std::int64_t images = CountOfImages(random), count = CountOfBoxes(random),
                     classes = random.Of(Ints{1, 2, 3});
  const Scores scores{random};
  Operands operands;
  operands.Add(Corners(images, count, Float32, random));
  operands.Add(ArrayOf({images, count, classes + random.Below(2)}, Float32,
                       [&](std::int64_t) { return scores.Of(); }));
  attrs::FieldValues& a = operands.attributes;
  a["num_classes"] = Value(classes);
  a["max_detections"] = Value(random.Of(Ints{1, 3, 10, 50}));
  a["max_detections_per_class"] = Value(random.Of(Ints{1, 2, 10, 100}));
  a["iou_threshold"] = Value(random.Of(kThresholds));
  a["score_threshold"] = Value(scores.Of());
  return operands;
}

Operands BoxesOfAnchors(Random& random) {
  const std::int64_t images = CountOfImages(random), count = CountOfBoxes(random),
                     classes = random.Of(Ints{1, 2, 3, 5, 0});
  const DataType type = random.Of(Types{Float32, Float32, Float64, Float16});
  const std::int64_t steps = random.Of(Ints{2, 8, 32});
  const auto score = [&] { return static_cast<double>(random.Below(steps + 1)) / 32; };
  Operands operands;
  operands.Add(ArrayOf({images, classes, count}, type, [&](std::int64_t) { return score(); }));
  operands.Add(RandomArray({images, 4 * count}, type, random));
  operands.Add(Corners(1, count, type, random));
  attrs::FieldValues& a = operands.attributes;
  a["clip"] = Value(random.Chance(50));
  a["keep_background"] = Value(random.Chance(40));
  if (random.Chance(60)) a["threshold"] = Value(score());
  if (random.Chance(30))
    a["variances"] = Value(attrs::List{Value(0.5), Value(0.25), Value(1.0), Value(0.125)});
  return operands;
}

Operands Proposals(Random& random) {
  const std::int64_t images = CountOfImages(random), stride = random.Of(Ints{1, 4, 16});
  const std::int64_t height = random.Of(Ints{1, 2, 5, 0}), width = random.Of(Ints{1, 3, 6});
  const auto some = [&](const Reals& of) {
    attrs::List list;
    for (std::int64_t n = 1 + random.Below(2); n > 0; --n) list.emplace_back(random.Of(of));
    return list;
  };
  const attrs::List scales = some({1, 2, 4, 8}), ratios = some({0.5, 1, 2});
  const auto anchors = static_cast<std::int64_t>(scales.size() * ratios.size());
  const Scores scores{random};
  // Many are not changed at all, so that boxes are exact.
  const bool are_plain = random.Chance(40);
  Operands operands;
  operands.Add(ArrayOf({images, 2 * anchors, height, width}, Float32,
                       [&](std::int64_t) { return scores.Of(); }));
  operands.Add(ArrayOf({images, 4 * anchors, height, width}, Float32, [&](std::int64_t) {
    return are_plain ? 0 : static_cast<double>(random.Below(9) - 4) / 8;
  }));
  // The image may end before the feature map does, and may have a scale of 0.
  operands.Add(ArrayOf({images, 3}, Float32, [&](std::int64_t i) {
    if (i % 3 == 2) return random.Of(Reals{1, 1, 0.5, 0});
    return static_cast<double>((i % 3 == 0 ? height : width) * stride - random.Below(stride + 1));
  }));
  attrs::FieldValues& a = operands.attributes;
  a["scales"] = Value(scales);
  a["ratios"] = Value(ratios);
  a["feature_stride"] = Value(stride);
  a["rpn_min_size"] = Value(random.Of(Ints{0, 1, 4, 16}));
  a["rpn_pre_nms_top_n"] = Value(random.Of(Ints{-1, 0, 1, 5, 6000}));
  a["rpn_post_nms_top_n"] = Value(random.Of(Ints{1, 3, 20}));
  a["threshold"] = Value(random.Of(Reals{0.5, 0.3, 0.7}));
  a["iou_loss"] = Value(random.Chance(40));
  return operands;
}

}  // namespace

void AddBoxOperands(OperandTable* table) {
  OperandTable& t = *table;
  t["vision.all_class_non_max_suppression"] = AllClasses;
  t["vision.get_valid_counts"] = ValidCounts;
  t["vision.multibox_transform_loc"] = BoxesOfAnchors;
  t["vision.non_max_suppression"] = Suppression;
  t["vision.proposal"] = Proposals;
  t["vision.regular_non_max_suppression"] = Regular;
}

}  // namespace tenon::verify
