// Inputs of a model that stand for those it will get.
#ifndef TENON_QUANTIZE_SAMPLES_H_
#define TENON_QUANTIZE_SAMPLES_H_

#include <cstddef>
#include <functional>
#include <optional>

#include "tenon/runtime/executable.h"

namespace tenon::quantize {

// The inputs number 0, 1, ...; nothing after the last. It is asked for each more than once, and
// nobody keeps what it gave. What it throws ends the call that asked.
//   SampleSource samples = [&](std::size_t i) { return i < files.size() ? Read(files[i]) : ...; };
using SampleSource = std::function<std::optional<runtime::Inputs>(std::size_t index)>;

}  // namespace tenon::quantize

#endif  // TENON_QUANTIZE_SAMPLES_H_
