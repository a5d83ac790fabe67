#include "tenon/verify/operands.h"

namespace tenon::verify {

const OperandDrawer* FindOperandDrawer(const std::string& op) {
  static const auto& table = *[] {
    auto* t = new OperandTable;
    AddQuantizedOperands(t);
    AddRecurrentOperands(t);
    AddSparseOperands(t);
    return t;
  }();
  const auto row = table.find(op);
  return row == table.end() ? nullptr : &row->second;
}

}  // namespace tenon::verify
