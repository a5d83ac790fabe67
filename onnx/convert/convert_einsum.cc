// Einsum. Operands are brought to one order of labels and multiplied from the left. Labels that
// neither the result nor a later operand has are summed over as soon as possible. Two operands that
// share labels are multiplied as batches of matrices.
#include <algorithm>
#include <map>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/equal_extents.h"
#include "tenon/onnx/convert/half_floats.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/matmul/einsum_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

using Labels = ops::EinsumLabels;

struct Operand {
  Expr value;
  Labels labels;  // one per axis, each once
};

// An axis of an input.
struct Axis {
  Dim extent;
  std::size_t input, place;
};

bool Has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

class Equation {
 public:
  Equation(Node& node, const std::string& text) : node_(node) {
    std::vector<std::size_t> ranks;
    for (std::size_t i = 0; i < node.num_inputs(); ++i)
      ranks.push_back(static_cast<std::size_t>(RankOf(node.input(i))));
    const ops::EinsumAxes axes = ops::ParseEinsum(text, ranks);
    FindAxes(axes.operands);
    for (std::size_t i = 0; i < ranks.size(); ++i) Add(node.input(i), axes.operands[i]);
    output_ = axes.result;
  }

  Expr Result() {
    Operand all = Summed(operands_[0], 1);
    for (std::size_t i = 1; i < operands_.size(); ++i)
      all = Summed(Product(all, Summed(operands_[i], i + 1, &all.labels), i + 1), i + 1);
    const Operand full = Broadcast(all);
    Ints order;
    for (const int label : output_) order.push_back(IndexOf(full.labels, label));
    return ops::Transpose(full.value, order);
  }

 private:
  static std::int64_t IndexOf(const Labels& labels, int label) {
    return std::find(labels.begin(), labels.end(), label) - labels.begin();
  }
  bool IsNeeded(int label, std::size_t next) const {
    for (std::size_t i = next; i < operands_.size(); ++i) {
      if (Has(operands_[i].labels, label)) return true;
    }
    return Has(output_, label);
  }

