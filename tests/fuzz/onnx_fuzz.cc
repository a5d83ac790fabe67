// libFuzzer: any bytes as an ONNX model, with variables for the extents that it leaves open or with
// an error for them, as a bit of the bytes says. No operator is evaluated on the way;
// front_end_fuzz imports with the evaluator.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>

#include "tenon/onnx/import.h"
#include "tenon/tests/fuzz/front_end.h"
#include "tenon/verify/draw/mutate_onnx.h"
#include "tenon/verify/draw/name_extents.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

// Changes of bytes hardly get past protobuf's reader, so most changes are of the model's structure.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  constexpr int kPercentOfBytes = 40, kPercentOfNames = 15;
  tenon::verify::Random random(seed);
  onnx::ModelProto model;
  if (random.Chance(kPercentOfBytes) || !model.ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, max_size);
  for (std::int64_t changes = 1 + random.Below(3); changes > 0; --changes)
    tenon::verify::MutateOnnx(&model, random);
  if (random.Chance(kPercentOfNames)) tenon::verify::NameExtents(&model, 50, random);
  const std::string changed = model.SerializeAsString();
  if (changed.empty() || changed.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // The parity of the sum: every small change may turn it.
  const bool symbolic = std::accumulate(data, data + size, 0u) % 2 == 1;
  tenon::fuzz::CheckFrontEnd(tenon::onnx_import::ImportOnnx(bytes, {.symbolic = symbolic}));
  return 0;
}
