// tenon.node: the C interface as an addon of Node.js. N-API is stable, so one file serves later
// versions of Node.js, and users build nothing.
//
//   const tenon = require('./tenon.node');
//   const exe = tenon.compile(tenon.parse('def @main(%x: Tensor[(3), float32]) { exp(%x) }'));
//   tenon.run(exe, {x: {dtype: 'float32', shape: [3], data: new Float32Array(3)}})[0].data
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tenon/c_api/node/call.h"
#include "tenon/c_api/node/tensor.h"

namespace tenon::node {
namespace {

napi_value LoadPlugin(const Call& call) {
  Check(tenon_load_plugin(call.Text(0, "path").c_str()));
  return nullptr;
}
napi_value OpNames(const Call& call) {
  TenonText* names = nullptr;
  Check(tenon_op_names(&names));
  return call.Give(names);
}
napi_value OpSignature(const Call& call) {
  TenonText* text = nullptr;
  Check(tenon_op_signature(call.Text(0, "op").c_str(), &text));
  return call.Give(text);
}
napi_value MakeAttrs(const Call& call) {
  TenonText* json = nullptr;
  const std::string fields = call.Json(1);
  Check(tenon_make_attrs(call.Text(0, "type key").c_str(), fields.empty() ? "{}" : fields.c_str(),
                         &json));
  return call.GiveParsed(json);
}
napi_value Variable(const Call& call) {
  TenonExpr* variable = nullptr;
  const std::vector<std::int64_t> shape = call.Shape(call.arg(2));
  Check(tenon_variable(call.Text(0, "name").c_str(), call.Text(1, "dtype").c_str(), shape.data(),
                       static_cast<int>(shape.size()), &variable));
  return call.Give(variable);
}
napi_value Constant(const Call& call) {
  TenonExpr* constant = nullptr;
  Tensor tensor(call, call.arg(0));
  tensor.FindElements(call);
  Check(tenon_constant(&tensor.tensor, &constant));
  return call.Give(constant);
}
napi_value CallOp(const Call& call) {
  TenonExpr* made = nullptr;
  const std::vector<TenonExpr*> args = call.Exprs(1);
  const std::string attrs = call.Json(2);
  Check(tenon_call_op(call.Text(0, "op").c_str(), args.data(), args.size(), attrs.c_str(), &made));
  return call.Give(made);
}
napi_value Tuple(const Call& call) {
  TenonExpr* tuple = nullptr;
  const std::vector<TenonExpr*> fields = call.Exprs(0);
  Check(tenon_tuple(fields.data(), fields.size(), &tuple));
  return call.Give(tuple);
}
napi_value TupleField(const Call& call) {
  TenonExpr* field = nullptr;
  const std::int64_t index = call.Integer(1, "index");
  if (!std::in_range<int>(index)) throw Refusal{"index is no place of a field"};
  Check(tenon_tuple_field(call.Value<TenonExpr>(0), static_cast<int>(index), &field));
  return call.Give(field);
}
napi_value ModuleFromExpr(const Call& call) {
  TenonModule* module = nullptr;
  Check(tenon_module_from_expr(call.Value<TenonExpr>(0), &module));
  return call.Give(module);
}
napi_value Parse(const Call& call) {
  TenonModule* module = nullptr;
  const std::string source = call.IsGiven(1) ? call.Text(1, "source") : "text";
  Check(tenon_parse(call.Text(0, "text").c_str(), source.c_str(), &module));
  return call.Give(module);
}
napi_value ReadOnnx(const Call& call) {
  TenonModule* module = nullptr;
  const std::string shapes = call.Json(1);
  Check(tenon_read_onnx(call.Text(0, "path").c_str(), shapes.empty() ? nullptr : shapes.c_str(),
                        &module));
  return call.Give(module);
}
napi_value RunPasses(const Call& call) {
  TenonModule* changed = nullptr;
  Check(tenon_run_passes(call.Value<TenonModule>(0), call.Text(1, "passes").c_str(), &changed));
  return call.Give(changed);
}
napi_value Partition(const Call& call) {
  TenonModule* changed = nullptr;
  Check(tenon_partition(call.Value<TenonModule>(0), call.Text(1, "generator").c_str(), &changed));
  return call.Give(changed);
}
napi_value Print(const Call& call) {
  TenonText* text = nullptr;
  const bool with_metadata = call.IsGiven(1);
  Check(tenon_print(call.Value<TenonModule>(0), with_metadata ? 1 : 0, &text));
  return call.Give(text);
}
napi_value Compile(const Call& call) {
  TenonExecutable* executable = nullptr;
  const std::string options = call.Json(1);
  Check(tenon_compile(call.Value<TenonModule>(0), options.empty() ? nullptr : options.c_str(),
                      &executable));
  return call.Give(executable);
}
napi_value Describe(const Call& call) {
  TenonText* json = nullptr;
  Check(tenon_describe(call.Value<TenonExecutable>(0), &json));
  return call.GiveParsed(json);
}
napi_value KernelText(const Call& call) {
  TenonText* text = nullptr;
  const std::int64_t kernel = call.Integer(1, "kernel");
  Check(tenon_kernel_text(call.Value<TenonExecutable>(0), static_cast<std::size_t>(kernel),
                          call.Text(2, "kind").c_str(), &text));
  return call.Give(text);
}
napi_value GraphJson(const Call& call) {
  TenonText* json = nullptr;
  Check(tenon_graph_json(call.Value<TenonExecutable>(0), &json));
  return call.GiveParsed(json);
}

napi_value Run(const Call& call) {
  auto* executable = call.Value<TenonExecutable>(0);
  napi_value keys = nullptr;
  Require(napi_get_property_names(call.env(), call.arg(1), &keys), "inputs must be an object");
  std::vector<std::string> names;
  for (napi_value key : call.List(keys, "inputs")) names.push_back(call.Text(key, "a name"));
  std::list<Tensor> tensors;
  std::vector<const char*> texts;
  std::vector<const DLTensor*> inputs;
  for (const std::string& name : names) {
    tensors.emplace_back(call, call.Get(call.arg(1), name.c_str()));
    texts.push_back(name.c_str());
    inputs.push_back(&tensors.back().tensor);
  }
  // After all code of JavaScript: a getter may move the elements of another input.
  for (Tensor& tensor : tensors) tensor.FindElements(call);
  std::size_t count = 0;
  Check(tenon_num_results(executable, &count));
  std::vector<DLManagedTensor*> results(count);
  Check(tenon_run(executable, texts.data(), inputs.data(), inputs.size(), results.data(), count));
  const auto free = [](DLManagedTensor* tensor) { tensor->deleter(tensor); };
  std::vector<std::unique_ptr<DLManagedTensor, decltype(free)>> owned;
  for (DLManagedTensor* result : results) owned.emplace_back(result, free);
  napi_value list = nullptr;
  Require(napi_create_array(call.env(), &list), "there is no memory");
  for (std::size_t i = 0; i < count; ++i)
    napi_set_element(call.env(), list, static_cast<std::uint32_t>(i),
                     ToJavaScript(call, results[i]->dl_tensor));
  return list;
}

// --- the addon

using Function = napi_value (*)(const Call& call);

template <Function kFunction>
napi_value Called(napi_env env, napi_callback_info info) {
  std::string message;
  try {
    return kFunction(Call(env, info));
  } catch (const Refusal& refusal) {
    message = refusal.message;
  } catch (const std::exception& error) {
    message = error.what();
  }
  bool is_thrown = false;
  napi_is_exception_pending(env, &is_thrown);
  if (!is_thrown) napi_throw_error(env, nullptr, message.c_str());
  return nullptr;
}

constexpr std::pair<const char*, napi_callback> kFunctions[] = {
    {"loadPlugin", Called<LoadPlugin>},
    {"opNames", Called<OpNames>},
    {"opSignature", Called<OpSignature>},
    {"makeAttrs", Called<MakeAttrs>},
    {"variable", Called<Variable>},
    {"constant", Called<Constant>},
    {"callOp", Called<CallOp>},
    {"tuple", Called<Tuple>},
    {"tupleField", Called<TupleField>},
    {"moduleFromExpr", Called<ModuleFromExpr>},
    {"parse", Called<Parse>},
    {"readOnnx", Called<ReadOnnx>},
    {"runPasses", Called<RunPasses>},
    {"partition", Called<Partition>},
    {"print", Called<Print>},
    {"compile", Called<Compile>},
    {"describe", Called<Describe>},
    {"kernelText", Called<KernelText>},
    {"graphJson", Called<GraphJson>},
    {"run", Called<Run>},
};

napi_value Init(napi_env env, napi_value exports) {
  for (const auto& [name, callback] : kFunctions) {
    napi_value function = nullptr;
    napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function);
    napi_set_named_property(env, exports, name, function);
  }
  return exports;
}

}  // namespace
}  // namespace tenon::node

NAPI_MODULE(tenon, tenon::node::Init)
