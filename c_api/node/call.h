// A call from JavaScript: its arguments as C++ values, and what it gives back.
//
// Handles are externals that free what they hold. Whatever N-API or tenon_c.h refuses is thrown as
// Refusal, which the addon turns into a JavaScript error.
#ifndef TENON_C_API_NODE_CALL_H_
#define TENON_C_API_NODE_CALL_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <node_api.h>

#include "tenon/c_api/tenon_c.h"

namespace tenon::node {

struct Refusal {
  std::string message;
};

// Throw unless `status` is napi_ok, or `error` is null.
void Require(napi_status status, const std::string& what);
void Check(TenonError* error);

enum class Kind { kExpr, kModule, kExecutable };

template <typename T>
constexpr Kind KindOf() {
  if constexpr (std::is_same_v<T, TenonExpr>) return Kind::kExpr;
  if constexpr (std::is_same_v<T, TenonModule>) return Kind::kModule;
  return Kind::kExecutable;
}

class Call {
 public:
  Call(napi_env env, napi_callback_info info);

  napi_env env() const { return env_; }
  napi_value arg(int i) const { return args_[i]; }
  bool IsGiven(int i) const;

  // `what` names the value in refusals.
  std::string Text(napi_value value, const std::string& what) const;
  std::string Text(int i, const std::string& what) const { return Text(args_[i], what); }
  std::int64_t Integer(napi_value value, const std::string& what) const;
  std::int64_t Integer(int i, const std::string& what) const { return Integer(args_[i], what); }
  // The text of an object; "" where it is left out.
  std::string Json(int i) const;
  std::vector<napi_value> List(napi_value list, const std::string& what) const;
  std::vector<std::int64_t> Shape(napi_value list) const;
  napi_value Get(napi_value object, const char* name) const;
  // What a handle holds.
  template <typename T>
  T* Value(napi_value value) const {
    return static_cast<T*>(Held(value, KindOf<T>()));
  }
  template <typename T>
  T* Value(int i) const {
    return Value<T>(args_[i]);
  }
  std::vector<TenonExpr*> Exprs(int i) const;

  // These take what they are given.
  template <typename T>
  napi_value Give(T* value) const {
    return External(value, KindOf<T>());
  }
  napi_value Give(TenonText* text) const;
  napi_value GiveParsed(TenonText* json) const;

 private:
  void* Held(napi_value value, Kind kind) const;
  napi_value External(void* value, Kind kind) const;
  // JSON.parse or JSON.stringify.
  napi_value CallJson(const char* function, napi_value argument) const;

  static constexpr std::size_t kMaxArguments = 4;
  napi_env env_;
  napi_value args_[kMaxArguments] = {};
};

}  // namespace tenon::node

#endif  // TENON_C_API_NODE_CALL_H_
