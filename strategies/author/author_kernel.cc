#include "tenon/strategies/author/author_kernel.h"

#include <memory>
#include <utility>
#include <variant>

namespace tenon::strategies {
namespace {

using KernelPointer = std::shared_ptr<const jit::Callable>;

class AuthorKernel : public jit::Callable {
 public:
  AuthorKernel(ops::AuthorSite site, std::string what, KernelPointer kernel)
      : site_(std::move(site)), what_(std::move(what)), kernel_(std::move(kernel)) {}

  void Call(void* const* buffers, void* workspace) const override {
    ops::RunAuthorCode(site_, what_, [&] { kernel_->Call(buffers, workspace); });
  }
  std::size_t workspace_bytes() const override { return kernel_->workspace_bytes(); }
  std::string implementation() const override { return kernel_->implementation(); }
  std::string Text(jit::KernelText kind) const override { return kernel_->Text(kind); }

 private:
  const ops::AuthorSite site_;
  const std::string what_;
  const KernelPointer kernel_;
};

}  // namespace

Built GuardRuns(const ops::AuthorSite& site, const std::string& what, Built built) {
  if (auto* kernel = std::get_if<KernelPointer>(&built.kernel); kernel != nullptr && *kernel)
    *kernel = std::make_shared<AuthorKernel>(site, what, std::move(*kernel));
  return built;
}

}  // namespace tenon::strategies
