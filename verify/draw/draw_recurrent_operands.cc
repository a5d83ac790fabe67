// Recurrent layers: gates, weights and states that fit one another, and lengths of sequences.
#include <string>

#include "tenon/ops/ints.h"
#include "tenon/verify/draw/operands.h"

namespace tenon::verify {
namespace {

using attrs::Value;
using ops::Ints;
using Words = std::vector<std::string>;

// So small that states do not grow beyond all bounds where nothing limits them.
NDArray Weights(const Shape& shape, DataType type, Random& random) {
  return ArrayOf(shape, type,
                 [&](std::int64_t) { return static_cast<double>(random.Below(17) - 8) / 64; });
}

// Mostly within the steps; beyond them, they count as the nearest end.
NDArray Lengths(std::int64_t batch, std::int64_t steps, Random& random) {
  const bool is_whole = random.Chance(30), is_beyond = random.Chance(15);
  return ArrayOf({batch}, Int64, [&](std::int64_t) {
    if (is_beyond) return static_cast<double>(random.Below(steps + 20) - 9);
    return static_cast<double>(is_whole ? steps : random.Below(steps + 1));
  });
}

OperandDrawer Layer(std::int64_t gates, int states, const Words& functions, const char* flag) {
  return [=](Random& random) {
    const std::int64_t steps = random.Of(Ints{0, 1, 2, 3, 5, 7}),
                       batch = random.Of(Ints{1, 1, 2, 3, 0, 17}),
                       hidden = random.Of(Ints{1, 2, 4, 5, 8, 16, 17, 33, 0});
    const DataType type = random.Chance(75) ? Float32 : Float64;
    Operands operands;
    operands.Add(RandomArray({steps, batch, gates * hidden}, type, random));
    operands.Add(Weights({gates * hidden, hidden}, type, random));
    operands.Add(RandomArray({gates * hidden}, type, random));
    operands.Add(Lengths(batch, steps, random));
    for (int i = 0; i < states; ++i) operands.Add(RandomArray({batch, hidden}, type, random));
    attrs::FieldValues& a = operands.attributes;
    for (const std::string& function : functions) {
      if (random.Chance(30)) a[function] = Value(random.Of(Words{"sigmoid", "tanh", "relu"}));
    }
    a["reverse"] = Value(random.Chance(40));
    if (flag != nullptr) a[flag] = Value(random.Chance(50));
    return operands;
  };
}

}  // namespace

void AddRecurrentOperands(OperandTable* table) {
  OperandTable& t = *table;
  t["nn.rnn"] = Layer(1, 1, {"activation"}, nullptr);
  t["nn.gru"] = Layer(3, 1, {"gate_activation", "activation"}, "reset_after");
  t["nn.lstm"] = Layer(4, 2, {"gate_activation", "activation", "output_activation"}, nullptr);
}

}  // namespace tenon::verify
