#include "tenon/verify/check/exported_library.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include <dlfcn.h>

#include "tenon/runtime/run_time_extents.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::verify {
namespace {

using Arrays = std::vector<NDArray>;
using runtime::Inputs;
using runtime::NodeKind;

constexpr unsigned char kGuard = 0xA5;
constexpr std::size_t kGuardBytes = 128;

// Memory between guards, at an address that is a multiple of `alignment` and of no larger power of
// two.
class Guarded {
 public:
  Guarded(std::size_t bytes, std::size_t alignment) : bytes_(bytes) {
    memory_.assign(bytes + 2 * kGuardBytes + 2 * alignment, kGuard);
    const std::size_t misplaced =
        reinterpret_cast<std::uintptr_t>(memory_.data() + kGuardBytes) % (2 * alignment);
    begin_ = kGuardBytes + (3 * alignment - misplaced) % (2 * alignment);
  }
  unsigned char* data() { return memory_.data() + begin_; }
  void Require(const std::string& what) const {
    const auto is_guard = [](unsigned char byte) { return byte == kGuard; };
    const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(begin_);
    if (!std::all_of(memory_.begin(), begin, is_guard))
      throw DataLoss(StrCat("the library writes before ", what));
    if (!std::all_of(begin + static_cast<std::ptrdiff_t>(bytes_), memory_.end(), is_guard))
      throw DataLoss(StrCat("the library writes after ", what));
  }

 private:
  std::vector<unsigned char> memory_;
  std::size_t begin_ = 0, bytes_;
};

std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

// What each of `shapes` points to.
class ExportedLibrary::Shapes {
 public:
  Shapes(const runtime::Plan& plan, const Inputs& inputs) {
    for (const runtime::Node& node : plan.nodes) {
      if (node.kind == NodeKind::kInput) owned_.push_back(inputs.at(node.name).shape());
    }
    for (const Shape& shape : owned_) data_.push_back(shape.data());
  }
  const std::int64_t* const* data() const { return data_.data(); }

 private:
  std::vector<Shape> owned_;
  std::vector<const std::int64_t*> data_;
};

ExportedLibrary::ExportedLibrary(const std::string& path, const std::string& header,
                                 std::string name, const runtime::Plan& plan)
    : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)),
      header_(TextOf(header)),
      name_(std::move(name)),
      plan_(plan) {
  if (handle_ == nullptr) throw DataLoss(StrCat("the library cannot be loaded: ", dlerror()));
}
ExportedLibrary::~ExportedLibrary() { dlclose(handle_); }

template <typename Function>
Function ExportedLibrary::Find(const std::string& function) const {
  void* found = dlsym(handle_, StrCat(name_, function).c_str());
  if (found == nullptr) throw DataLoss(StrCat("the library has no function ", name_, function));
  return reinterpret_cast<Function>(found);
}

bool ExportedLibrary::Takes(const Inputs& inputs) const {
  if (plan_.symbols.empty()) return true;
  const Shapes shapes(plan_, inputs);
  using Run = std::int32_t (*)(const void* const*, const std::int64_t* const*, void* const*, void*);
  if (WorkspaceBytes(shapes) >= 0) return true;
  // Before any array is touched.
  if (Find<Run>("_run")(nullptr, shapes.data(), nullptr, nullptr) != 2)
    throw DataLoss("the library takes shapes for which it names no workspace");
  return false;
}

std::vector<Shape> ExportedLibrary::OutputShapes(const Shapes& shapes) const {
  std::vector<Shape> outputs;
  for (const runtime::EntryRef head : plan_.heads) outputs.push_back(plan_.entry(head).shape);
  if (plan_.symbols.empty()) return outputs;
  std::vector<std::int64_t*> data;
  for (Shape& shape : outputs) data.push_back(shape.data());
  using Write = std::int32_t (*)(const std::int64_t* const*, std::int64_t* const*);
  if (Find<Write>("_output_shapes")(shapes.data(), data.data()) != 0)
    throw DataLoss("the library has no shapes of outputs for shapes that it takes");
  return outputs;
}

std::int64_t ExportedLibrary::WorkspaceBytes(const Shapes& shapes) const {
  using Bytes = std::int64_t (*)(const std::int64_t* const*);
  if (!plan_.symbols.empty()) return Find<Bytes>("_workspace_bytes")(shapes.data());
  constexpr std::string_view kMacro = "_WORKSPACE_BYTES ";
  const std::size_t at = header_.find(kMacro);
  if (at == std::string::npos) throw DataLoss("the header does not say how large a workspace is");
  return std::atoll(header_.c_str() + at + kMacro.size());
}

Arrays ExportedLibrary::Run(const Inputs& inputs, bool gives_workspace) const {
  const Shapes shapes(plan_, inputs);
  std::vector<std::pair<NDArray, Guarded>> given;
  std::vector<const void*> in;
  for (const runtime::Node& node : plan_.nodes) {
    if (node.kind != NodeKind::kInput) continue;
    const NDArray& array = inputs.at(node.name);
    given.emplace_back(array, Guarded(array.bytes(), array.dtype().bytes()));
    if (array.bytes() > 0) std::memcpy(given.back().second.data(), array.raw(), array.bytes());
  }
  for (auto& [array, memory] : given) in.push_back(memory.data());
  std::vector<Guarded> outputs;
  Arrays results;
  const std::vector<Shape> output_shapes = OutputShapes(shapes);
  for (std::size_t k = 0; k < output_shapes.size(); ++k) {
    const DataType type = plan_.entry(plan_.heads[k]).dtype;
    results.push_back(NDArray::Zeros(output_shapes[k], type));
    outputs.emplace_back(results.back().bytes(), type.bytes());
  }
  std::vector<void*> out;
  for (Guarded& output : outputs) out.push_back(output.data());
  const auto run = [&](void* workspace) {
    if (plan_.symbols.empty()) {
      using Run = std::int32_t (*)(const void* const*, void* const*, void*);
      return Find<Run>("_run")(in.data(), out.data(), workspace);
    }
    using Run =
        std::int32_t (*)(const void* const*, const std::int64_t* const*, void* const*, void*);
    return Find<Run>("_run")(in.data(), shapes.data(), out.data(), workspace);
  };
  Guarded workspace(gives_workspace ? static_cast<std::size_t>(WorkspaceBytes(shapes)) : 0, 1);
  const std::int32_t status = run(gives_workspace ? workspace.data() : nullptr);
  workspace.Require("the workspace");
  if (status != 0) throw DataLoss(StrCat("the library gives the status ", status));
  for (std::size_t i = 0; i < given.size(); ++i) {
    auto& [array, memory] = given[i];
    memory.Require(StrCat("input ", i));
    if (array.bytes() > 0 && std::memcmp(memory.data(), array.raw(), array.bytes()) != 0)
      throw DataLoss(StrCat("the library changes input ", i));
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    outputs[k].Require(StrCat("output ", k));
    if (results[k].bytes() > 0)
      std::memcpy(results[k].raw(), outputs[k].data(), results[k].bytes());
  }
  return runtime::CutToExtents(std::move(results), plan_.extents);
}

}  // namespace tenon::verify
