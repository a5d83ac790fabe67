// Affine maps, images with grids that leave them, and images to scale.
#include <string>

#include "tenon/ops/ints.h"
#include "tenon/verify/draw/operands.h"

namespace tenon::verify {
namespace {

using attrs::Value;
using ops::Ints;
using Words = std::vector<std::string>;

const std::vector<DataType> kFloats = {Float32, Float32, Float32, Float64, Float16, BFloat16};

Operands AffineGrid(Random& random) {
  Operands operands;
  operands.Add(RandomArray({random.Of(Ints{1, 2, 3, 0}), 2, 3}, random.Of(kFloats), random));
  operands.attributes["target_shape"] = ListOf(EachOf(2, {2, 3, 4, 5, 8, 17, 33}, random));
  return operands;
}

Operands GridSample(Random& random) {
  const std::int64_t batch = random.Of(Ints{1, 1, 2, 3});
  const Ints size = EachOf(4, {1, 2, 3, 5, 8, 13}, random);
  const DataType type = random.Of(kFloats);
  Operands operands;
  operands.Add(RandomArray({batch, random.Of(Ints{1, 2, 3}), size[0], size[1]}, type, random));
  const Shape grid = {batch, 2, size[2], size[3]};
  // In steps of a quarter, where many places are halfway, or anywhere.
  operands.Add(random.Chance(50) ? RandomArray(grid, type, random)
                                 : ArrayOf(grid, type, [&](std::int64_t) {
                                     return static_cast<double>(random.Below(4001) - 2000) / 1000;
                                   }));
  attrs::FieldValues& a = operands.attributes;
  a["method"] = Value(random.Of(Words{"bilinear", "nearest", "bicubic"}));
  a["padding_mode"] = Value(random.Of(Words{"zeros", "border", "reflection"}));
  a["align_corners"] = Value(random.Chance(50));
  if (random.Chance(30)) a["cubic_alpha"] = Value(random.Of(std::vector<double>{-0.5, 0, -1}));
  return operands;
}

OperandDrawer UpSampling(const std::string& letters, const std::string& last) {
  return [letters, last](Random& random) {
    std::map<char, std::int64_t> extents = {{'N', random.Of(Ints{1, 2, 0})},
                                            {'C', random.Of(Ints{1, 2, 3, 16})}};
    attrs::FieldValues values;
    const bool is_uniform = random.Chance(50);
    double scale = 0;
    for (const char letter : letters) {
      if (letter == 'N' || letter == 'C') continue;
      extents[letter] = random.Of(Ints{1, 2, 3, 5, 8});
      if (scale == 0 || !is_uniform)
        scale = random.Of(std::vector<double>{1, 2, 2, 3, 4, 1.5, 0.5, 2.25});
      values[std::string("scale_") + static_cast<char>(letter - 'A' + 'a')] = Value(scale);
    }
    const std::string layout = random.Chance(60) ? letters : last;
    const DataType type = random.Chance(80) ? random.Of(kFloats)
                                            : random.Of(std::vector<DataType>{UInt8, Int8, Int32});
    values["layout"] = Value(layout);
    if (letters.size() == 4) {
      values["method"] = Value(random.Of(Words{"nearest_neighbor", "bilinear", "bicubic"}));
      values["align_corners"] = Value(random.Chance(40));
    } else {
      values["method"] = Value(random.Of(Words{"nearest_neighbor", "trilinear"}));
      values["coordinate_transformation_mode"] =
          Value(random.Of(Words{"half_pixel", "align_corners", "asymmetric"}));
    }
    Operands operands;
    operands.Add(RandomArray(ShapeInLayout(layout, extents), type, random));
    operands.attributes = std::move(values);
    return operands;
  };
}

}  // namespace

void AddSampledOperands(OperandTable* table) {
  OperandTable& t = *table;
  t["image.affine_grid"] = AffineGrid;
  t["image.grid_sample"] = GridSample;
  t["nn.upsampling"] = UpSampling("NCHW", "NHWC");
  t["nn.upsampling3d"] = UpSampling("NCDHW", "NDHWC");
}

}  // namespace tenon::verify
