#include "tenon/relax/signature.h"

#include <algorithm>
#include <map>
#include <span>

#include "tenon/ops/registry.h"
#include "tenon/ops/relax_names.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::relax {
namespace {

using enum Form;
using Parameters = std::vector<Parameter>;

constexpr std::string_view kPrefix = "relax.";
// Before the name of an operator of Tenon whose name means something else in Relax.
constexpr std::string_view kRelay = "relay.";

// Convolutions share their attributes, as do those that are transposed and pools.
Parameters Conv() {
  return {{"data"},
          {"weight"},
          {"strides", kSpread},
          {"padding", kPadding},
          {"dilation", kSpread},
          {"groups", kValue},
          {"data_layout", kValue},
          {"kernel_layout", kValue},
          {"out_layout", kOutLayout},
          {"out_dtype", kValue}};
}
Parameters ConvTranspose() {
  Parameters parameters = Conv();
  parameters.insert(parameters.begin() + 4, {"output_padding", kSpread});
  return parameters;
}
Parameters Pool(bool is_average) {
  return {{"data"},
          {"pool_size", kSpread, {}, "1"},
          {"strides", kSpread},
          {"padding", kPadding},
          {"dilation", kSpread},
          {"ceil_mode", kValue},
          is_average ? Parameter{"count_include_pad", kValue}
                     : Parameter{"count_include_pad", kIgnored, {}, "False"},
          {"layout", kValue},
          {"out_layout", kOutLayout}};
}
Parameters AdaptivePool() {
  return {{"data"}, {"output_size", kList}, {"layout", kValue}, {"out_layout", kOutLayout}};
}
Parameters Reduce() { return {{"x"}, {"axis", kList}, {"keepdims", kValue}}; }

// By the name of Tenon's operator. Inputs are in its order.
const std::map<std::string_view, Parameters>& Rows() {
  static const auto& rows = *new std::map<std::string_view, Parameters>{
      {"argsort",
       {{"data"},
        {"axis", kValue},
        {"descending", kReversed, "is_ascend"},
        {"dtype", kValue, {}, "\"int32\""}}},
      {"broadcast_to", {{"x"}, {"shape", kList}}},
      {"cast", {{"x"}, {"dtype", kValue}}},
      {"clip", {{"x"}, {"min", kValue, "a_min"}, {"max", kValue, "a_max"}}},
      {"collapse_sum_to", {{"data"}, {"shape", kList}}},
      {"concatenate", {{"tensors"}, {"axis", kValue}}},
      {"einsum", {{"operands"}, {"subscripts", kValue, "equation"}}},
      {"expand_dims", {{"x"}, {"axis", kValue}}},
      {"full", {{"shape", kList}, {"fill_value"}, {"dtype", kValue}}},
      {"full_like", {{"x"}, {"fill_value"}, {"dtype", kFixed, {}, "None"}}},
      {"image.resize2d",
       {{"data"},
        {"size", kSpread},
        {"roi", kList},
        {"layout", kValue},
        {"method", kValue},
        {"coordinate_transformation_mode", kValue},
        {"rounding_method", kValue},
        {"cubic_alpha", kValue, {}, "-0.75"},
        {"cubic_exclude", kValue},
        {"extrapolation_value", kValue},
        {"out_dtype", kValue}}},
      {"max", Reduce()},
      {"mean", Reduce()},
      {"min", Reduce()},
      {"nn.adaptive_avg_pool1d", AdaptivePool()},
      {"nn.adaptive_avg_pool2d", AdaptivePool()},
      {"nn.adaptive_avg_pool3d", AdaptivePool()},
      {"nn.adaptive_max_pool1d", AdaptivePool()},
      {"nn.adaptive_max_pool2d", AdaptivePool()},
      {"nn.adaptive_max_pool3d", AdaptivePool()},
      {"nn.avg_pool1d", Pool(true)},
      {"nn.avg_pool2d", Pool(true)},
      {"nn.avg_pool3d", Pool(true)},
      {"nn.batch_norm",
       {{"data"},
        {"gamma"},
        {"beta"},
        {"moving_mean"},
        {"moving_var"},
        {"axis", kValue},
        {"epsilon", kValue},
        {"center", kValue},
        {"scale", kValue},
        {"momentum", kIgnored, {}, "0.1"},
        {"training", kFixed, {}, "False"}}},
      {"nn.conv1d", Conv()},
      {"nn.conv1d_transpose", ConvTranspose()},
      {"nn.conv2d", Conv()},
      {"nn.conv2d_transpose", ConvTranspose()},
      {"nn.conv3d", Conv()},
      {"nn.conv3d_transpose", ConvTranspose()},
      {"nn.layer_norm",
       {{"data"},
        {"gamma"},
        {"beta"},
        {"axes", kOneAxis, "axis"},
        {"epsilon", kValue},
        {"center", kValue},
        {"scale", kValue}}},
      {"nn.leaky_relu", {{"data"}, {"alpha", kValue, {}, "0.01"}}},
      {"nn.matmul", {{"x1"}, {"x2"}, {"out_dtype", kValue}}},
      {"nn.max_pool1d", Pool(false)},
      {"nn.max_pool2d", Pool(false)},
      {"nn.max_pool3d", Pool(false)},
      {"one_hot", {{"indices"}, {"on_value"}, {"off_value"}, {"depth", kValue}, {"axis", kValue}}},
      {"ones_like", {{"x"}, {"dtype", kFixed, {}, "None"}}},
      {"prod", Reduce()},
      {"qnn.dequantize",
       {{"data"}, {"scale"}, {"zero_point"}, {"axis", kValue}, {"out_dtype", kValue}}},
      {"qnn.quantize",
       {{"data"},
        {"scale"},
        {"zero_point"},
        {"axis", kValue},
        {"out_dtype", kValue, {}, "\"int8\""}}},
      {"repeat", {{"data"}, {"repeats", kValue}, {"axis", kFirstAxis}}},
      {"reshape", {{"x"}, {"shape", kList, "newshape"}}},
      {"sort", {{"x"}, {"axis", kValue}, {"descending", kReversed, "is_ascend"}}},
      {"split", {{"x"}, {"indices_or_sections", kValue}, {"axis", kValue}}},
      {"squeeze", {{"x"}, {"axis", kList}}},
      {"strided_slice",
       {{"x"},
        {"axes", kList},
        {"begin", kList},
        {"end", kList},
        {"strides", kList},
        {"assume_inbound", kFixed, {}, "False"}}},
      {"sum", Reduce()},
      {"take", {{"x"}, {"indices"}, {"axis", kValue}}},
      {"tile", {{"data"}, {"repeats", kList, "reps"}}},
      {"topk",
       {{"data"},
        {"k", kValue, {}, "1"},
        {"axis", kValue},
        {"ret_type", kValue},
        {"largest", kReversed, "is_ascend"},
        {"dtype", kValue, {}, "\"int32\""}}},
      {"transpose", {{"x"}, {"axes", kList}}},
      {"zeros_like", {{"x"}, {"dtype", kFixed, {}, "None"}}},
  };
  return rows;
}

struct Built {
  CallBuilder build;
  Parameters parameters;
};
// By the name in Relax. Parameters that are no inputs and have no default must be given.
const std::map<std::string_view, Built>& BuiltRows() {
  static const Parameters axis_of_all = {
      {"x"}, {"axis", kValue, {}, "None"}, {"keepdims", kValue, {}, "False"}};
  static const auto& rows = *new std::map<std::string_view, Built>{
      {"arange",
       {BuildArange,
        {{"start", kValue},
         {"end", kValue, {}, "None"},
         {"step", kValue, {}, "1"},
         {"dtype", kValue, {}, "None"}}}},
      {"argmax", {BuildArgMax, axis_of_all}},
      {"argmin", {BuildArgMin, axis_of_all}},
      {"ewise_fma", {BuildFma, {{"x1"}, {"x2"}, {"x3"}}}},
      {"expand_dims", {BuildExpandDims, {{"x"}, {"axis", kValue}}}},
      {"flatten", {BuildFlatten, {{"x"}}}},
      {"gather_nd", {BuildGatherNd, {{"data"}, {"indices"}, {"batch_dims", kValue, {}, "0"}}}},
      {"linear",
       {BuildLinear,
        {{"data"}, {"weight"}, {"bias", kOptionalInput}, {"out_dtype", kValue, {}, "None"}}}},
      {"matmul", {BuildMatmul, {{"x1"}, {"x2"}, {"out_dtype", kValue, {}, "None"}}}},
      {"nn.gelu", {BuildGelu, {{"data"}}}},
      {"nn.gelu_tanh", {BuildGeluTanh, {{"data"}}}},
      {"nn.group_norm",
       {BuildGroupNorm,
        {{"data"},
         {"gamma"},
         {"beta"},
         {"num_groups", kValue},
         {"channel_axis", kValue},
         {"axes", kValue},
         {"epsilon", kValue, {}, "1e-05"},
         {"center", kValue, {}, "True"},
         {"scale", kValue, {}, "True"}}}},
      {"nn.pad",
       {BuildPad,
        {{"data"},
         {"pad_width", kValue},
         {"pad_mode", kValue, {}, "\"constant\""},
         {"pad_value", kValue, {}, "0.0"}}}},
      {"nn.rms_norm",
       {BuildRmsNorm,
        {{"data"}, {"weight"}, {"axes", kValue, {}, "-1"}, {"epsilon", kValue, {}, "1e-05"}}}},
      {"nn.silu", {BuildSilu, {{"data"}}}},
      {"repeat", {BuildRepeat, {{"data"}, {"repeats", kValue}, {"axis", kValue, {}, "None"}}}},
      {"scatter_nd",
       {BuildScatterNd,
        {{"data"}, {"indices"}, {"updates"}, {"reduction", kValue, {}, "\"update\""}}}},
      {"split", {BuildSplit, {{"x"}, {"indices_or_sections", kValue}, {"axis", kValue, {}, "0"}}}},
      {"square", {BuildSquare, {{"x"}}}},
      {"std", {BuildStd, axis_of_all}},
      {"tril", {BuildTril, {{"x"}, {"k", kValue, {}, "0"}}}},
      {"triu", {BuildTriu, {{"x"}, {"k", kValue, {}, "0"}}}},
      {"variance", {BuildVariance, axis_of_all}},
  };
  return rows;
}

constexpr std::string_view kCallsOfCode =
    "calls code that the module does not hold as operators; register the operator (tenon::plugin) "
    "or write the operators that it computes";
constexpr std::string_view kShapes = "computes with shapes as values, which Tenon has no type for";
constexpr std::string_view kEffects =
    "has an effect beside its result; only pure functions are read";
// What Relax has and Tenon does not compute, and why.
const std::map<std::string_view, std::string_view>& Refusals() {
  static const auto& rows = *new std::map<std::string_view, std::string_view>{
      {"assert_op", kEffects},
      {"call_builtin_with_ctx", kCallsOfCode},
      {"call_dps_packed", kCallsOfCode},
      {"call_inplace_packed", kCallsOfCode},
      {"call_packed", kCallsOfCode},
      {"call_pure_packed", kCallsOfCode},
      {"call_tir", kCallsOfCode},
      {"call_tir_inplace", kCallsOfCode},
      {"call_tir_with_grad", kCallsOfCode},
      {"dynamic_strided_slice", kShapes},
      {"invoke_closure", kCallsOfCode},
      {"invoke_pure_closure", kCallsOfCode},
      {"layout_transform",
       "takes an index map; R.relay.layout_transform takes the names of layouts"},
      {"make_closure", kCallsOfCode},
      {"match_cast", kShapes},
      {"nn.attention",
       "is not one operator here; write the products and the softmax that it computes"},
      {"nonzero", "has a result of a shape that only the values tell"},
      {"print", kEffects},
      {"shape_of", kShapes},
      {"shape_to_tensor", kShapes},
      {"tensor_to_shape", kShapes},
      {"unique", "has another form in Relax; R.relay.unique is Tenon's"},
  };
  return rows;
}

// What an operator without a row is written with. Views are of the definition, which stays.
Signature Plain(std::string name, const ops::OpDef& op) {
  Signature signature{.name = std::move(name), .op = &op};
  for (const ops::ArgumentDoc& argument : op.arguments)
    signature.parameters.push_back({argument.name});
  if (op.schema != nullptr) {
    for (const attrs::FieldInfo& field : op.schema->fields)
      signature.parameters.push_back({field.name, kValue});
  }
  return signature;
}

Signature OfRow(std::string name, const ops::OpDef& op, const Parameters& row) {
  Signature signature{.name = std::move(name), .op = &op, .parameters = row};
  if (op.schema == nullptr) return signature;
  for (const attrs::FieldInfo& field : op.schema->fields) {
    const bool has_row = std::any_of(row.begin(), row.end(), [&](const Parameter& parameter) {
      return !parameter.is_input() && parameter.attribute() == field.name;
    });
    if (!has_row) signature.further.push_back(&field);
  }
  return signature;
}

std::vector<std::string> KnownNames() {
  std::vector<std::string> names;
  for (const std::string& op : ops::OpRegistry::Global().Names())
    names.push_back(ops::RelaxNameOf(op).substr(kPrefix.size()));
  for (const auto& [name, row] : BuiltRows()) names.emplace_back(name);
  return names;
}

// Whether Relax means something else by the name than the operator of Tenon does.
bool MeansElse(std::string_view name) {
  return BuiltRows().contains(name) || Refusals().contains(name);
}

}  // namespace

