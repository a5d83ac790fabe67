#include "tenon/te/host_function.h"

#include <dlfcn.h>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::te {

HostValue ToHost(DataType type, double value) {
  if (type == Float32) return HostValue::Of(static_cast<float>(value));
  CheckInvariant(type == Float64, "C functions take float and double");
  return HostValue::Of(value);
}

HostValue ToHost(DataType type, std::int64_t value) {
  switch (type.bits()) {
    case 1:
      return HostValue::Of(value != 0);
    case 8:
      return HostValue::Of(static_cast<std::int8_t>(value));
    case 16:
      return HostValue::Of(static_cast<std::int16_t>(value));
    case 32:
      return HostValue::Of(static_cast<std::int32_t>(value));
    default:
      return HostValue::Of(value);
  }
}

double FloatFromHost(DataType type, const HostValue& value) {
  return type == Float32 ? static_cast<double>(value.As<float>()) : value.As<double>();
}

std::int64_t IntFromHost(DataType type, const HostValue& value) {
  switch (type.bits()) {
    case 1:
      return value.As<bool>() ? 1 : 0;
    case 8:
      return type.is_int() ? value.As<std::int8_t>() : value.As<std::uint8_t>();
    case 16:
      return type.is_int() ? value.As<std::int16_t>() : value.As<std::uint16_t>();
    case 32:
      return type.is_int() ? std::int64_t{value.As<std::int32_t>()}
                           : std::int64_t{value.As<std::uint32_t>()};
    default:
      return value.As<std::int64_t>();
  }
}

HostFunction::HostFunction(loop::ExternFunction callee)
    : callee_(std::move(callee)), address_(callee_->address) {
  if (callee_->host_call == nullptr) {
    throw Unimplemented(StrCat("the interpreter cannot call ", callee_->symbol,
                               ", whose C++ signature is not known; declare it with "
                               "ExternFunction::Named or At"));
  }
  if (address_ == nullptr) address_ = dlsym(RTLD_DEFAULT, callee_->symbol.c_str());
  if (address_ == nullptr) {
    throw NotFound(StrCat("the external function ", callee_->symbol,
                          " is not a symbol of this process; link or load its library, export the "
                          "symbol, or give the function by its address"));
  }
}

HostValue HostFunction::operator()(const std::vector<HostValue>& args) const {
  return callee_->host_call(address_, args.data());
}

}  // namespace tenon::te
