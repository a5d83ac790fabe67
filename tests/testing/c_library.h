// Generated C as a user would use it: compiled by the system's compiler alone and loaded.
#ifndef TENON_TESTS_TESTING_C_LIBRARY_H_
#define TENON_TESTS_TESTING_C_LIBRARY_H_

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tenon/support/ndarray.h"
#include "tenon/support/strings.h"

namespace tenon::jit {

// A folder that goes away with the test.
class ScopedFolder {
 public:
  ScopedFolder() {
    static std::atomic<int> next{0};
    path_ = std::filesystem::path(::testing::TempDir()) / StrCat("tenon_c_", getpid(), "_", next++);
    std::filesystem::create_directories(path_);
  }
  ~ScopedFolder() { std::filesystem::remove_all(path_); }
  ScopedFolder(const ScopedFolder&) = delete;
  ScopedFolder& operator=(const ScopedFolder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}
inline std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

// Runs `command` with its output collected; empty when it succeeds.
inline std::string FailureOf(const std::string& command, const ScopedFolder& folder) {
  const int status =
      std::system(StrCat(command, " >", folder / "said", " 2>&1").c_str());  // NOLINT
  return status == 0 ? "" : StrCat(command, "\n", ReadText(folder / "said"), "status ", status);
}

constexpr const char* kStrictC =
    "gcc -std=c99 -Wall -Wextra -Werror -shared -fPIC -O3 -march=native";

// DLPack's DLTensor, as the generated text declares it.
struct PackedTensor {
  void* data;
  std::int32_t device_type, device_id, ndim;
  std::uint8_t code, bits;
  std::uint16_t lanes;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
static_assert(sizeof(PackedTensor) == 48);

using PackedFunction = std::int32_t (*)(void*, void*, std::int32_t, void*, void*, void*);

class CLibrary {
 public:
  explicit CLibrary(const std::string& source, const std::string& compiler = kStrictC) {
    WriteText(folder_ / "kernel.c", source);
    failure_ = FailureOf(StrCat(compiler, " ", folder_ / "kernel.c", " -lm -o ", folder_ / "k.so"),
                         folder_);
    if (failure_.empty()) handle_ = dlopen((folder_ / "k.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (failure_.empty() && handle_ == nullptr) failure_ = dlerror();
  }
  ~CLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  CLibrary(const CLibrary&) = delete;
  CLibrary& operator=(const CLibrary&) = delete;

  const std::string& failure() const { return failure_; }
  template <typename Function>
  Function Find(const std::string& name) const {
    return reinterpret_cast<Function>(dlsym(handle_, name.c_str()));
  }

  // Calls the packed function `name`; its result.
  std::int32_t Call(const std::string& name, const std::vector<NDArray>& arrays) const {
    std::vector<PackedTensor> tensors;
    for (const NDArray& a : arrays) tensors.push_back(Packed(a));
    return Call(name, tensors);
  }
  std::int32_t Call(const std::string& name, std::vector<PackedTensor>& tensors) const {
    std::vector<void*> values;
    for (PackedTensor& t : tensors) values.push_back(&t);
    std::vector<std::int32_t> codes(values.size(), 7);
    const auto function = Find<PackedFunction>(name);
    if (function == nullptr) return -1;
    return function(values.data(), codes.data(), static_cast<std::int32_t>(values.size()), nullptr,
                    nullptr, nullptr);
  }

  static PackedTensor Packed(const NDArray& a) {
    return {.data = a.raw(),
            .device_type = 1,
            .device_id = 0,
            .ndim = static_cast<std::int32_t>(a.shape().size()),
            .code = static_cast<std::uint8_t>(a.dtype().code()),
            .bits = static_cast<std::uint8_t>(a.dtype().is_bool() ? 8 : a.dtype().bits()),
            .lanes = 1,
            .shape = const_cast<std::int64_t*>(a.shape().data()),
            .strides = nullptr,
            .byte_offset = 0};
  }

 private:
  ScopedFolder folder_;
  std::string failure_;
  void* handle_ = nullptr;
};

}  // namespace tenon::jit

#endif  // TENON_TESTS_TESTING_C_LIBRARY_H_
