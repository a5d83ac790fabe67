// RNN, GRU and LSTM: what a step of each computes from its gates (recurrent_layer.h has the rest).
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/recurrent_layer.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/recurrent/recurrent_attrs.h"
#include "tenon/ops/registry.h"

namespace tenon::onnx_import {
namespace {

using Direction = RecurrentDirection;
using Layer = RecurrentLayer;

template <typename AttrsType>
Expr Call(const char* op, std::vector<Expr> args, AttrsType attrs) {
  return ir::Call::Make(ops::OpRegistry::Global().Get(op), std::move(args),
                        attrs::Attrs::Make(std::move(attrs)));
}

std::vector<Expr> Rnn(Node& node) {
  Layer layer(node, {.gates = 1, .activations = {"Tanh"}});
  return layer.Run(
      [](const std::vector<Expr>& args, const Direction& d) {
        return Call("nn.rnn", args,
                    ops::RnnAttrs{.activation = d.functions[0].field, .reverse = d.reverse});
      },
      [](const Layer& l, const Expr& gates, Direction* d) {
        d->h = l.Typed(d->functions[0](ops::Add(gates, l.Recur(*d, d->h, 0, 1))));
      },
      false);
}

// The gates are z, r and h.
std::vector<Expr> Gru(Node& node) {
  const bool reset_after = node.Int("linear_before_reset", 0) != 0;
  Layer layer(node, {.gates = 3, .activations = {"Sigmoid", "Tanh"}});
  return layer.Run(
      [reset_after](const std::vector<Expr>& args, const Direction& d) {
        return Call("nn.gru", args,
                    ops::GruAttrs{.gate_activation = d.functions[0].field,
                                  .activation = d.functions[1].field,
                                  .reset_after = reset_after,
                                  .reverse = d.reverse});
      },
      [reset_after](const Layer& l, const Expr& gates, Direction* d) {
        const Expr zr = l.Recur(*d, d->h, 0, 2);
        const auto gate = [&](std::int64_t g) {
          return l.Typed(d->functions[0](ops::Add(l.Gate(gates, g), l.Gate(zr, g))));
        };
        const Expr z = gate(0), r = gate(1);
        const Expr recurred = reset_after ? ops::Multiply(r, l.Recur(*d, d->h, 2, 3))
                                          : l.Recur(*d, l.Typed(ops::Multiply(r, d->h)), 2, 3);
        const Expr h = l.Typed(d->functions[1](ops::Add(l.Gate(gates, 2), recurred)));
        d->h = l.Typed(
            ops::Add(ops::Multiply(ops::Subtract(l.Number(1), z), h), ops::Multiply(z, d->h)));
      },
      false);
}

// The gates are i, o, f and c; the peepholes are i, o and f.
std::vector<Expr> Lstm(Node& node) {
  const bool coupled = node.Int("input_forget", 0) != 0;
  Layer layer(node, {.gates = 4, .activations = {"Sigmoid", "Tanh", "Tanh"}});
  const Layer::Whole whole = [](const std::vector<Expr>& args, const Direction& d) {
    return Call("nn.lstm", args,
                ops::LstmAttrs{.gate_activation = d.functions[0].field,
                               .activation = d.functions[1].field,
                               .output_activation = d.functions[2].field,
                               .reverse = d.reverse});
  };
  return layer.Run(
      coupled ? nullptr : whole,
      [coupled](const Layer& l, const Expr& gates, Direction* d) {
        const Expr all = l.Typed(ops::Add(gates, l.Recur(*d, d->h, 0, 4)));
        const auto gate = [&](std::int64_t g, const Expr& cell, std::int64_t peephole) {
          Expr value = l.Gate(all, g);
          if (d->peepholes)
            value = ops::Add(value, ops::Multiply(l.Gate(d->peepholes, peephole), cell));
          return l.Typed(d->functions[0](value));
        };
        const Expr i = gate(0, d->c, 0);
        // The input gate may decide for both.
        const Expr f = coupled ? l.Typed(ops::Subtract(l.Number(1), i)) : gate(2, d->c, 2);
        const Expr candidate = d->functions[1](l.Gate(all, 3));
        d->c = l.Typed(ops::Add(ops::Multiply(f, d->c), ops::Multiply(i, candidate)));
        const Expr o = gate(1, d->c, 1);
        d->h = l.Typed(ops::Multiply(o, d->functions[2](d->c)));
      },
      true);
}

}  // namespace

void AddRecurrentConverters(ConverterTable* table) {
  (*table)["GRU"] =
      Converter(Gru).With({.other = "a loop, and not one operator of all steps, with clip, other "
                                    "functions than Sigmoid, Tanh and Relu, 16-bit floats"});
  (*table)["LSTM"] =
      Converter(Lstm).With({.other = "as GRU; likewise with peepholes and input_forget"});
  (*table)["RNN"] = Converter(Rnn).With({.other = "as GRU"});
}

}  // namespace tenon::onnx_import
