// A key is a BLAKE3 hash of the content of the function, or of what it is made from, and of all
// else that code generation reads.
#include "tenon/jit/object/object_key.h"

#include <cstdint>

#include "llvm-c/Core.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/BLAKE3.h"
#include "tenon/loop/content.h"
#include "tenon/support/build_id.h"

namespace tenon::jit {
namespace {

void WriteContext(const KeyContext& context, loop::ContentWriter& writer) {
  writer.Text(context.generator);
  writer.Text(context.llvm_version);
  writer.Text(context.machine);
  writer.Text(context.cpu_features);
  const auto& [vector_bits, native_bfloat16, reassociate, math_by_table, byte_dots, bfloat_dots,
               narrow_dots, word_dots, check_bounds, runs_once, reproducible] = context.codegen;
  writer.Int(vector_bits);
  for (const bool flag : {native_bfloat16, reassociate, math_by_table, byte_dots, bfloat_dots,
                          narrow_dots, word_dots, check_bounds, runs_once, reproducible})
    writer.Int(static_cast<std::int64_t>(flag));
}

std::string Hash(const std::string& bytes) {
  const auto hash = llvm::BLAKE3::hash(
      llvm::ArrayRef(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : hash) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace

const std::string& GeneratorId() {
  static const std::string id = [] {
    const std::string own = BuildIdOf(reinterpret_cast<const void*>(&GeneratorId));
    const std::string llvm = BuildIdOf(reinterpret_cast<const void*>(&LLVMGetVersion));
    return own.empty() || llvm.empty() ? std::string() : own + llvm;
  }();
  return id;
}

const char* LlvmVersion() { return LLVM_VERSION_STRING; }

std::string ObjectKey(const loop::Function& function, const KeyContext& context) {
  loop::ContentWriter writer;
  WriteContext(context, writer);
  writer.Text(function.name);
  writer.Program(function);
  return Hash(writer.bytes());
}

std::optional<std::string> OriginKey(const loop::Function& function, const KeyContext& context) {
  if (function.origin.empty()) return std::nullopt;
  loop::ContentWriter writer;
  WriteContext(context, writer);
  writer.Text(function.name);
  writer.Signature(function);
  writer.Text(function.origin);
  return Hash(writer.bytes());
}

std::string KeyOfAll(std::span<const std::string> together) {
  loop::ContentWriter writer;
  for (const std::string& key : together) writer.Text(key);
  return Hash(writer.bytes());
}

}  // namespace tenon::jit
