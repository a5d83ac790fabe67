#include "tenon/onnx/plain_tensors.h"

#include <cstring>
#include <string_view>
#include <unordered_set>

#include "tenon/onnx/convert/node.h"
#include "tenon/onnx/narrow_type.h"
#include "tenon/onnx/tensor.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// Copies the data of a tensor that keeps it in another file.
void Load(onnx::TensorProto* tensor, const std::string& what, ExternalData* files) {
  if (tensor->data_location() != onnx::TensorProto::EXTERNAL) return;
  const RawData raw = files->Of(*tensor, what);
  tensor->set_raw_data(raw.bytes.data(), raw.bytes.size());
  tensor->clear_data_location();
  tensor->clear_external_data();
}

// The places of the elements, in ascending order: one number each, or one for each axis.
std::vector<std::int64_t> PlacesOf(const onnx::SparseTensorProto& sparse, const Shape& shape,
                                   std::int64_t count, const std::string& what) {
  const NDArray indices = ToNDArray(sparse.indices(), what + ", its indices");
  const auto rank = static_cast<std::int64_t>(shape.size());
  const bool is_flat = indices.shape() == Shape{count};
  if (indices.dtype() != Int64 || (!is_flat && indices.shape() != Shape{count, rank}))
    throw InvalidArgument(StrCat(what, " has indices ", indices.dtype().ToString(), " ",
                                 ShapeToString(indices.shape()), "; they must be int64 (", count,
                                 ",) or (", count, ", ", rank, ")"));
  const Shape extents = is_flat ? Shape{NumElements(shape)} : shape;
  std::vector<std::int64_t> places;
  const std::int64_t* index = indices.data<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t place = 0;
    for (const std::int64_t extent : extents) {
      if (*index < 0 || *index >= extent)
        throw InvalidArgument(
            StrCat(what, " has the index ", *index, " along an axis of ", extent, " elements"));
      place = place * extent + *index++;
    }
    if (!places.empty() && place <= places.back())
      throw InvalidArgument(StrCat(what, " has indices that do not ascend"));
    places.push_back(place);
  }
  return places;
}

onnx::TensorProto DenseOf(onnx::SparseTensorProto* sparse, ExternalData* files) {
  const std::string name = sparse->values().name();
  const std::string what = StrCat("the sparse tensor ", name);
  if (FindNarrowType(sparse->values().data_type()) != nullptr)
    throw Unimplemented(what + " has packed elements; only dense tensors of them are supported");
  Load(sparse->mutable_values(), what, files);
  Load(sparse->mutable_indices(), what, files);
  const NDArray values = ToNDArray(sparse->values(), what);
  if (values.shape().size() != 1)
    throw InvalidArgument(
        StrCat(what, " has values of rank ", values.shape().size(), "; they must have rank 1"));
  const Shape shape(sparse->dims().begin(), sparse->dims().end());
  double elements = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0) throw InvalidArgument(StrCat(what, " has the extent ", extent));
    elements *= static_cast<double>(extent);
  }
  try {
    RequireConstantSize(elements);
  } catch (const Error& error) {
    throw InvalidArgument(StrCat(what, ": ", error.message()));
  }
  const std::vector<std::int64_t> places = PlacesOf(*sparse, shape, values.size(), what);
  NDArray dense = NDArray::Zeros(shape, values.dtype());
  const std::size_t bytes = values.dtype().bytes();
  for (std::size_t i = 0; i < places.size(); ++i)
    std::memcpy(static_cast<char*>(dense.raw()) + static_cast<std::size_t>(places[i]) * bytes,
                static_cast<const char*>(values.raw()) + i * bytes, bytes);
  onnx::TensorProto made;
  ToTensorProto(dense, name, &made);
  return made;
}

void MakeSparseDense(onnx::GraphProto* graph, ExternalData* files) {
  for (onnx::SparseTensorProto& sparse : *graph->mutable_sparse_initializer())
    *graph->add_initializer() = DenseOf(&sparse, files);
  graph->clear_sparse_initializer();
}

// Graphs inside graphs are as deep as messages inside messages, which the parser bounds.
void MakeInnerPlain(onnx::GraphProto* graph, ExternalData* files) {
  for (onnx::TensorProto& tensor : *graph->mutable_initializer())
    Load(&tensor, StrCat("the initializer ", tensor.name()), files);
  MakePlain(graph, files);
}

void MakePlainInside(onnx::NodeProto* node, ExternalData* files) {
  for (onnx::AttributeProto& attribute : *node->mutable_attribute()) {
    const std::string what =
        StrCat("the attribute ", attribute.name(), " of the node ", NameOf(*node));
    if (attribute.has_t()) Load(attribute.mutable_t(), what, files);
    for (onnx::TensorProto& tensor : *attribute.mutable_tensors()) Load(&tensor, what, files);
    if (attribute.has_g()) MakeInnerPlain(attribute.mutable_g(), files);
    for (onnx::GraphProto& graph : *attribute.mutable_graphs()) MakeInnerPlain(&graph, files);
    if (attribute.name() != "sparse_value" || !attribute.has_sparse_tensor()) continue;
    *attribute.mutable_t() = DenseOf(attribute.mutable_sparse_tensor(), files);
    attribute.set_name("value");
    attribute.set_type(onnx::AttributeProto::TENSOR);
    attribute.clear_sparse_tensor();
  }
}

}  // namespace

void MakePlain(onnx::GraphProto* graph, ExternalData* files) {
  MakeSparseDense(graph, files);
  for (onnx::NodeProto& node : *graph->mutable_node()) MakePlainInside(&node, files);
}

void MakePlain(onnx::FunctionProto* function, ExternalData* files) {
  for (onnx::NodeProto& node : *function->mutable_node()) MakePlainInside(&node, files);
}

void DropInitializedInputs(onnx::GraphProto* graph) {
  for (onnx::NodeProto& node : *graph->mutable_node()) {
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (!attribute.has_g()) continue;
      onnx::GraphProto& inner = *attribute.mutable_g();
      std::unordered_set<std::string_view> initialized;
      for (const onnx::TensorProto& tensor : inner.initializer()) initialized.insert(tensor.name());
      google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> given;
      for (onnx::ValueInfoProto& input : *inner.mutable_input()) {
        if (!initialized.contains(input.name())) given.Add()->Swap(&input);
      }
      inner.mutable_input()->Swap(&given);
      DropInitializedInputs(&inner);
    }
  }
}

}  // namespace tenon::onnx_import
