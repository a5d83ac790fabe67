// One RNN, GRU or LSTM node: its directions, their states, and the steps.
//
//   RecurrentLayer layer(node, {.gates = 1, .activations = {"Tanh"}});
//   return layer.Run(whole, step, false);
#ifndef TENON_ONNX_CONVERT_RECURRENT_LAYER_H_
#define TENON_ONNX_CONVERT_RECURRENT_LAYER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tenon/onnx/convert/gate_function.h"
#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

struct RecurrentCell {
  std::int64_t gates;
  std::vector<std::string> activations;  // defaults for one direction
};

// One direction of the layer.
struct RecurrentDirection {
  Expr x_gates;     // (steps, batch, gates * hidden), with the input's bias
  Expr recurrence;  // (gates * hidden, hidden)
  Expr bias;        // (gates * hidden) of the recurrence
  Expr h, c;        // (batch, hidden)
  Expr peepholes;   // (3 * hidden) or null
  std::vector<GateFunction> functions;
  bool reverse = false;
};

// Steps and batch may be expressions of variables.
class RecurrentLayer {
 public:
  // Throws InvalidArgument for inputs that do not fit each other.
  RecurrentLayer(Node& node, const RecurrentCell& cell);

  std::int64_t hidden() const { return hidden_; }
  Expr Number(double value) const;
  // The columns of gate g.
  Expr Gate(const Expr& all, std::int64_t g) const;
  // The state (batch, hidden) times the rows of gates [first, last) of the recurrence, plus their
  // bias.
  Expr Recur(const RecurrentDirection& d, const Expr& state, std::int64_t first,
             std::int64_t last) const;
  Expr Typed(const Expr& e) const { return node_.Typed(e); }

  // One step: gets the projected input and the direction with its state, and updates the state.
  using Step =
      std::function<void(const RecurrentLayer& layer, const Expr& gates, RecurrentDirection* d)>;
  // The operator of all steps; null where there is none for the layer.
  using Whole = std::function<Expr(const std::vector<Expr>& args, const RecurrentDirection& d)>;
  // The results of the node.
  std::vector<Expr> Run(const Whole& whole, const Step& step, bool has_cell);

 private:
  void RequireWeights() const;
  void ReadLengths();
  bool IsWhole(const RecurrentDirection& d) const;
  Expr AllSteps(const Whole& whole, bool has_cell, RecurrentDirection* d) const;
  void RequireOneBatch(bool has_cell) const;
  Expr StepByStep(const Step& step, RecurrentDirection* d) const;
  Expr AsLoop(const Step& step, RecurrentDirection* d) const;
  Expr Masked(const Expr& t, const Expr& h, const Expr& c, RecurrentDirection* d) const;
  Expr At(const Expr& e, std::int64_t k) const;
  Expr State(std::size_t input, std::int64_t k) const;
  Expr Projected(const Expr& weight, const Expr& bias) const;
  RecurrentDirection MakeDirection(std::int64_t k, bool has_cell);

  Node& node_;
  const RecurrentCell cell_;
  bool batch_first_ = false;
  std::string direction_;
  Expr x_;        // (steps, batch, inputs)
  Expr lengths_;  // (batch, 1) or null when all sequences have as many steps
  Dim steps_ = 0, batch_ = 0;
  std::int64_t inputs_ = 0, hidden_ = 0, directions_ = 1;
};

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_RECURRENT_LAYER_H_
