// Extents of values that change from turn to turn of a loop, or that the branches of an if have
// otherwise: variables, which each turn or branch gives a value.
#ifndef TENON_ONNX_CONVERT_OPEN_EXTENTS_H_
#define TENON_ONNX_CONVERT_OPEN_EXTENTS_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// The values that a loop carries. At first their types are those of the first values. Where a turn
// gives another extent, it is open from then on. Extents that begin equal and are changed in the
// same way have one variable.
//
//   OpenExtents open(node, initial);
//   do { made = turn over open.Variables(); } while (!open.Fit(made));
class OpenExtents {
 public:
  OpenExtents(const Node& node, const std::vector<Expr>& initial);

  // New variables with the types of the values before a turn. Open extents have new names.
  std::vector<Expr> Variables();
  // Value `i` that a turn has made. Where an extent is a number before the turn and an expression
  // after it, and the graph declares the number, it is that; a run with another one is refused.
  Expr AsDeclared(std::size_t i, const Expr& made, const onnx::ValueInfoProto& declared) const;
  // Whether a turn over the last variables leaves their types. If not, extents are opened. Throws
  // Unimplemented for a value whose type a turn changes in another way.
  bool Fit(const std::vector<Expr>& next);
  // The names of open extents.
  const std::vector<std::string>& names() const { return names_; }

 private:
  // Closed: the extent of the first value. Open: that of `group`.
  struct Axis {
    Dim first, now;
    bool is_open = false;
    std::size_t group = 0;
  };
  void Regroup(const std::vector<Expr>& next);

  const Node& node_;
  const std::vector<Expr> initial_;
  std::vector<std::vector<Axis>> axes_;  // by value
  std::size_t groups_ = 0;
  std::vector<std::string> names_;
};

// `x` with the variable of the name in place of its extent along the axis, whatever that is.
Expr WithNamedExtent(const Node& node, const Expr& x, std::size_t axis, const std::string& name);
// The names for variables of `x`, along all axes that have one.
Expr WithNamedExtents(const Node& node, Expr x, const std::map<std::string, std::string>& names);

// `x` with the numbers that the graph declares in place of the extents that are `known` nowhere
// around. A run with others is refused. Throws Unimplemented where one is not declared.
Expr WithKnownExtents(const Node& node, const Expr& x, const onnx::ValueInfoProto& declared,
                      const std::set<std::string>& known);

// The results of two branches with one type. Where extents differ, both have a new variable; pairs
// of extents that are equal have the same. Whether there is one. Throws Unimplemented for other
// differences.
bool GiveOneType(const Node& node, const Expr& condition, std::vector<Expr>* yes,
                 std::vector<Expr>* no);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_OPEN_EXTENTS_H_
