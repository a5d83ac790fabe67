#include "tenon/jit/library_functions.h"

#include <algorithm>
#include <cstdint>

extern "C" {
void tenon_lib_argsort(const void*, void*, void*, std::int64_t, std::int64_t, std::int64_t,
                       std::int64_t, std::int64_t);
void tenon_lib_argsort_slices(const void*, void*, void*, std::int64_t, std::int64_t, std::int64_t);
void tenon_lib_determinant(const void*, void*, void*, std::int64_t, std::int64_t);
void tenon_lib_scatter(const void*, const void*, const void*, void*, std::int64_t, std::int64_t,
                       std::int64_t, std::int64_t, std::int64_t);
void tenon_lib_roi_align(const void*, const void*, void*, std::int64_t, std::int64_t, std::int64_t,
                         std::int64_t, std::int64_t, std::int64_t, std::int64_t, double,
                         std::int64_t, std::int64_t, std::int64_t);
void tenon_lib_roi_pool(const void*, const void*, void*, std::int64_t, std::int64_t, std::int64_t,
                        std::int64_t, std::int64_t, std::int64_t, std::int64_t, double);
void tenon_lib_copy(const void*, void*, std::int64_t);
void tenon_lib_sparse_rows(const void*, const void*, void*, std::int64_t, std::int64_t,
                           std::int64_t);
void tenon_lib_sparse_transpose(const void*, const void*, void*, void*, std::int64_t, std::int64_t);
void tenon_lib_sparse_multiply(const void*, const void*, const void*, const void*, void*,
                               std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
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
const ExternFunction& ArgsortSlicesFunction() {
  static const ExternFunction f =
      ExternFunction::At("tenon_lib_argsort_slices", &tenon_lib_argsort_slices);
  return f;
}
const ExternFunction& DeterminantFunction() {
  static const ExternFunction f =
      ExternFunction::At("tenon_lib_determinant", &tenon_lib_determinant);
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
const ExternFunction& RoiPoolFunction() {
  static const ExternFunction f = ExternFunction::At("tenon_lib_roi_pool", &tenon_lib_roi_pool);
  return f;
}
const ExternFunction& SparseRowsFunction() {
  static const ExternFunction f =
      ExternFunction::At("tenon_lib_sparse_rows", &tenon_lib_sparse_rows);
  return f;
}
const ExternFunction& SparseTransposeFunction() {
  static const ExternFunction f =
      ExternFunction::At("tenon_lib_sparse_transpose", &tenon_lib_sparse_transpose);
  return f;
}
const ExternFunction& SparseMultiplyFunction() {
  static const ExternFunction f =
      ExternFunction::At("tenon_lib_sparse_multiply", &tenon_lib_sparse_multiply);
  return f;
}

namespace {

const std::vector<ExternFunction>& AllFunctions() {
  static const std::vector<ExternFunction> all = {
      ArgsortFunction(),       ArgsortSlicesFunction(), DeterminantFunction(),
      ScatterFunction(),       RoiAlignFunction(),      RoiPoolFunction(),
      SuppressFunction(),      SparseRowsFunction(),    SparseTransposeFunction(),
      SparseMultiplyFunction()};
  return all;
}

}  // namespace

const std::vector<std::string>& LibrarySymbols() {
  static const std::vector<std::string> symbols = [] {
    std::vector<std::string> made;
    for (const ExternFunction& f : AllFunctions()) made.push_back(f->symbol);
    return made;
  }();
  return symbols;
}

std::string ExportedLibrarySymbol(const std::string& symbol, const std::string& name) {
  return name + symbol.substr(symbol.find('_'));
}

bool IsLibraryFunction(const ExternFunction& callee) {
  if (callee->address == nullptr) return false;
  return std::any_of(AllFunctions().begin(), AllFunctions().end(),
                     [&](const ExternFunction& f) { return f->address == callee->address; });
}

}  // namespace tenon::jit
