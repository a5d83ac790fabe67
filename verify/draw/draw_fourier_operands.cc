// Signals and windows for Fourier transforms.
#include "tenon/ops/ints.h"
#include "tenon/verify/draw/operands.h"

namespace tenon::verify {
namespace {

using attrs::Value;
using ops::Ints;

const std::vector<DataType> kFloats = {Float32, Float32, Float32, Float64, Float16, BFloat16};

Operands Dft(Random& random) {
  Shape shape = EachOf(random.Below(3), {1, 2, 3, 0}, random);
  shape.push_back(random.Of(Ints{1, 2, 3, 4, 5, 8, 13, 16, 33, 64}));
  const DataType type = random.Of(kFloats);
  Operands operands;
  operands.Add(RandomArray(shape, type, random)).Add(RandomArray(shape, type, random));
  operands.attributes["inverse"] = Value(random.Chance(50));
  return operands;
}

Operands Stft(Random& random) {
  const std::int64_t n = random.Of(Ints{1, 2, 3, 4, 5, 8, 13, 16, 32});
  const DataType type = random.Of(kFloats);
  Shape shape = EachOf(random.Below(2), {1, 2, 3}, random);
  shape.push_back(n + random.Below(40));
  Operands operands;
  operands.Add(RandomArray(shape, type, random));
  operands.Add(
      RandomArray({n}, random.Chance(70) ? type : random.Of(std::vector{Float32, Int32}), random));
  attrs::FieldValues& a = operands.attributes;
  if (random.Chance(50)) a["n_fft"] = Value(n);
  if (random.Chance(70)) a["hop_length"] = Value(random.Of(Ints{1, 2, 3, 5, 8, 16, 0}));
  if (random.Chance(30)) a["win_length"] = Value(n);
  a["normalized"] = Value(random.Chance(40));
  a["onesided"] = Value(random.Chance(60));
  return operands;
}

}  // namespace

void AddFourierOperands(OperandTable* table) {
  (*table)["dft"] = Dft;
  (*table)["stft"] = Stft;
}

}  // namespace tenon::verify
