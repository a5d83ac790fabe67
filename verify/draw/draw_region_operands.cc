// Regions of images: some inverted, outside of their image or of an image that is not there, and
// none at all.
#include <string>

#include "tenon/ops/ints.h"
#include "tenon/verify/draw/operands.h"

namespace tenon::verify {
namespace {

using attrs::Value;
using ops::Ints;
using Types = std::vector<DataType>;
using Words = std::vector<std::string>;

std::int64_t CountOfRegions(Random& random) { return random.Of(Ints{1, 1, 2, 5, 0}); }

// The results are functions with jumps at the edges of the image. Exact steps may meet these, and
// others are drawn so that they do not.
struct Steps {
  Random& random;
  const bool are_exact = random.Chance(60);

  std::int64_t Size() const {
    return random.Of(are_exact ? Ints{1, 2, 3, 5, 9} : Ints{1, 4, 6, 7});
  }
  // From -1/4 to 5/4.
  double Place() const {
    return are_exact ? static_cast<double>(random.Below(25) - 4) / 16
                     : static_cast<double>(random.Below(1497) - 249) / 997;
  }
};

// Mostly an image that is there.
double ImageIndex(std::int64_t images, Random& random) {
  if (random.Chance(8)) return static_cast<double>(random.Of(Ints{images, images + 3}));
  return static_cast<double>(random.Below(images));
}

Operands CropAndResize(Random& random) {
  const Steps steps{random};
  const DataType type = random.Of(Types{Float32, Float32, Float64, Float16, UInt8, Int8, Int32});
  const std::int64_t count = CountOfRegions(random), images = random.Of(Ints{1, 2, 3});
  const std::string layout = random.Of(Words{"NCHW", "NHWC"});
  const Ints extents = {1, 2, 3, 5, 8, 9, 17};
  Operands operands;
  operands.Add(RandomArray(ShapeInLayout(layout, {{'N', images},
                                                  {'C', random.Of(Ints{1, 3, 16, 0})},
                                                  {'H', random.Of(extents)},
                                                  {'W', random.Of(extents)}}),
                           type, random));
  const bool is_whole = random.Chance(20);
  operands.Add(ArrayOf({count, 4}, random.Chance(80) ? Float32 : Float64, [&](std::int64_t i) {
    return is_whole ? static_cast<double>(i % 4 / 2) : steps.Place();
  }));
  const DataType index = random.Of(Types{Int32, Int32, Int64, UInt8});
  operands.Add(ArrayOf({count}, index, [&](std::int64_t) { return ImageIndex(images, random); }));
  attrs::FieldValues& a = operands.attributes;
  a["crop_size"] = ListOf({steps.Size(), steps.Size()});
  a["layout"] = Value(layout);
  a["method"] = Value(random.Of(Words{"bilinear", "bilinear", "nearest_neighbor"}));
  if (random.Chance(40))
    a["extrapolation_value"] = Value(random.Of(std::vector<double>{1.5, -3, 7}));
  if (random.Chance(40)) a["out_dtype"] = Value(Float32);
  return operands;
}

// Rows of image, x1, y1, x2 and y2, in steps of 1/4 after they are scaled.
void AddImagesAndRegions(Random& random, Operands* to) {
  const std::int64_t images = random.Of(Ints{1, 2, 3}), count = CountOfRegions(random);
  const std::int64_t height = random.Of(Ints{1, 2, 7, 12}), width = random.Of(Ints{1, 3, 8, 13});
  const DataType type = random.Of(Types{Float32, Float32, Float64, Float16});
  const double scale = random.Of(std::vector<double>{1, 0.5, 0.25, 2});
  to->Add(RandomArray({images, random.Of(Ints{1, 2, 5, 0}), height, width}, type, random));
  double low[2] = {0, 0};
  to->Add(ArrayOf({count, 5}, random.Chance(80) ? Float32 : type, [&](std::int64_t i) -> double {
    const std::int64_t e = i % 5;
    if (e == 0) return ImageIndex(images, random);
    const std::int64_t extent = 4 * (e % 2 == 1 ? width : height);
    const double at = static_cast<double>(random.Below(extent + 13) - 6) / 4;
    // Below the first corner: an inverted region.
    if (e < 3) return (low[e - 1] = at) / scale;
    return (random.Chance(85) ? std::max(at, low[e - 3]) : at) / scale;
  }));
  to->attributes["spatial_scale"] = Value(scale);
}

Operands RoiAlign(Random& random) {
  Operands operands;
  AddImagesAndRegions(random, &operands);
  attrs::FieldValues& a = operands.attributes;
  a["pooled_size"] = ListOf(EachOf(2, {1, 2, 3, 4, 7}, random));
  if (random.Chance(60)) a["sample_ratio"] = Value(random.Of(Ints{-1, 0, 1, 2, 3}));
  a["mode"] = Value(random.Of(Words{"avg", "avg", "max"}));
  a["aligned"] = Value(random.Chance(50));
  return operands;
}

Operands RoiPool(Random& random) {
  Operands operands;
  AddImagesAndRegions(random, &operands);
  operands.attributes["pooled_size"] = ListOf(EachOf(2, {1, 2, 3, 4, 7}, random));
  return operands;
}

}  // namespace

void AddRegionOperands(OperandTable* table) {
  OperandTable& t = *table;
  t["image.crop_and_resize"] = CropAndResize;
  t["vision.roi_align"] = RoiAlign;
  t["vision.roi_pool"] = RoiPool;
}

}  // namespace tenon::verify
