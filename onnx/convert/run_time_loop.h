// Loops and scans whose turns are run one after the other when the model runs.
#ifndef TENON_ONNX_CONVERT_RUN_TIME_LOOP_H_
#define TENON_ONNX_CONVERT_RUN_TIME_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tenon/onnx/convert/known_condition.h"
#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// The most turns that are unrolled.
inline constexpr std::int64_t kMaxTurns = 4096;

inline constexpr const char* kFixingACondition =
    "an input that decides can be fixed at import (ImportOptions::constants, --constant)";

// What a Loop is given and gives.
struct LoopForm {
  // Throws InvalidArgument where the body does not fit the node.
  explicit LoopForm(Node& node);

  const onnx::GraphProto& body;
  bool has_condition = false;
  std::size_t carried = 0;
  std::size_t outputs = 0;            // with an element for each turn
  bool counts = false;                // whether there is a count
  std::optional<std::int64_t> count;  // where it is known at import
  std::optional<Dim> most;            // the count, where it follows from extents
};
// Before the first turn.
Expr FirstCondition(const Node& node, const LoopForm& form);

// The results; nothing where nothing that a run gives is read, so that the loop can be computed at
// import, and where the body's condition ends it at once. Throws Unimplemented for what such a loop
// cannot do, InvalidArgument for a value that is missing.
std::optional<std::vector<Expr>> LoopAtRunTime(Node& node, const LoopForm& form);

// What a Scan says about each of its inputs and outputs; opset 8 says less.
struct ScanForm {
  ScanForm(Node& node, std::size_t inputs, std::size_t outputs);

  std::size_t scanned;  // number of inputs, the last of the node's
  Ints input_axes, input_directions, output_axes, output_directions;
};
struct ScanSteps {
  const onnx::GraphProto& body;
  const ScanForm& form;
  const std::vector<Expr>& inputs;  // states, then what is scanned
  const Ints& axes;                 // of what is scanned
  Dim count;                        // of steps
};
// As LoopAtRunTime.
std::optional<std::vector<Expr>> ScanAtRunTime(Node& node, const ScanSteps& steps);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_RUN_TIME_LOOP_H_
