#include "tenon/loop/extern_function.h"

namespace tenon::loop {

ExternFunction ExternFunction::Untyped(std::string symbol, DataType result, Effect effect) {
  auto* node = new ExternFunctionNode;
  node->symbol = std::move(symbol);
  node->effect = effect;
  node->result = result;
  node->has_signature = false;
  return ExternFunction(Ref<const ExternFunctionNode>(node));
}

}  // namespace tenon::loop
