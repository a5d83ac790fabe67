// The nodes of a graph that an import refuses. It goes on after them, so that one error names all
// problems of the model.
//
//   refusals.Try([&] { Convert(node); });    // false where it was refused
//   refusals.ThrowIfAny();
#ifndef TENON_ONNX_CONVERT_REFUSALS_H_
#define TENON_ONNX_CONVERT_REFUSALS_H_

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tenon/ir/expr.h"
#include "tenon/support/error.h"

namespace tenon::onnx_import {

// Several problems; the message lists them.
class ManyErrors : public Error {
 public:
  // Of `count` problems, the first ones.
  ManyErrors(const std::string& of, std::size_t count, std::vector<Error> listed);

  std::size_t count() const { return count_; }
  const std::vector<Error>& listed() const { return listed_; }

 private:
  std::size_t count_;
  std::vector<Error> listed_;
};

// Thrown for a node that reads a value without a type, which a refused node would have made.
struct AfterRefusal {};

class Refusals {
 public:
  bool empty() const { return count_ == 0; }
  void Add(const Error& error);
  // Whether `convert` throws nothing. What it throws is kept, unless it is a mistake of Tenon.
  template <typename Convert>
  bool Try(const Convert& convert) {
    try {
      convert();
      return true;
    } catch (const Error& error) {
      if (error.code() == absl::StatusCode::kInternal) throw;
      Add(error);
    } catch (const AfterRefusal&) {  // the node that was refused is known
      is_after_another_ = true;
    }
    return false;
  }
  // From now on the value has no type.
  void AddMissing(const std::string& name) { missing_.insert(name); }
  bool IsMissing(const std::string& name) const { return missing_.contains(name); }

  // One error for all: it alone, or a list of them, which begins with what has them. Without an
  // error, but with what another caused, AfterRefusal.
  void ThrowIfAny(const std::string& of) const;

 private:
  std::size_t count_ = 0;
  std::vector<Error> listed_;
  std::unordered_set<std::string> missing_;
  bool is_after_another_ = false;
};

// An error with the node in front of its message, or of each message of its list.
[[noreturn]] void ThrowWithPlace(const Error& error, const std::string& place,
                                 const std::vector<std::string>& notes);

// What stands in place of the values that refused nodes of a graph would make.
class StandIns {
 public:
  // `values` are those of the graph's inputs. The graph must outlive this.
  StandIns(const onnx::GraphProto& graph, const std::unordered_map<std::string, ir::Expr>& values);

  // Of the type that the graph declares; null without one. Only a floating tensor of rank 2 or more
  // has one: others may be what an import needs to know, and would be refused for not being known.
  ir::Expr Of(const std::string& name) const;

 private:
  std::unordered_map<std::string, const onnx::ValueInfoProto*> declared_;
  std::unordered_map<std::string, Dim> extents_;  // by the names that the model gives them
};

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_REFUSALS_H_