const Parameter* Signature::Find(std::string_view parameter) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const Parameter& p) { return p.name == parameter; });
  return found == parameters.end() ? nullptr : &*found;
}

std::string Signature::ToString() const {
  return StrCat("R.", name, "(",
                StrJoin(parameters, ", ",
                        [](std::string* text, const Parameter& p) { StrAppend(text, p.name); }),
                ")");
}

Signature SignatureOf(std::string_view relax_name) {
  const std::string name(relax_name);
  const ops::OpRegistry& registry = ops::OpRegistry::Global();
  if (name.starts_with(kRelay)) {
    const std::string own = name.substr(kRelay.size());
    return Plain(name, *ops::OpOf(registry.Get(own)));
  }
  if (const auto built = BuiltRows().find(name); built != BuiltRows().end())
    return {.name = name, .build = built->second.build, .parameters = built->second.parameters};
  if (const auto refusal = Refusals().find(name); refusal != Refusals().end())
    throw Unimplemented(StrCat("R.", name, " ", refusal->second));
  const ir::Expr op = registry.Find(ops::FromRelaxName(StrCat(kPrefix, name)));
  if (!op)
    throw NotFound(
        StrCat("there is no operator R.", name, DidYouMean("; ", name, KnownNames(), "R.")));
  return SignatureFor(*ops::OpOf(op));
}

Signature SignatureFor(const ops::OpDef& op, const attrs::Attrs& attrs) {
  std::string name = ops::RelaxNameOf(op.name).substr(kPrefix.size());
  const auto row = Rows().find(op.name);
  if (row != Rows().end()) {
    Signature signature = OfRow(name, op, row->second);
    // What a name of several forms stands for cannot have attributes of one of them.
    const bool is_plain = std::all_of(
        signature.further.begin(), signature.further.end(), [&](const attrs::FieldInfo* field) {
          return !attrs.defined() || attrs.Get(field->name) == field->default_value;
        });
    if (is_plain || !MeansElse(name)) return signature;
  }
  if (MeansElse(name)) name = StrCat(kRelay, op.name);
  return Plain(std::move(name), op);
}

}  // namespace tenon::relax
