// The library speaks C (runtime/saved_library.h). What it says of the arrays of a kernel is
// compared with each plan that calls the kernel.
//
// The dynamic linker knows libraries by their paths: asked for one that it has, it does not look at
// the file again. So each load gets a copy in memory, whose path no other library has as long as
// its descriptor is open.
#include "tenon/runtime/saved_kernels.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/runtime/saved_library.h"
#include "tenon/runtime/saved_plan.h"
#include "tenon/runtime/verify_plan.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {

namespace {

// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : file_(memfd_create(kKernelsFile, MFD_CLOEXEC)) {
    while (file_ >= 0 && !bytes.empty()) {
      const ssize_t written = write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0)
        Close();
      else
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    if (file_ < 0)
      throw Error(absl::StatusCode::kResourceExhausted,
                  StrCat("there is no memory for a copy of ", kKernelsFile));
  }
  ~MemoryFile() { Close(); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return StrCat("/proc/self/fd/", file_); }

 private:
  void Close() {
    if (file_ >= 0) close(file_);
    file_ = -1;
  }

  int file_;
};

}  // namespace

// The code in memory.
class SavedKernels::Library {
 public:
  explicit Library(std::string_view bytes) : file_(bytes) {
    handle_ = dlopen(file_.path().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) throw DataLoss(StrCat(kKernelsFile, " cannot be loaded: ", dlerror()));
    using Start = const TenonSavedLibrary* (*)(const TenonSavedRuntime*);
    const auto start = reinterpret_cast<Start>(dlsym(handle_, "TenonSavedLibrary2"));
    if (start == nullptr) {
      Close();
      throw DataLoss(StrCat(kKernelsFile, " has no kernels of a saved executable"));
    }
    static constexpr TenonSavedRuntime kRuntime = {.parallel_for = jit::ParallelFor,
                                                   .take_memory = jit::TakeMemory,
                                                   .give_memory = jit::GiveMemory};
    table_ = start(&kRuntime);
    if (table_->missing_feature != nullptr) {
      const std::string feature = table_->missing_feature;
      Close();
      throw FailedPrecondition(
          StrCat(kKernelsFile, " is code for a CPU with ", feature, ", which this one lacks"));
    }
  }
  ~Library() { Close(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const TenonSavedLibrary& table() const { return *table_; }

 private:
  void Close() {
    if (handle_ != nullptr) dlclose(handle_);
    handle_ = nullptr;
  }

  const MemoryFile file_;
  void* handle_ = nullptr;
  const TenonSavedLibrary* table_ = nullptr;
};

namespace {

class SavedKernel : public jit::Callable {
 public:
  // `library` holds the kernel.
  SavedKernel(std::shared_ptr<const void> library, const TenonSavedKernel& kernel,
              std::vector<std::int64_t> extents)
      : library_(std::move(library)), kernel_(kernel), extents_(std::move(extents)) {}
  void Call(void* const* buffers, void*) const override {
    if (kernel_.code(buffers, extents_.data()) != 0) throw std::bad_alloc();
  }
  std::string implementation() const override { return "tenon"; }

 private:
  std::shared_ptr<const void> library_;
  const TenonSavedKernel& kernel_;
  const std::vector<std::int64_t> extents_;
};

void RequireSameKernels(const TenonSavedLibrary& table, const std::vector<std::string>& names) {
  if (static_cast<std::size_t>(table.num_kernels) != names.size())
    throw DataLoss(StrCat(kKernelsFile, " has ", table.num_kernels, " kernels and ", kManifestFile,
                          " names ", names.size()));
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (names[k] != table.kernels[k].name)
      throw DataLoss(StrCat("kernel ", k, " is ", table.kernels[k].name, " in ", kKernelsFile,
                            " and ", names[k], " in ", kManifestFile));
  }
}

}  // namespace

SavedKernels::SavedKernels(std::string_view library, const std::vector<std::string>& names)
    : library_(std::make_shared<const Library>(library)) {
  RequireSameKernels(library_->table(), names);
}

void SavedKernels::RequireFits(const Plan& plan, const Node& node, int index,
                               const std::vector<std::int64_t>& extents) const {
  // It is not called, so it may get an extent of 0 that its code does not take.
  if (std::ranges::all_of(node.outputs, [](const Entry& o) { return NumElements(o.shape) == 0; }))
    return;
  const TenonSavedKernel& kernel = library_->table().kernels[index];
  std::vector<std::int64_t> bytes;
  for (const EntryRef input : node.inputs)
    bytes.push_back(static_cast<std::int64_t>(plan.entry(input).bytes()));
  for (const Entry& output : node.outputs)
    bytes.push_back(static_cast<std::int64_t>(output.bytes()));
  std::vector<std::int64_t> wanted(static_cast<std::size_t>(kernel.num_buffers));
  const bool has_all = extents.size() == static_cast<std::size_t>(kernel.num_extents) &&
                       std::ranges::none_of(extents, [](std::int64_t e) { return e < 0; });
  if (has_all) kernel.bytes(extents.data(), wanted.data());
  if (!has_all || bytes != wanted)
    throw DataLoss(
        StrCat("node ", node.name, " has other arrays than its kernel, ", kernel.name, ", takes"));
}

void SavedKernels::RequireFits(const PlanAtValues& at, std::size_t num_constants) const {
  VerifyPlan(at.plan, at.kernels.size(), num_constants);
  for (const Node& node : at.plan.nodes) {
    if (node.kind != NodeKind::kKernel) continue;
    const KernelUse& use = at.kernels[static_cast<std::size_t>(node.kernel)];
    RequireFits(at.plan, node, use.kernel, use.extents);
  }
}

std::shared_ptr<const jit::Callable> SavedKernels::Get(int kernel,
                                                       std::vector<std::int64_t> extents) const {
  return std::make_shared<SavedKernel>(library_, library_->table().kernels[kernel],
                                       std::move(extents));
}

std::vector<std::shared_ptr<const jit::Callable>> SavedKernels::All() const {
  std::vector<std::shared_ptr<const jit::Callable>> all;
  for (int k = 0; k < library_->table().num_kernels; ++k) {
    const auto extents = static_cast<std::size_t>(library_->table().kernels[k].num_extents);
    all.push_back(Get(k, std::vector<std::int64_t>(extents, 1)));
  }
  return all;
}

SymbolicParts SavedKernels::PartsFor(Plan plan, std::vector<NDArray> constants, int threads) const {
  const std::size_t num_constants = constants.size();
  return {.plan = std::move(plan),
          .constants = std::move(constants),
          .kernel_for =
              [kernels = *this](int kernel, std::vector<std::int64_t> extents) {
                return kernels.Get(kernel, std::move(extents));
              },
          .check = [kernels = *this, num_constants](
                       const PlanAtValues& at) { kernels.RequireFits(at, num_constants); },
          .threads = threads};
}

}  // namespace tenon::runtime
