#include "tenon/verify/check/exported_program.h"

#include <cstdint>
#include <cstdlib>

#include <dlfcn.h>

#include "tenon/compiler/export/c_frame_extents.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::verify {
namespace {

using Arrays = std::vector<NDArray>;

std::vector<const void*> DataOf(const Arrays& arrays) {
  std::vector<const void*> data;
  for (const NDArray& array : arrays) data.push_back(array.raw());
  return data;
}

}  // namespace

ExportedProgram::ExportedProgram(const std::string& path, const std::string& name,
                                 const LoweredProgram& program)
    : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)),
      run_(nullptr),
      program_(program),
      has_variables_(compiler::HasVariables(program.program)) {
  if (handle_ == nullptr) throw DataLoss(StrCat("the library cannot be loaded: ", dlerror()));
  run_ = dlsym(handle_, (name + "_run").c_str());
  if (run_ == nullptr) throw DataLoss(StrCat("the library has no function ", name, "_run"));
}
ExportedProgram::~ExportedProgram() { dlclose(handle_); }

std::optional<Arrays> ExportedProgram::Run(const runtime::Inputs& inputs) const {
  Arrays given;
  for (const runtime::Node& node : program_.whole.plan.nodes)
    given.push_back(inputs.at(node.name).Clone());
  std::optional<Arrays> results = has_variables_ ? RunOfVariables(given) : RunOfNumbers(given);
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i].SameBytes(inputs.at(program_.whole.plan.nodes[i].name)))
      throw DataLoss(StrCat("the program changes input ", i));
  }
  return results;
}

std::optional<Arrays> ExportedProgram::RunOfVariables(const Arrays& inputs) const {
  std::vector<const std::int64_t*> shapes;
  for (const NDArray& input : inputs) shapes.push_back(input.shape().data());
  const std::vector<runtime::ArrayType>& types = program_.program.functions[0].result_types;
  const std::size_t count = types.size() - program_.program.extents.size();
  std::vector<Shape> extents;
  std::vector<std::int64_t*> places;
  for (std::size_t k = 0; k < count; ++k) extents.emplace_back(types[k].extents.size(), -1);
  for (Shape& shape : extents) places.push_back(shape.data());
  std::vector<void*> out(count, nullptr);
  using Function = std::int32_t (*)(const void* const*, const std::int64_t* const*, void**,
                                    std::int64_t* const*);
  const std::int32_t status = reinterpret_cast<Function>(run_)(DataOf(inputs).data(), shapes.data(),
                                                               out.data(), places.data());
  Arrays results;
  for (std::size_t k = 0; k < count; ++k) {
    if ((out[k] == nullptr) == (status == 0))
      throw DataLoss(StrCat("the status is ", status, ", and result ", k, " is ",
                            out[k] == nullptr ? "not " : "", "there"));
    if (out[k] == nullptr) continue;
    results.push_back(NDArray::View(extents[k], types[k].dtype, out[k], nullptr).Clone());
    std::free(out[k]);  // NOLINT: it is from malloc
  }
  if (status != 0) return std::nullopt;
  return results;
}

std::optional<Arrays> ExportedProgram::RunOfNumbers(const Arrays& inputs) const {
  Arrays results;
  std::vector<void*> out;
  for (const runtime::ArrayType& type : program_.program.functions[0].result_types) {
    Shape shape;
    for (const Dim& extent : type.extents) shape.push_back(extent.value());
    results.push_back(NDArray::Zeros(shape, type.dtype));
    out.push_back(results.back().raw());
  }
  using Function = std::int32_t (*)(const void* const*, void* const*, void*);
  const std::int32_t status =
      reinterpret_cast<Function>(run_)(DataOf(inputs).data(), out.data(), nullptr);
  if (status != 0) return std::nullopt;
  return results;
}

}  // namespace tenon::verify
