// What expressions and statements say, as bytes that can be read back unambiguously: equal bytes
// are equal programs.
//
// Every list and text comes after its length, every node after its kind. Nodes are numbered as they
// are met, so that a shared subexpression counts once and variables are told apart whatever their
// names. The address of an external function is not content, but whether it has one is.
//
//   ContentWriter writer;
//   writer.Statement(function.body);
//   writer.bytes();
#ifndef TENON_LOOP_CONTENT_H_
#define TENON_LOOP_CONTENT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tenon/loop/function.h"
#include "tenon/loop/stmt.h"

namespace tenon::loop {

class ContentWriter {
 public:
  ContentWriter() = default;
  // Leaves out numbers that do not shape code (loop/skeleton.h) and adds them to `numbers`, each
  // node once, as they are met.
  explicit ContentWriter(std::vector<Expr>* numbers) : left_out_(numbers) {}

  const std::string& bytes() const { return bytes_; }

  void Int(std::int64_t value);
  void Text(std::string_view text);
  template <typename Enum>
  void Kind(Enum kind) {
    Int(static_cast<std::int64_t>(kind));
  }
  void Type(DataType type);
  void Buffer(const loop::Buffer& buffer);
  void Expression(const Expr& expr);
  void Expressions(const std::vector<Expr>& exprs);
  void Statement(const Stmt& stmt);
  // What a caller sees, without the name: the buffers and the variables.
  void Signature(const Function& function);
  // All that is called and run: the signature and the body.
  void Program(const Function& function);

 private:
  // Writes the number of a node. Returns whether it is new; then its content must follow.
  bool IsNew(const void* node);
  void Ints(const std::vector<int>& values);
  void Callee(const ExternFunction& callee);
  // Writes the number itself, even if it is left out elsewhere.
  void Whole(const Expr& expr);

  std::string bytes_;
  std::vector<Expr>* left_out_ = nullptr;
  std::unordered_map<const void*, std::int64_t> numbers_;
};

// Of the program that the function is.
std::string ContentOf(const Function& function);

}  // namespace tenon::loop

#endif  // TENON_LOOP_CONTENT_H_
