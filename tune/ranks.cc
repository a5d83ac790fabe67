#include "tenon/tune/ranks.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include <dlfcn.h>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tune/mpi_module.h"
#include "tenon/tune/shipped.h"

namespace tenon::tune {
namespace {

constexpr char kFile[] = "tenon-mpi.so";

// How many processes were started together, as far as the environment says: by Open MPI, by MPICH
// and others that speak PMI, by srun.
int ExpectedSize() {
  const char* pmix = std::getenv("PMIX_RANK");
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", pmix ? "SLURM_NTASKS" : ""}) {
    const char* text = std::getenv(name);
    const auto size = ParseNumber<int>(text == nullptr ? "" : text);
    if (size) return *size;
  }
  return 1;
}

}  // namespace

bool Ranks::AreExpected() { return ExpectedSize() > 1; }

absl::StatusOr<Ranks> Ranks::Start() {
  return CatchErrors([&] {
    const std::string started = StrCat("mpirun has started ", ExpectedSize(), " processes");
    const std::filesystem::path file = ShippedFile(kFile, TENON_MODULE_FOLDER);
    if (file.empty())
      throw Unimplemented(StrCat(started,
                                 ", but this Tenon has no MPI: it was built where MPI was not "
                                 "found, or ",
                                 kFile, " is not installed"));
    // Open MPI loads parts of its own, which look for symbols of the process.
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr)
      throw Unimplemented(
          StrCat(started, ", but the module that speaks MPI cannot be loaded: ", dlerror()));
    auto* entry = reinterpret_cast<decltype(&TenonMpiModule1)>(dlsym(library, "TenonMpiModule1"));
    if (entry == nullptr)
      throw FailedPrecondition(StrCat(file.string(), " is of another version of Tenon"));
    Ranks ranks;
    const TenonMpiModule* module = entry();
    if (const int error = module->start(&ranks.rank_, &ranks.size_); error != 0)
      throw FailedPrecondition(StrCat("MPI does not start: error ", error));
    ranks.module_.reset(module);
    if (ranks.size_ != ExpectedSize())
      throw FailedPrecondition(StrCat(started, ", of which MPI knows ", ranks.size_,
                                      ": this Tenon was built with "
                                      "another MPI than the one whose mpirun has started it"));
    return ranks;
  });
}

void Ranks::Finish::operator()(const TenonMpiModule* module) const { module->finish(); }

Ranks::~Ranks() = default;

bool Ranks::Send(int to, const std::string& text) {
  return module_->send(to, text.data(), static_cast<int>(text.size())) == 0;
}

std::optional<std::pair<int, std::string>> Ranks::Receive() {
  int from = 0;
  const int size = module_->probe(&from);
  if (size < 0) return std::nullopt;
  std::string text(static_cast<std::size_t>(size), '\0');
  if (module_->receive(from, text.data(), size) != 0) return std::nullopt;
  return std::pair(from, std::move(text));
}

}  // namespace tenon::tune
