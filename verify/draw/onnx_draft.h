// An ONNX graph under construction: values that later nodes may read, and nodes with attributes.
//
//   Draft draft(random, 13);
//   const Value x = draft.Any(kFloats, 1, 4);
//   draft.Append("Softmax", NodeDraft({x.name}).Int("axis", draft.Axis(x)));
#ifndef TENON_VERIFY_DRAW_ONNX_DRAFT_H_
#define TENON_VERIFY_DRAW_ONNX_DRAFT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tenon/support/ndarray.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

using Ints = std::vector<std::int64_t>;
using Names = std::vector<std::string>;
using Types = std::vector<DataType>;

// Types that are drawn more often occur more often here.
inline const Types kFloats = {Float32, Float32, Float32, Float32, Float64, Float16};
inline const Types kSigned = {Float32, Float32, Float64, Float16, Int32, Int64, Int8, Int16};
inline const Types kIntegers = {Int32, Int64, Int8, Int16, UInt8, UInt16, UInt32, UInt64};
inline const Types kNumbers = {Float32, Float32, Float32, Float64, Float16, BFloat16, Int32,
                               Int64,   Int8,    Int16,   UInt8,   UInt16,  UInt32,   UInt64};
inline const Types kBytes = {UInt8, Int8};
inline const Types kIndices = {Int64, Int64, Int32};
inline const Types kBools = {Bool};
inline const Types kAll = {Float32, Float32, Float32, Float64, Float16, BFloat16, Int32, Int64,
                           Int8,    Int16,   UInt8,   UInt16,  UInt32,  UInt64,   Bool};

// A node without its type and the names of its outputs.
class NodeDraft {
 public:
  explicit NodeDraft(const Names& inputs, int outputs = 1);
  NodeDraft& Int(const std::string& name, std::int64_t value);
  NodeDraft& Float(const std::string& name, double value);
  NodeDraft& String(const std::string& name, const std::string& value);
  NodeDraft& IntList(const std::string& name, const Ints& values);
  NodeDraft& FloatList(const std::string& name, const std::vector<double>& values);
  NodeDraft& StringList(const std::string& name, const Names& values);
  NodeDraft& Tensor(const std::string& name, const NDArray& value);
  NodeDraft& Graph(const std::string& name, onnx::GraphProto graph);

  onnx::NodeProto proto;
  int outputs;

 private:
  onnx::AttributeProto* Add(const std::string& name, onnx::AttributeProto::AttributeType type);
};

// A value with its known type.
struct Value {
  std::string name;
  DataType type;
  Shape shape;
  std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
};

class Draft {
 public:
  // `random` must outlive the draft. `computes_shapes`: integers that converters must know are
  // mostly computed from the shapes of other values, as exporters do for dynamic axes, and fewer
  // tensors are constants, whose extents are fixed.
  Draft(Random& random, int opset, bool computes_shapes = false);

  Random& random() { return random_; }
  int opset() const { return opset_; }
  bool Chance(int percent) { return random_.Chance(percent); }
  template <typename T>
  T Of(const std::vector<T>& list) {
    return random_.Of(list);
  }

  // --- extents; a shape has few elements, so that the interpreter is fast
  std::int64_t Extent();
  Shape AnyShape(std::int64_t min_rank, std::int64_t max_rank);
  // A shape that broadcasts to `shape`.
  Shape Broadcasting(const Shape& shape);
  // An axis of the value, counted from the end half of the time; 0 for scalars.
  std::int64_t Axis(const Value& value);
  // Some axes of the value, each once.
  Ints Axes(const Value& value);

  // --- values
  // An existing value or a new one.
  Value Any(const Types& types, std::int64_t min_rank, std::int64_t max_rank);
  Value Tensor(DataType type, const Shape& shape);
  // An input of the graph.
  Value Input(DataType type, const Shape& shape);
  Value Weights(DataType type, const Shape& shape);
  Value Constant(const NDArray& array);
  // The name of a value that converters must know at import: mostly a constant.
  std::string Known(const NDArray& array);
  std::string KnownInts(const Ints& values);
  std::string KnownInt(std::int64_t value);
  // Indices into an axis of this extent, some counted from its end; a few are outside.
  Value Indices(const Shape& shape, std::int64_t extent);
  // Integers from 0 to extent - 1.
  Value Places(const Shape& shape, std::int64_t extent, DataType type);
  // Adds a value that a node writes, with its type.
  void Add(const Value& value) { values_.push_back(value); }
  const std::vector<Value>& values() const { return values_; }
  // The next nodes mostly read this value, where it fits.
  void Prefer(const Value& value) { preferred_ = value; }
  bool has_preferred() const { return preferred_.has_value(); }

  // --- nodes
  // Names its outputs and appends it. The node may be removed until the next one is appended.
  onnx::NodeProto* Append(const std::string& domain, const std::string& type, NodeDraft node);
  std::string NewName(const char* prefix) { return prefix + std::to_string(++names_); }
  onnx::ModelProto& model() { return model_; }

 private:
  // Whether a new tensor is an input, not a constant.
  bool IsInput(int percent);
  // The name of a vector of one number, or of a scalar.
  std::string ComputedInt(std::int64_t value, bool is_scalar);
  std::string ComputedInts(const Ints& values);
  // The name of a constant that no other node reads by chance.
  std::string Hidden(const NDArray& array);
  std::string Extent(const Value& of, std::int64_t axis, bool is_scalar);

  Random& random_;
  const int opset_;
  const bool computes_shapes_;
  onnx::ModelProto model_;
  std::vector<Value> values_;
  std::optional<Value> preferred_;
  int names_ = 0;
};

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_ONNX_DRAFT_H_
