// Step 6: ONNX. Models hold the operator as org.example.Involution, always in NCHW.
#include "involution.h"

namespace involution {
namespace {

namespace ir = tenon::ir;
using tenon::attrs::FieldValues;
using tenon::attrs::Value;

// Attributes here and there.
constexpr std::pair<const char*, const char*> kNames[] = {
    {"kernel_size", "kernel"}, {"stride", "stride"}, {"dilation", "dilation"}, {"groups", "group"}};

}  // namespace

std::vector<ir::Expr> FromOnnx(const tenon::OnnxNode& node) {
  if (node.inputs.size() != 2 || !node.inputs[0] || !node.inputs[1])
    throw tenon::InvalidArgument("it takes two inputs, data and kernels");
  FieldValues fields;
  for (const auto& [field, attribute] : kNames) {
    if (const auto found = node.attributes.find(attribute); found != node.attributes.end())
      fields[field] = found->second;
  }
  return {
      tenon::ops::CallOp(kName, node.inputs,
                         tenon::attrs::Attrs::FromFields(tenon::attrs::SchemaOf<Attrs>(), fields))};
}

tenon::OnnxNodeToWrite ToOnnx(const ir::CallNode& call) {
  if (call.attrs.As<Attrs>().layout != "NCHW")
    throw tenon::Unimplemented("ONNX models hold involution in NCHW; convert the layout first");
  tenon::OnnxNodeToWrite node{kOnnxDomain, kOnnxType, {}};
  for (const auto& [field, attribute] : kNames) node.attributes[attribute] = call.attrs.Get(field);
  return node;
}

}  // namespace involution
