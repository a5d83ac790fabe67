#include "tenon/runtime/saved_executable.h"

#include <filesystem>
#include <memory>
#include <new>
#include <utility>

#include <dlfcn.h>

#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/runtime/saved_library.h"
#include "tenon/runtime/saved_plan.h"
#include "tenon/runtime/symbolic_executable.h"
#include "tenon/runtime/verify_plan.h"
#include "tenon/support/error.h"
#include "tenon/support/mapped_file.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

namespace fs = std::filesystem;

// The kernels' code in memory.
class Library {
 public:
  explicit Library(const std::string& path) {
    // A path without a slash would be looked up in the system's folders.
    handle_ = dlopen(fs::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
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

  void* handle_ = nullptr;
  const TenonSavedLibrary* table_ = nullptr;
};

class SavedKernel : public jit::Callable {
 public:
  SavedKernel(std::shared_ptr<const Library> library, const TenonSavedKernel& kernel,
              std::vector<std::int64_t> extents)
      : library_(std::move(library)), kernel_(kernel), extents_(std::move(extents)) {}
  void Call(void* const* buffers, void*) const override {
    if (kernel_.code(buffers, extents_.data()) != 0) throw std::bad_alloc();
  }
  std::string implementation() const override { return "tenon"; }

 private:
  std::shared_ptr<const Library> library_;
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

// Code reads and writes as many bytes as it says, whatever the plan says.
void RequireFits(const Plan& plan, const Node& node, const TenonSavedKernel& kernel,
                 const std::vector<std::int64_t>& extents) {
  std::vector<std::int64_t> bytes;
  for (const EntryRef input : node.inputs)
    bytes.push_back(static_cast<std::int64_t>(plan.entry(input).bytes()));
  for (const Entry& output : node.outputs)
    bytes.push_back(static_cast<std::int64_t>(output.bytes()));
  std::vector<std::int64_t> wanted(static_cast<std::size_t>(kernel.num_buffers));
  const bool has_all = extents.size() == static_cast<std::size_t>(kernel.num_extents);
  if (has_all) kernel.bytes(extents.data(), wanted.data());
  if (!has_all || bytes != wanted)
    throw DataLoss(
        StrCat("node ", node.name, " has other arrays than its kernel, ", kernel.name, ", takes"));
}

std::vector<NDArray> ConstantsOf(const SavedPlan& saved,
                                 const std::shared_ptr<const MappedFile>& params) {
  std::vector<NDArray> constants(saved.constants_at.size());
  for (const Node& node : saved.plan.nodes) {
    if (node.kind != NodeKind::kConstant) continue;
    const auto index = static_cast<std::size_t>(node.constant);
    const Entry& entry = node.outputs[0];
    constants[index] =
        NDArray::View(entry.shape, entry.dtype, params->data() + saved.constants_at[index], params);
  }
  return constants;
}

// Each plan for values is checked as a saved plan of numbers is.
Executable Symbolic(Plan plan, const std::shared_ptr<const Library>& library,
                    std::vector<NDArray> constants, int threads) {
  const std::size_t num_constants = constants.size();
  return MakeSymbolicExecutable(
      {.plan = std::move(plan),
       .constants = std::move(constants),
       .kernel_for =
           [library](int kernel, std::vector<std::int64_t> extents) {
             return std::make_shared<SavedKernel>(library, library->table().kernels[kernel],
                                                  std::move(extents));
           },
       .check =
           [library, num_constants](const PlanAtValues& at) {
             VerifyPlan(at.plan, at.kernels.size(), num_constants);
             for (const Node& node : at.plan.nodes) {
               if (node.kind != NodeKind::kKernel) continue;
               const KernelUse& use = at.kernels[static_cast<std::size_t>(node.kernel)];
               RequireFits(at.plan, node, library->table().kernels[use.kernel], use.extents);
             }
           },
       .threads = threads});
}

SavedExecutable Load(const fs::path& folder, const LoadOptions& options) {
  const auto text = [&](const char* file) {
    return std::string(MappedFile::Open((folder / file).string())->bytes());
  };
  SavedPlan saved = ParseSavedPlan({.graph = text(kGraphFile), .manifest = text(kManifestFile)});
  const auto params = MappedFile::Open((folder / kParamsFile).string());
  if (params->size() != saved.params.bytes ||
      (options.check_params && FileMark::Of(params->bytes()) != saved.params))
    throw DataLoss(StrCat(kParamsFile, " is not the file that was saved"));
  const std::string kernels_path = (folder / kKernelsFile).string();
  // The dynamic linker trusts a file to be whole.
  if (FileMark::Of(MappedFile::Open(kernels_path)->bytes()) != saved.kernels_file)
    throw DataLoss(StrCat(kKernelsFile, " is not the file that was saved"));
  const auto library = std::make_shared<const Library>(kernels_path);
  RequireSameKernels(library->table(), saved.kernels);
  // Before the plan moves.
  std::vector<NDArray> constants = ConstantsOf(saved, params);
  if (!saved.plan.symbols.empty())
    return {Symbolic(std::move(saved.plan), library, std::move(constants), saved.threads),
            std::move(saved.result_names)};
  for (const Node& node : saved.plan.nodes) {
    if (node.kind == NodeKind::kKernel)
      RequireFits(saved.plan, node, library->table().kernels[node.kernel], {});
  }
  std::vector<std::shared_ptr<const jit::Callable>> kernels;
  for (std::size_t k = 0; k < saved.kernels.size(); ++k)
    kernels.push_back(std::make_shared<SavedKernel>(library, library->table().kernels[k],
                                                    std::vector<std::int64_t>()));
  return {Executable({.plan = std::move(saved.plan),
                      .kernels = std::move(kernels),
                      .constants = std::move(constants),
                      .threads = saved.threads,
                      .bind = nullptr}),
          std::move(saved.result_names)};
}

}  // namespace

bool IsSavedExecutable(const std::string& folder) {
  std::error_code ignored;
  return fs::is_regular_file(fs::path(folder) / kManifestFile, ignored);
}

absl::StatusOr<SavedExecutable> LoadExecutable(const std::string& folder,
                                               const LoadOptions& options) {
  return CatchErrors([&] {
    try {
      return Load(folder, options);
    } catch (Error& error) {
      throw error.AddNote(StrCat("the saved executable ", folder));
    }
  });
}

}  // namespace tenon::runtime
