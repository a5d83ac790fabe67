#include "tenon/tools/random_inputs.h"

#include "tenon/verify/array_values.h"

namespace tenon::tools {

runtime::Inputs RandomInputs(const runtime::Executable& exe, std::uint64_t seed) {
  runtime::Inputs inputs;
  verify::Random random(seed);
  for (const runtime::Node& node : exe.plan().nodes) {
    if (node.kind != runtime::NodeKind::kInput) continue;
    const runtime::Entry& entry = node.outputs[0];
    inputs[node.name] = verify::TypicalArray(entry.shape, entry.dtype, random);
  }
  return inputs;
}

}  // namespace tenon::tools
