#include "tenon/tune/inputs.h"

#include "tenon/support/error.h"
#include "tenon/verify/array_values.h"

namespace tenon::tune {
namespace {

constexpr std::uint64_t kSeed = 36;

}  // namespace

runtime::Inputs InputsOf(const runtime::Executable& executable) {
  runtime::Inputs inputs;
  verify::Random random(kSeed);
  for (const runtime::InputInfo& input : executable.inputs()) {
    Shape shape;
    for (const Dim& dim : input.extents) {
      const std::optional<std::int64_t> extent = dim.Evaluate({});
      if (!extent) throw Unimplemented("only models of extents that are numbers can be tuned");
      shape.push_back(*extent);
    }
    inputs[input.name] = verify::TypicalArray(std::move(shape), input.dtype, random);
  }
  return inputs;
}

}  // namespace tenon::tune
