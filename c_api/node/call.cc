#include "tenon/c_api/node/call.h"

#include <memory>
#include <unordered_set>

namespace tenon::node {
namespace {

constexpr const char* kKinds[] = {"an expression", "a module", "an executable"};
// Integers that a number of JavaScript holds.
constexpr double kMaxInteger = 9007199254740991;

struct Handle;
// The handles of one environment of Node.js. An external of another addon is none of them.
using LiveHandles = std::unordered_set<const Handle*>;

struct Handle {
  Kind kind;
  void* value;
  std::shared_ptr<LiveHandles> live;  // Node.js may free the environment's data first
};

std::shared_ptr<LiveHandles> LiveHandlesOf(napi_env env) {
  using Shared = std::shared_ptr<LiveHandles>;
  void* data = nullptr;
  if (napi_get_instance_data(env, &data) == napi_ok && data != nullptr)
    return *static_cast<Shared*>(data);
  auto made = std::make_unique<Shared>(std::make_shared<LiveHandles>());
  const auto free = [](napi_env, void* shared, void*) { delete static_cast<Shared*>(shared); };
  Require(napi_set_instance_data(env, made.get(), free, nullptr), "no handles can be kept");
  return *made.release();
}

void Free(napi_env, void* data, void*) {
  auto* handle = static_cast<Handle*>(data);
  handle->live->erase(handle);
  switch (handle->kind) {
    case Kind::kExpr:
      tenon_expr_free(static_cast<TenonExpr*>(handle->value));
      break;
    case Kind::kModule:
      tenon_module_free(static_cast<TenonModule*>(handle->value));
      break;
    case Kind::kExecutable:
      tenon_executable_free(static_cast<TenonExecutable*>(handle->value));
      break;
  }
  delete handle;
}

napi_valuetype TypeOf(napi_env env, napi_value value) {
  napi_valuetype type = napi_undefined;
  if (value != nullptr) napi_typeof(env, value, &type);
  return type;
}

}  // namespace

void Require(napi_status status, const std::string& what) {
  if (status != napi_ok) throw Refusal{what};
}
void Check(TenonError* error) {
  if (error == nullptr) return;
  Refusal refusal{tenon_error_message(error)};
  tenon_error_free(error);
  throw refusal;
}

Call::Call(napi_env env, napi_callback_info info) : env_(env) {
  std::size_t count = kMaxArguments;
  Require(napi_get_cb_info(env, info, &count, args_, nullptr, nullptr), "a call without scope");
}

bool Call::IsGiven(int i) const {
  const napi_valuetype type = TypeOf(env_, args_[i]);
  return type != napi_undefined && type != napi_null;
}

std::string Call::Text(napi_value value, const std::string& what) const {
  std::size_t size = 0;
  Require(napi_get_value_string_utf8(env_, value, nullptr, 0, &size), what + " must be a string");
  std::string text(size + 1, '\0');
  napi_get_value_string_utf8(env_, value, text.data(), text.size(), &size);
  text.resize(size);
  if (text.find('\0') != std::string::npos) throw Refusal{what + " has a zero inside"};
  return text;
}

std::int64_t Call::Integer(napi_value value, const std::string& what) const {
  double number = 0;
  Require(napi_get_value_double(env_, value, &number), what + " must be a number");
  if (!(number >= -kMaxInteger && number <= kMaxInteger) ||
      static_cast<double>(static_cast<std::int64_t>(number)) != number)
    throw Refusal{what + " must be an integer"};
  return static_cast<std::int64_t>(number);
}

std::string Call::Json(int i) const {
  if (!IsGiven(i)) return "";
  return Text(CallJson("stringify", args_[i]), "what is written as JSON");
}

std::vector<napi_value> Call::List(napi_value list, const std::string& what) const {
  std::uint32_t length = 0;
  Require(napi_get_array_length(env_, list, &length), what + " must be an array");
  std::vector<napi_value> values(length);
  for (std::uint32_t i = 0; i < length; ++i)
    Require(napi_get_element(env_, list, i, &values[i]), what + " cannot be read");
  return values;
}

std::vector<std::int64_t> Call::Shape(napi_value list) const {
  std::vector<std::int64_t> shape;
  for (napi_value extent : List(list, "shape")) shape.push_back(Integer(extent, "an extent"));
  return shape;
}

napi_value Call::Get(napi_value object, const char* name) const {
  napi_value value = nullptr;
  Require(napi_get_named_property(env_, object, name, &value),
          std::string("an object with ") + name + " is needed");
  return value;
}

std::vector<TenonExpr*> Call::Exprs(int i) const {
  std::vector<TenonExpr*> exprs;
  for (napi_value value : List(args_[i], "a list of expressions"))
    exprs.push_back(Value<TenonExpr>(value));
  return exprs;
}

napi_value Call::Give(TenonText* text) const {
  napi_value result = nullptr;
  const napi_status status =
      napi_create_string_utf8(env_, tenon_text_data(text), tenon_text_size(text), &result);
  tenon_text_free(text);
  Require(status, "the text is too long for JavaScript");
  return result;
}

napi_value Call::GiveParsed(TenonText* json) const { return CallJson("parse", Give(json)); }

void* Call::Held(napi_value value, Kind kind) const {
  void* data = nullptr;
  const bool is_external = TypeOf(env_, value) == napi_external &&
                           napi_get_value_external(env_, value, &data) == napi_ok;
  const auto* handle = static_cast<Handle*>(data);
  if (!is_external || !LiveHandlesOf(env_)->contains(handle) || handle->kind != kind)
    throw Refusal{std::string("an argument must be ") + kKinds[static_cast<int>(kind)]};
  return handle->value;
}

napi_value Call::External(void* value, Kind kind) const {
  auto* handle = new Handle{kind, value, LiveHandlesOf(env_)};
  handle->live->insert(handle);
  napi_value result = nullptr;
  if (napi_create_external(env_, handle, Free, nullptr, &result) == napi_ok) return result;
  Free(env_, handle, nullptr);
  throw Refusal{"no handle can be made"};
}

napi_value Call::CallJson(const char* function, napi_value argument) const {
  napi_value global = nullptr, result = nullptr;
  Require(napi_get_global(env_, &global), "there is no global object");
  napi_value json = Get(global, "JSON");
  Require(napi_call_function(env_, json, Get(json, function), 1, &argument, &result),
          "it is no JSON");
  return result;
}

}  // namespace tenon::node
