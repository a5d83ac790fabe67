// Feeds changed ONNX files and Relay texts to the front ends for some seconds; constants of ONNX
// models are evaluated. The seed of a fault (front_end.h) is printed.
//
//   front_end_fuzz onnx|relay SECONDS [FIRST_SEED]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tenon/ir/text_format.h"
#include "tenon/onnx/import.h"
#include "tenon/ops/registry.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/strategy.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tests/fuzz/front_end.h"

namespace tenon {
namespace {

using Clock = std::chrono::steady_clock;

absl::StatusOr<ir::Module> ParseRelay(const std::string& text) {
  return ir::ParseModule(text, ops::OpRegistry::Global().Resolver(), "fuzz");
}
absl::StatusOr<ir::Module> ParseOnnx(const std::string& bytes) {
  return onnx_import::ImportOnnx(bytes, {.evaluate = strategies::EvaluateCall});
}

// Small node tests of ONNX; their modules as text.
std::vector<std::string> Originals(bool relay) {
  std::vector<std::string> originals;
  for (const auto& folder :
       std::filesystem::directory_iterator("/usr/share/libonnx-testdata/data/node")) {
    std::ifstream file(folder.path() / "model.onnx", std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
    if (bytes.size() > 4096) continue;
    const auto module = ParseOnnx(bytes);
    if (!module.ok()) continue;
    originals.push_back(relay ? ir::PrintModule(*module, {}) : bytes);
  }
  if (originals.empty()) throw NotFound("the package libonnx-testdata is not installed");
  return originals;
}

// Some bytes changed, a part left out, doubled, or taken from another original.
std::string Changed(const std::vector<std::string>& originals, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  std::string text = originals[below(originals.size())];
  for (std::size_t n = 1 + below(4); n > 0; --n) {
    const std::size_t at = below(text.size()),
                      length = below(std::min<std::size_t>(40, text.size()));
    const std::string& other = originals[below(originals.size())];
    switch (below(4)) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      default:
        text.insert(at, other.substr(below(other.size()), length));
        break;
    }
  }
  return text;
}

int Fuzz(bool relay, double seconds, std::uint64_t seed) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  const std::vector<std::string> originals = Originals(relay);
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  std::size_t accepted = 0, refused = 0;
  for (; Clock::now() < end; ++seed) {
    std::mt19937_64 random(seed);
    const std::string text = Changed(originals, random);
    const auto start = Clock::now();
    const auto module = relay ? ParseRelay(text) : ParseOnnx(text);
    std::optional<std::string> fault = fuzz::FaultOf(module);
    if (!fault && Clock::now() - start > std::chrono::seconds(20)) fault = "took over 20 s";
    if (fault) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), fault->c_str());
      return 1;
    }
    ++(module.ok() ? accepted : refused);
  }
  std::printf("%zu accepted, %zu refused, the next seed is %llu\n", accepted, refused,
              static_cast<unsigned long long>(seed));
  return 0;
}

}  // namespace
}  // namespace tenon

int main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "";
  const auto seconds = argc > 2 ? tenon::ParseNumber<double>(argv[2]) : std::nullopt;
  const auto seed = argc > 3 ? tenon::ParseNumber<std::uint64_t>(argv[3]) : std::uint64_t{0};
  if ((kind != "onnx" && kind != "relay") || !seconds || !seed) {
    std::fputs("front_end_fuzz onnx|relay SECONDS [FIRST_SEED]\n", stderr);
    return 2;
  }
  try {
    return tenon::Fuzz(kind == "relay", *seconds, *seed);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "front_end_fuzz: %s\n", error.what());
    return 1;
  }
}
