// C functions that generated code may call.
//
// A function is named by a symbol that the process has, or given by its address. Its C++ signature
// tells the types of arguments and result; pointers stand for buffers. A pure function reads
// nothing but its arguments and has no effect, so calls of it may be moved, merged and dropped. The
// function must be safe to call from many threads at once and must not throw; kernels call it with
// denormals flushed to zero. Immutable value handle.
//
//   ExternFunction hypot = ExternFunction::Named<float(float, float)>("hypotf", Effect::kPure);
//   ExternFunction sort = ExternFunction::At("sort_floats", &SortFloats);
//   Expr e = ExternCall(hypot, {a, b});
#ifndef TENON_LOOP_EXTERN_FUNCTION_H_
#define TENON_LOOP_EXTERN_FUNCTION_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/support/data_type.h"
#include "tenon/support/ref.h"

namespace tenon::loop {

// The type of addresses in expressions.
inline constexpr DataType Handle{TypeCode::kHandle, 64};

enum class Effect { kPure, kAny };

// One scalar or pointer on its way through a call from C++.
class HostValue {
 public:
  template <typename T>
  T As() const {
    T value;
    std::memcpy(&value, bytes_.data(), sizeof(T));
    return value;
  }
  template <typename T>
  static HostValue Of(T value) {
    HostValue host;
    std::memcpy(host.bytes_.data(), &value, sizeof(T));
    return host;
  }

 private:
  alignas(8) std::array<unsigned char, 8> bytes_{};
};

// Calls the function at `address` from C++; knows the signature.
using HostCall = HostValue (*)(const void* address, const HostValue* args);

class ExternFunctionNode : public RefCounted {
 public:
  struct Parameter {
    DataType type;
    DataType pointee = DataType::Void();  // of a pointer; void where any buffer will do
  };
  std::string symbol;
  const void* address = nullptr;  // null: the symbol is looked up in the process
  Effect effect = Effect::kAny;
  DataType result = DataType::Void();
  bool has_signature = true;  // without one, arguments are taken as they come
  std::vector<Parameter> parameters;
  HostCall host_call = nullptr;  // null: only generated code can call it
};

class ExternFunction {
 public:
  // The function that the process knows by `symbol`; it is looked up when a kernel is compiled.
  template <typename Signature>
  static ExternFunction Named(std::string symbol, Effect effect = Effect::kAny) {
    return Make(std::move(symbol), nullptr, effect, static_cast<Signature*>(nullptr));
  }
  // The function at `address`; `name` is for people.
  template <typename R, typename... Args>
  static ExternFunction At(std::string name, R (*address)(Args...), Effect effect = Effect::kAny) {
    return Make(std::move(name), reinterpret_cast<const void*>(address), effect, address);
  }
  // A symbol whose C++ signature is not known; it takes what it is called with.
  static ExternFunction Untyped(std::string symbol, DataType result, Effect effect = Effect::kAny);

  const ExternFunctionNode* operator->() const { return node_.get(); }
  friend bool operator==(const ExternFunction& a, const ExternFunction& b) {
    return a.node_ == b.node_;
  }

 private:
  explicit ExternFunction(Ref<const ExternFunctionNode> node) : node_(std::move(node)) {}

  template <typename T>
  static constexpr DataType TypeOf() {
    static_assert(!std::is_class_v<T>, "a C function takes and gives numbers and pointers");
    if constexpr (std::is_void_v<T>) {
      return DataType::Void();
    } else if constexpr (std::is_same_v<T, bool>) {
      return Bool;
    } else if constexpr (std::is_pointer_v<T>) {
      return Handle;
    } else if constexpr (std::is_floating_point_v<T>) {
      return DataType(TypeCode::kFloat, 8 * sizeof(T));
    } else {
      static_assert(std::is_integral_v<T> && sizeof(T) <= 8);
      return DataType(std::is_signed_v<T> ? TypeCode::kInt : TypeCode::kUInt, 8 * sizeof(T));
    }
  }
  template <typename T>
  static ExternFunctionNode::Parameter ParameterOf() {
    using Pointee = std::remove_cv_t<std::remove_pointer_t<T>>;
    if constexpr (std::is_pointer_v<T> && std::is_arithmetic_v<Pointee>) {
      return {TypeOf<T>(), TypeOf<Pointee>()};
    } else {
      return {TypeOf<T>()};
    }
  }
  template <typename R, typename... Args, std::size_t... I>
  static HostValue Invoke(R (*function)(Args...), const HostValue* args,
                          std::index_sequence<I...>) {
    if constexpr (std::is_void_v<R>) {
      function(args[I].template As<Args>()...);
      return HostValue();
    } else {
      return HostValue::Of<R>(function(args[I].template As<Args>()...));
    }
  }
  template <typename R, typename... Args>
  static ExternFunction Make(std::string symbol, const void* address, Effect effect,
                             R (* /*signature*/)(Args...)) {
    auto* node = new ExternFunctionNode;
    node->symbol = std::move(symbol);
    node->address = address;
    node->effect = effect;
    node->result = TypeOf<R>();
    node->parameters = {ParameterOf<Args>()...};
    node->host_call = [](const void* at, [[maybe_unused]] const HostValue* args) {
      return Invoke(reinterpret_cast<R (*)(Args...)>(const_cast<void*>(at)), args,
                    std::index_sequence_for<Args...>());
    };
    return ExternFunction(Ref<const ExternFunctionNode>(node));
  }

  Ref<const ExternFunctionNode> node_;
};

}  // namespace tenon::loop

#endif  // TENON_LOOP_EXTERN_FUNCTION_H_
