#include "tenon/jit/library_functions.h"

#include <cstdint>

extern "C" {
void tenon_lib_argsort(const void*, void*, void*, std::int64_t, std::int64_t, std::int64_t,
                       std::int64_t);
void tenon_lib_scatter(const void*, const void*, const void*, void*, std::int64_t, std::int64_t,
                       std::int64_t, std::int64_t, std::int64_t);
void tenon_lib_roi_align(const void*, const void*, void*, std::int64_t, std::int64_t, std::int64_t,
                         std::int64_t, std::int64_t, std::int64_t, std::int64_t, double,
                         std::int64_t, std::int64_t, std::int64_t);
void tenon_lib_suppress(const void*, const void*, const void*, const void*, const void*, void*,
                        void*, void*, std::int64_t, std::int64_t, std::int64_t);
}

namespace tenon::jit {

using loop::ExternFunction;

const ExternFunction& ArgsortFunction() {
  static const ExternFunction f = ExternFunction::At("tenon_lib_argsort", &tenon_lib_argsort);
  return f;
}
const ExternFunction& ScatterFunction() {
  static const ExternFunction f = ExternFunction::At("tenon_lib_scatter", &tenon_lib_scatter);
  return f;
}
const ExternFunction& RoiAlignFunction() {
  static const ExternFunction f = ExternFunction::At("tenon_lib_roi_align", &tenon_lib_roi_align);
  return f;
}
const ExternFunction& SuppressFunction() {
  static const ExternFunction f = ExternFunction::At("tenon_lib_suppress", &tenon_lib_suppress);
  return f;
}

const std::vector<std::string>& LibrarySymbols() {
  static const std::vector<std::string> symbols = {
      ArgsortFunction()->symbol, ScatterFunction()->symbol, RoiAlignFunction()->symbol,
      SuppressFunction()->symbol};
  return symbols;
}

std::string ExportedLibrarySymbol(const std::string& symbol, const std::string& name) {
  return name + symbol.substr(symbol.find('_'));
}

bool IsLibraryFunction(const ExternFunction& callee) {
  const auto same = [&](const ExternFunction& f) { return f->address == callee->address; };
  return callee->address != nullptr && (same(ArgsortFunction()) || same(ScatterFunction()) ||
                                        same(RoiAlignFunction()) || same(SuppressFunction()));
}

}  // namespace tenon::jit
