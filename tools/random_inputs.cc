#include "tenon/tools/random_inputs.h"

#include "tenon/compiler/array_values.h"

namespace tenon::tools {

runtime::Inputs RandomInputs(const runtime::Executable& exe, std::uint64_t seed) {
  runtime::Inputs inputs;
  compiler::Random random(seed);
  for (const runtime::Node& node : exe.plan().nodes) {
    if (node.kind != runtime::NodeKind::kInput) continue;
    const runtime::Entry& entry = node.outputs[0];
    inputs[node.name] = compiler::TypicalArray(entry.shape, entry.dtype, random);
  }
  return inputs;
}

}  // namespace tenon::tools
