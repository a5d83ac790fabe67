// What differs between the versions of LLVM that Tenon is built with, 19 and 22. No other file asks
// for a version.
//
//   const llvm::Triple triple("x86_64-linux-gnu");
//   target->createTargetMachine(AsArgument(triple), ...);
#ifndef TENON_JIT_LLVM_LLVM_VERSIONS_H_
#define TENON_JIT_LLVM_LLVM_VERSIONS_H_

#include <string>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/TargetParser/Triple.h"
// Parts of the headers of ORC were moved into these.
#if __has_include("llvm/ExecutionEngine/Orc/AbsoluteSymbols.h")
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#endif
#if __has_include("llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h")
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#endif

namespace tenon::jit {

// Before version 22, triples were texts.
#if LLVM_VERSION_MAJOR >= 22
inline const llvm::Triple& AsArgument(const llvm::Triple& triple) { return triple; }
#else
inline const std::string& AsArgument(const llvm::Triple& triple) { return triple.str(); }
#endif

// The function is new under this name.
inline llvm::Function* DeclareIntrinsic(llvm::Module* module, llvm::Intrinsic::ID id) {
#if LLVM_VERSION_MAJOR >= 22
  return llvm::Intrinsic::getOrInsertDeclaration(module, id);
#else
  return llvm::Intrinsic::getDeclaration(module, id);
#endif
}

// Whether the target has an instruction for it. Newer versions distinguish address spaces.
inline bool HasMaskedLoad(const llvm::TargetTransformInfo& target, llvm::Type* type,
                          llvm::Align align) {
#if LLVM_VERSION_MAJOR >= 22
  return target.isLegalMaskedLoad(type, align, /*AddressSpace=*/0);
#else
  return target.isLegalMaskedLoad(type, align);
#endif
}

// The alignment of the memory that a masked load or store moves, whose pointer is this argument. In
// older versions the alignment was the argument after it.
inline llvm::Align AlignmentOf(const llvm::IntrinsicInst& move, unsigned pointer) {
#if LLVM_VERSION_MAJOR >= 22
  return move.getParamAlign(pointer).valueOrOne();
#else
  return llvm::Align(
      llvm::cast<llvm::ConstantInt>(move.getArgOperand(pointer + 1))->getZExtValue());
#endif
}

// Says which passes run. In newer versions the function of LLVM's gate is const.
class PassGate : public llvm::OptPassGate {
 public:
  virtual bool Runs(llvm::StringRef pass) const = 0;
#if LLVM_VERSION_MAJOR >= 22
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const final { return Runs(pass); }
#else
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) final { return Runs(pass); }
#endif
};

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_LLVM_VERSIONS_H_
