#include "tenon/verify/fuzz_onnx.h"

#include <utility>

#include "tenon/ops/registry.h"
#include "tenon/strategies/strategy.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/check/check_onnx.h"
#include "tenon/verify/check/symbolic_onnx.h"
#include "tenon/verify/draw/mutate_onnx.h"
#include "tenon/verify/draw/random_onnx.h"
#include "tenon/verify/draw/stored_onnx.h"

namespace tenon::verify {
namespace {

// So that models of a seed stay what they were.
constexpr std::uint64_t kSymbols = 0x5A;
constexpr int kSymbolicPercent = 40;

// One of the folder's models, maybe with changes.
onnx::ModelProto ChangedOnnx(const OnnxFuzzOptions& options, Random& random) {
  onnx::ModelProto model = StoredOnnx(options.models, random);
  if (options.mutate) {
    for (std::int64_t changes = random.Below(4); changes > 0; --changes) MutateOnnx(&model, random);
  }
  return model;
}

std::string TextOf(onnx::ModelProto model) {
  constexpr std::size_t kMaxText = 20000;
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (tensor.raw_data().size() > 64) tensor.mutable_raw_data()->resize(64);
    if (tensor.float_data_size() > 32) tensor.mutable_float_data()->Truncate(32);
    if (tensor.int32_data_size() > 32) tensor.mutable_int32_data()->Truncate(32);
  }
  std::string text = model.DebugString();
  if (text.size() > kMaxText) text = text.substr(0, kMaxText) + "...\n";
  return text;
}

}  // namespace

std::string OnnxFuzzStatistics::ToString() const {
  return StrCat(cases, " models: ", equal, " with equal results, ", refused, " refused, ",
                undefined, " undefined, ", large, " too large to run, ", ill_conditioned,
                " with differences that rounding explains; ", symbolic,
                " models with variables, run for ", values, " sets of values, ", values_refused,
                " sets refused by the model of their shapes, too, ", conditions,
                " by conditions and limits, ", values_left_out, " left out, ", symbolic_refused,
                " models refused with variables");
}

std::string OnnxText(std::string_view bytes) {
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return "";
  return TextOf(std::move(model));
}

void CheckOptions(const OnnxFuzzOptions& options) { RequireDrawable(options.ops); }

std::optional<std::string> FuzzOnnx(std::uint64_t seed, const OnnxFuzzOptions& options,
                                    OnnxFuzzStatistics* statistics) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  const auto model = [&](Random& random, bool computes_shapes) {
    return options.models.empty() ? RandomOnnx(random, {options.ops, options.opset, options.mutate,
                                                        computes_shapes, options.before_import})
                                  : ChangedOnnx(options, random);
  };
  ++statistics->cases;
  const auto finding = [&](const onnx::ModelProto& of,
                           const auto& check) -> std::optional<std::string> {
    std::optional<std::string> words;
    // Anything thrown past the boundaries of import and compile is a finding, too.
    const absl::Status status = CatchErrors([&] { words = check(of); });
    if (!status.ok()) words = StrCat("an error is thrown: ", status.ToString());
    if (!words) return std::nullopt;
    return StrCat("finding of seed ", seed, ": ", *words, "\n", TextOf(of));
  };
  if (!options.symbolic) {
    Random random(seed);
    const onnx::ModelProto drawn = model(random, /*computes_shapes=*/false);
    if (options.before_import) options.before_import(drawn.SerializeAsString());
    if (auto found = finding(drawn, [&](const onnx::ModelProto& of) {
          return CheckOnnx(of, seed, options, statistics);
        }))
      return found;
  }
  Random random(seed ^ kSymbols);
  if (!options.symbolic && !random.Chance(kSymbolicPercent)) return std::nullopt;
  return finding(model(random, /*computes_shapes=*/random.Chance(70)),
                 [&](const onnx::ModelProto& of) {
                   return CheckSymbolicOnnx(of, random.Next(), options, statistics);
                 });
}

}  // namespace tenon::verify