  // The axis that says a label's extent: one of a number above 1, else one that is no number.
  void FindAxes(const std::vector<Labels>& operands) {
    const auto worth = [](const Dim& extent) {
      return extent == Dim(1) ? 0 : extent.is_static() ? 2 : 1;
    };
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::vector<Dim> shape = DimsOf(node_.input(i));
      for (std::size_t d = 0; d < shape.size(); ++d) {
        const Axis axis = {shape[d], i, d};
        Axis& known = axes_.emplace(operands[i][d], axis).first->second;
        if (worth(axis.extent) > worth(known.extent)) known = axis;
      }
    }
  }

  // Extents of two names, or of a name and a number, must be equal in each run.
  void Add(Expr value, const Labels& labels) {
    const std::vector<Dim> shape = DimsOf(value);
    for (std::size_t d = 0; d < labels.size(); ++d) {
      const Axis& of = axes_.at(labels[d]);
      if (shape[d] == Dim(1) || shape[d] == of.extent) continue;
      if (of.extent.is_static() && shape[d].is_static())
        throw InvalidArgument(StrCat("a label stands for the extents ", of.extent.ToString(),
                                     " and ", shape[d].ToString()));
      value = WithExtentOf(node_, value, d, node_.input(of.input), of.place);
    }
    operands_.push_back(Diagonal({value, labels}));
  }

  // The operand with the two axes of each repeated label merged into one.
  Operand Diagonal(Operand operand) {
    for (std::size_t d = 0; d < operand.labels.size();) {
      const auto first = static_cast<std::size_t>(IndexOf(operand.labels, operand.labels[d]));
      if (first == d) {
        ++d;
        continue;
      }
      // Elements off the diagonal are set to zero and summed over.
      const std::vector<Dim> shape = DimsOf(operand.value);
      if (!(shape[first] == shape[d])) throw InvalidArgument("a diagonal needs equal extents");
      const Expr on =
          ir::Call::Make(ops::Known().equal, {PlacesAlong(node_, shape.size(), first, shape[d]),
                                              PlacesAlong(node_, shape.size(), d, shape[d])});
      const Expr zero = ops::Scalar(0, DataTypeOf(operand.value));
      operand.value = node_.Typed(ops::Sum(ops::Where(on, operand.value, zero),
                                           {.axis = Ints{static_cast<std::int64_t>(d)}}));
      operand.labels.erase(operand.labels.begin() + static_cast<std::ptrdiff_t>(d));
    }
    return operand;
  }

  // Sums over the labels that neither the operands from `next` on nor `other` need.
  Operand Summed(const Operand& operand, std::size_t next, const Labels* other = nullptr) {
    Ints axes;
    Labels kept;
    for (std::size_t d = 0; d < operand.labels.size(); ++d) {
      const int label = operand.labels[d];
      if (IsNeeded(label, next) || (other != nullptr && Has(*other, label)))
        kept.push_back(label);
      else
        axes.push_back(static_cast<std::int64_t>(d));
    }
    if (axes.empty()) return operand;
    return {node_.Typed(ops::Sum(operand.value, {.axis = axes})), kept};
  }

  // The operand with the labels as axes in this order.
  Expr InOrder(const Operand& operand, const Labels& labels) {
    Ints order;
    for (const int label : labels) order.push_back(IndexOf(operand.labels, label));
    return node_.Typed(ops::Transpose(operand.value, order));
  }

  Operand Product(const Operand& a, const Operand& b, std::size_t next) {
    Labels batch, rows, columns, inner;
    bool broadcasts = false;
    const std::vector<Dim> a_shape = DimsOf(a.value), b_shape = DimsOf(b.value);
    for (std::size_t d = 0; d < a.labels.size(); ++d) {
      const int label = a.labels[d];
      if (!Has(b.labels, label)) {
        rows.push_back(label);
        continue;
      }
      (IsNeeded(label, next) ? batch : inner).push_back(label);
      broadcasts = broadcasts ||
                   !(a_shape[d] == b_shape[static_cast<std::size_t>(IndexOf(b.labels, label))]);
    }
    for (const int label : b.labels) {
      if (!Has(a.labels, label)) columns.push_back(label);
    }
    const auto joined = [](std::initializer_list<Labels> lists) {
      Labels all;
      for (const Labels& list : lists) all.insert(all.end(), list.begin(), list.end());
      return all;
    };
    const Labels result = joined({batch, rows, columns});
    if (inner.empty() || broadcasts) {
      // Elementwise. Labels to be summed stay for now.
      const Labels all = joined({batch, rows, columns, inner});
      return {node_.Typed(ops::Multiply(Spread(a, all), Spread(b, all))), all};
    }
    if (batch.empty() && !rows.empty() && inner.size() == 1 && columns.size() == 1)
      return {node_.Typed(ops::Matmul(InOrder(a, joined({rows, inner})),
                                      InOrder(b, joined({inner, columns})))),
              result};
    const auto extent = [&](const Labels& labels, const Operand& of) {
      Dim product = 1;
      const std::vector<Dim> shape = DimsOf(of.value);
      for (const int label : labels)
        product = product * shape[static_cast<std::size_t>(IndexOf(of.labels, label))];
      return product;
    };
    const Expr left =
        node_.Typed(ReshapeTo(node_.extents(), InOrder(a, joined({batch, rows, inner})),
                              {extent(batch, a), extent(rows, a), extent(inner, a)}));
    const Expr right =
        node_.Typed(ReshapeTo(node_.extents(), InOrder(b, joined({batch, inner, columns})),
                              {extent(batch, a), extent(inner, b), extent(columns, b)}));
    std::vector<Dim> shape;
    for (const int label : result) {
      const Operand& of = Has(a.labels, label) ? a : b;
      shape.push_back(DimsOf(of.value)[static_cast<std::size_t>(IndexOf(of.labels, label))]);
    }
    const Expr product = node_.Typed(ops::BatchMatmul(left, right, {.transpose_b = false}));
    return {node_.Typed(ReshapeTo(node_.extents(), product, shape)), result};
  }

  // The operand with an axis of extent 1 for each label that it lacks.
  Expr Spread(const Operand& operand, const Labels& all) {
    Labels own;
    std::vector<std::int64_t> added;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (Has(operand.labels, all[i])) {
        own.push_back(all[i]);
      } else {
        added.push_back(static_cast<std::int64_t>(i));
      }
    }
    Expr spread = InOrder(operand, own);
    for (const std::int64_t axis : added) spread = ops::ExpandDims(spread, axis);
    return node_.Typed(spread);
  }

  // Repeats axes of extent 1 that stand for longer ones.
  Operand Broadcast(const Operand& operand) {
    std::vector<Dim> shape;
    for (const int label : operand.labels) shape.push_back(axes_.at(label).extent);
    if (shape == DimsOf(operand.value)) return operand;
    return {node_.Typed(BroadcastTo(node_.extents(), operand.value, shape)), operand.labels};
  }

  Node& node_;
  std::vector<Operand> operands_;
  std::map<int, Axis> axes_;  // by label
  Labels output_;
};

std::vector<Expr> Einsum(Node& node) {
  if (node.num_inputs() == 0) throw InvalidArgument("there are no operands");
  const std::string text = node.String("equation", "");
  return {node.Typed(Equation(node, text).Result())};
}

}  // namespace

void AddEinsumConverters(ConverterTable* table) {
  // A product of two is rounded once as it is.
  (*table)["Einsum"] = [of_several = InFloat32(Einsum)](Node& node) {
    return node.num_inputs() > 2 ? of_several(node) : Einsum(node);
  };
}

}  // namespace tenon::onnx_import
