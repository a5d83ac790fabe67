// The functions of an exported graph (compiler/export.h), called with arrays that guards surround.
//
//   ExportedLibrary net("net.so", "net.h", "net", lowered.plan);
//   std::vector<NDArray> results = net.Run(inputs);  // throws DataLoss for a broken promise
#ifndef TENON_VERIFY_CHECK_EXPORTED_LIBRARY_H_
#define TENON_VERIFY_CHECK_EXPORTED_LIBRARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tenon/runtime/executable.h"

namespace tenon::verify {

class ExportedLibrary {
 public:
  // Throws DataLoss where the library cannot be loaded or lacks a function. The plan must outlive
  // this.
  ExportedLibrary(const std::string& path, const std::string& header, std::string name,
                  const runtime::Plan& plan);
  ~ExportedLibrary();
  ExportedLibrary(const ExportedLibrary&) = delete;
  ExportedLibrary& operator=(const ExportedLibrary&) = delete;

  // Whether the library takes inputs of these shapes; always where the plan has no variables.
  bool Takes(const runtime::Inputs& inputs) const;
  // The results, cut where values decide their extents. Arrays are aligned to their elements alone;
  // the workspace is the caller's or the library's. Throws DataLoss where guards around the arrays
  // or inputs change, or the library gives another status than 0.
  std::vector<NDArray> Run(const runtime::Inputs& inputs, bool gives_workspace) const;

 private:
  class Shapes;
  template <typename Function>
  Function Find(const std::string& function) const;
  std::vector<Shape> OutputShapes(const Shapes& shapes) const;
  std::int64_t WorkspaceBytes(const Shapes& shapes) const;

  void* handle_;
  const std::string header_;  // its text
  const std::string name_;
  const runtime::Plan& plan_;
};

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_EXPORTED_LIBRARY_H_
