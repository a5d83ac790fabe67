#include "tenon/compiler/export/c_description.h"

#include <algorithm>
#include <cctype>

#include "tenon/runtime/program.h"
#include "tenon/support/ndarray.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// Text for a C comment, which a name from outside must not end.
std::string Comment(std::string text) {
  for (char& c : text) {
    if (std::isprint(static_cast<unsigned char>(c)) == 0) c = '?';
  }
  for (std::size_t at = 0; (at = text.find("*/", at)) != std::string::npos;) text[at + 1] = '?';
  return text;
}

void Describe(const char* list, const std::vector<CArray>& arrays, bool has_variables,
              std::string* text) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const CArray& array = arrays[i];
    StrAppend(text, "     ", list, "[", i, "]: ", Comment(array.name),
              array.name.empty() ? "" : ", ", array.dtype.ToString(), " ");
    if (has_variables) {
      const auto extent = [](std::string* out, const Dim& dim) { *out += Comment(dim.ToString()); };
      StrAppend(text, "(", StrJoin(array.extents, ", ", extent), ")\n");
      continue;
    }
    Shape shape;
    for (const Dim& dim : array.extents) shape.push_back(dim.value());
    StrAppend(text, ShapeToString(shape), ", ", NumBytes(shape, array.dtype), " bytes\n");
  }
}

}  // namespace

void AddMacros(const CInterface& described, jit::CFile* file) {
  const std::string upper = Upper(described.name);
  file->AddToHeader(StrCat("#define ", upper, "_NUM_INPUTS ", described.inputs.size(), "\n#define ",
                           upper, "_NUM_OUTPUTS ", described.outputs.size(), "\n"));
  if (described.workspace_bytes)
    file->AddToHeader(
        StrCat("#define ", upper, "_WORKSPACE_BYTES ", *described.workspace_bytes, "\n"));
  file->AddToHeader("\n");
}

std::string DescribeRun(const CInterface& described) {
  const bool has_variables = !described.workspace_bytes;
  std::string text = "Runs the whole graph. Arrays are row-major and aligned to their elements:\n";
  Describe("inputs", described.inputs, has_variables, &text);
  Describe("outputs", described.outputs, has_variables, &text);
  if (has_variables) text += "   shapes[i]: the extents of inputs[i].\n";
  if (has_variables && described.calls_functions) {
    text +=
        "   outputs[k] is taken from malloc, and the caller frees it; NULL where it gives not "
        "0.\n   output_shapes[k]: gets the extents of outputs[k]";
  } else {
    StrAppend(&text, "   workspace: ",
              has_variables ? StrCat(described.name, "_workspace_bytes(shapes)")
                            : StrCat(Upper(described.name), "_WORKSPACE_BYTES (",
                                     *described.workspace_bytes, ")"),
              " bytes of memory that no other call uses meanwhile, or\n   NULL: taken and given ",
              "back in the call. No two of these may overlap");
  }
  text += ".\n   Gives 0; 1 when memory is out";
  if (has_variables)
    StrAppend(&text, "; 2 for shapes ", described.calls_functions ? "and values " : "",
              "that the model does not take");
  if (!described.cpu_features.empty())
    StrAppend(&text, "; 3 when the CPU has not all of ", StrJoin(described.cpu_features, ", "));
  if (described.calls_functions)
    StrAppend(&text, "; 4 when more than ", runtime::kMaxCallDepth,
              " calls wait for others.\n   What it carries from call to call is taken from malloc");
  return text + ".";
}

}  // namespace tenon::compiler
