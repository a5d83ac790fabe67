#include "tenon/compiler/export/c_run.h"

#include "tenon/support/strings.h"

namespace tenon::compiler {

using runtime::BytesForAll;
using runtime::Entry;
using runtime::EntryRef;
using runtime::Node;
using runtime::NodeKind;

jit::CBlock CRun::Body() {
  jit::CBlock run;
  const bool has_workspace = places_.has_workspace();
  run.Line("int32_t status = 0;");
  run.Line("const unsigned state = tenon_flush_denormals();");
  if (has_workspace) {
    run.Line("void* taken = NULL;");
    run.Line("unsigned char* memory;");
  } else {
    run.Line("(void)workspace;");
  }
  run.Line("(void)inputs;");
  run.Line("(void)outputs;");
  if (has_workspace) {
    run.Line(StrCat("if (workspace == NULL) workspace = taken = malloc(",
                    AsSize(places_.workspace()), ");"));
    run.Line("if (workspace == NULL) status = 1;");
    run.Line("memory = (unsigned char*)(((uintptr_t)workspace + 63) & ~(uintptr_t)63);");
  }
  for (std::size_t n = 0; n < plan_.nodes.size(); ++n) {
    const Node& node = plan_.nodes[n];
    if (node.kind == NodeKind::kCopy)
      run.Line(StrCat("if (status == 0) memcpy(", places_.Address({static_cast<int>(n), 0}), ", ",
                      places_.Address(node.inputs[0]), ", ", Bytes(node.outputs[0]), ");"));
    if (node.kind != NodeKind::kKernel) continue;
    std::vector<std::string> arguments;
    const auto add = [&](EntryRef ref, bool is_output) {
      arguments.push_back(StrCat("(", is_output ? "" : "const ",
                                 jit::CMemoryType(plan_.entry(ref).dtype), "*)",
                                 places_.Address(ref)));
    };
    for (const EntryRef input : node.inputs) add(input, false);
    for (std::size_t o = 0; o < node.outputs.size(); ++o)
      add({static_cast<int>(n), static_cast<int>(o)}, true);
    for (const Dim& extent : node.arguments) arguments.push_back(Number(extent));
    run.Line(StrCat("if (status == 0", HasElements(node), ")"));
    run.Line(StrCat("  status = ", direct_[static_cast<std::size_t>(node.kernel)], "(",
                    StrJoin(arguments, ", "), ");"));
  }
  // These results are not written to the caller's array by a node: inputs, constants, and a
  // result given twice.
  for (std::size_t k = 0; k < plan_.heads.size(); ++k) {
    const std::string source = places_.Address(plan_.heads[k]), target = StrCat("outputs[", k, "]");
    if (source != target)
      run.Line(StrCat("if (status == 0) memcpy(", target, ", ", source, ", ",
                      Bytes(plan_.entry(plan_.heads[k])), ");"));
  }
  if (has_workspace) run.Line("free(taken);");
  run.Line("tenon_restore_denormals(state);");
  run.Line("return status;");
  return run;
}

// A kernel is called only if one of its results has elements. Empty: one has them for all values.
std::string CRun::HasElements(const Node& node) {
  std::vector<std::string> results;
  for (const Entry& output : node.outputs) {
    std::vector<std::string> tests;
    for (const Dim& extent : output.dims()) {
      if (extent.LowerBound().value_or(0) < 1) tests.push_back(StrCat(Number(extent), " != 0"));
    }
    if (tests.empty()) return "";
    results.push_back(StrCat("(", StrJoin(tests, " && "), ")"));
  }
  return StrCat(" && (", StrJoin(results, " || "), ")");
}
std::string CRun::Number(const Dim& dim) { return extents_.Text(extents_.Of(dim)); }
std::string CRun::Bytes(const Entry& entry) { return AsSize(extents_.Of(BytesForAll(entry))); }
std::string CRun::AsSize(int number) const {
  return StrCat(extents_.has_variables() ? "(size_t)" : "", extents_.Text(number));
}

}  // namespace tenon::compiler
