#include "tenon/compiler/plan/joined_kernel.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using jit::Callable;
using strategies::Built;
using strategies::Side;

// A generated kernel, and where the workspace holds what lies between it and the library's.
struct Part {
  std::shared_ptr<const Callable> kernel;
  std::size_t arguments = 0;
  std::size_t results = 0;
  std::size_t offset = 0;
};

class JoinedKernel : public Callable {
 public:
  JoinedKernel(const Built& built, const std::function<std::shared_ptr<const Callable>()>& next)
      : library_(std::get<std::shared_ptr<const Callable>>(built.kernel)),
        library_arguments_(built.arguments.size()) {
    std::size_t bytes = library_->workspace_bytes();
    const auto take = [&](const std::optional<Side>& side) -> std::optional<Part> {
      if (!side) return std::nullopt;
      Part part{.kernel = next(),
                .arguments = side->arguments,
                .results = side->function.buffers.size() - side->arguments - 1,
                .offset = between_bytes_};
      between_bytes_ += RoundUp(side->bytes, kAlignment);
      bytes = std::max(bytes, part.kernel->workspace_bytes());
      return part;
    };
    before_ = take(built.before);
    after_ = take(built.after);
    if (after_) library_arguments_ -= after_->arguments;
    workspace_bytes_ = between_bytes_ + bytes;
  }

  std::size_t workspace_bytes() const override { return workspace_bytes_; }
  std::string implementation() const override {
    return StrCat(before_ ? StrCat(before_->kernel->implementation(), " + ") : "",
                  library_->implementation(),
                  after_ ? StrCat(" + ", after_->kernel->implementation()) : "");
  }

  std::string Text(jit::KernelText kind) const override {
    return StrCat(before_ ? before_->kernel->Text(kind) : "",
                  after_ ? after_->kernel->Text(kind) : "");
  }

  void Call(void* const* buffers, void* workspace) const override {
    char* const room = static_cast<char*>(workspace);
    void* const rest = room + between_bytes_;
    std::vector<void*> library(buffers, buffers + library_arguments_);
    if (before_) {
      void* const made = room + before_->offset;
      void* const arrays[] = {buffers[0], made};
      before_->kernel->Call(arrays, rest);
      library[0] = made;
    }
    buffers += library_arguments_;
    library.push_back(after_ ? room + after_->offset : buffers[0]);
    library_->Call(library.data(), rest);
    if (!after_) return;
    std::vector<void*> arrays(buffers, buffers + after_->arguments);
    arrays.push_back(library.back());
    arrays.insert(arrays.end(), buffers + after_->arguments,
                  buffers + after_->arguments + after_->results);
    after_->kernel->Call(arrays.data(), rest);
  }

 private:
  std::shared_ptr<const Callable> library_;
  std::size_t library_arguments_;
  std::optional<Part> before_;
  std::optional<Part> after_;
  std::size_t between_bytes_ = 0;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace

std::shared_ptr<const Callable> Join(const Built& built,
                                     const std::function<std::shared_ptr<const Callable>()>& next) {
  if (!built.before && !built.after) return std::get<std::shared_ptr<const Callable>>(built.kernel);
  return std::make_shared<JoinedKernel>(built, next);
}

}  // namespace tenon::compiler
