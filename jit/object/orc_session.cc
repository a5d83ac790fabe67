// Each linked object gets a JITDylib of its own, which is removed as a whole when the object dies
// (LLVM, "ORC Design and Implementation", section "How to remove code"). All of them see one
// runtime dylib, which resolves names in this process and in libmvec.
#include "tenon/jit/object/orc_session.h"

#include <atomic>
#include <utility>

#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/ExecutorProcessControl.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "tenon/jit/bounds/bounds_report.h"
#include "tenon/jit/llvm/llvm_versions.h"
#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

using llvm::orc::ExecutionSession;
using llvm::orc::ExecutorAddr;
using llvm::orc::ExecutorSymbolDef;
using llvm::orc::JITDylib;

[[noreturn]] void Fail(std::string_view what, llvm::Error error) {
  throw Error(absl::StatusCode::kInternal,
              StrCat("JIT: ", what, ": ", llvm::toString(std::move(error))));
}

void Require(std::string_view what, llvm::Error error) {
  if (error) Fail(what, std::move(error));
}

template <typename T>
T Require(std::string_view what, llvm::Expected<T> value) {
  if (!value) Fail(what, value.takeError());
  return std::move(*value);
}

class OrcSessionImpl : public OrcSession {
 public:
  OrcSessionImpl()
      : session_(Require("this process cannot run made code",
                         llvm::orc::SelfExecutorProcessControl::Create())),
        linker_(session_,
                Require("no memory for code", llvm::jitlink::InProcessMemoryManager::Create())),
        runtime_(session_.createBareJITDylib("runtime")) {
    // Errors reach the caller through the look-up that fails, so the session need not print them as
    // well.
    session_.setErrorReporter([](llvm::Error error) { llvm::consumeError(std::move(error)); });
    const auto symbol = [](auto* function) {
      return ExecutorSymbolDef(ExecutorAddr::fromPtr(function),
                               llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable);
    };
    Require("the runtime's functions cannot be named",
            runtime_.define(llvm::orc::absoluteSymbols(
                {{session_.intern("tenon_parallel_for"), symbol(&ParallelFor)},
                 {session_.intern("tenon_take_memory"), symbol(&TakeMemory)},
                 {session_.intern("tenon_give_memory"), symbol(&GiveMemory)},
                 {session_.intern(ReportAccessFunction()->symbol), symbol(&ReportAccess)},
                 {session_.intern(AllFitFunction()->symbol), symbol(&AllFit)}})));
    LookIn("libmvec.so.1");
    runtime_.addGenerator(
        Require("the process's symbols cannot be read",
                llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess('\0')));
    // A program that loaded Tenon for itself alone, as Python and Node.js load libraries, does not
    // show what Tenon is linked with. That is mathematics and conversions to float16.
    LookIn("libm.so.6");
    LookIn("libgcc_s.so.1");
  }

  ~OrcSessionImpl() override {
    // There is nobody left to report a failure to, and the memory goes back with the process.
    llvm::consumeError(session_.endSession());
  }

  std::unique_ptr<LinkedObject> Link(std::string_view object,
                                     const SymbolAddresses& definitions) override;
  bool Knows(const std::string& symbol) override {
    auto found = session_.lookup({&runtime_}, session_.intern(symbol));
    if (found) return true;
    llvm::consumeError(found.takeError());
    return false;
  }

 private:
  friend class LinkedObjectImpl;

  void LookIn(const char* library) {
    runtime_.addGenerator(Require(StrCat(library, " cannot be loaded"),
                                  llvm::orc::DynamicLibrarySearchGenerator::Load(library, '\0')));
  }

  ExecutionSession session_;
  llvm::orc::ObjectLinkingLayer linker_;
  JITDylib& runtime_;
  std::atomic<std::int64_t> next_unit_{0};
};

class LinkedObjectImpl : public LinkedObject {
 public:
  LinkedObjectImpl(std::shared_ptr<OrcSessionImpl> session, JITDylib& unit)
      : session_(std::move(session)), unit_(unit) {}

  ~LinkedObjectImpl() override {
    llvm::consumeError(session_->session_.removeJITDylib(unit_));
    session_->session_.getSymbolStringPool()->clearDeadEntries();
  }

  void* Address(const std::string& symbol) const override {
    auto found = session_->session_.lookup({&unit_}, session_->session_.intern(symbol));
    if (!found) {
      throw NotFound(StrCat("JIT: ", symbol, ": ", llvm::toString(found.takeError())));
    }
    return found->getAddress().toPtr<void*>();
  }

 private:
  std::shared_ptr<OrcSessionImpl> session_;
  JITDylib& unit_;
};

std::unique_ptr<LinkedObject> OrcSessionImpl::Link(std::string_view object,
                                                   const SymbolAddresses& definitions) {
  JITDylib& unit = session_.createBareJITDylib(StrCat("unit", next_unit_++));
  auto self = std::static_pointer_cast<OrcSessionImpl>(shared_from_this());
  auto linked = std::make_unique<LinkedObjectImpl>(std::move(self), unit);
  unit.addToLinkOrder(runtime_);
  if (!definitions.empty()) {
    llvm::orc::SymbolMap symbols;
    for (const auto& [symbol, address] : definitions) {
      symbols[session_.intern(symbol)] =
          ExecutorSymbolDef(ExecutorAddr::fromPtr(address),
                            llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable);
    }
    Require("external functions cannot be named",
            unit.define(llvm::orc::absoluteSymbols(std::move(symbols))));
  }
  Require("the object cannot be linked",
          linker_.add(unit, llvm::MemoryBuffer::getMemBufferCopy(
                                llvm::StringRef(object.data(), object.size()), unit.getName())));
  return linked;
}

}  // namespace

std::shared_ptr<OrcSession> OrcSession::Create() { return std::make_shared<OrcSessionImpl>(); }

std::shared_ptr<OrcSession> OrcSession::Shared() {
  static const std::shared_ptr<OrcSession> session = Create();
  return session;
}

}  // namespace tenon::jit
