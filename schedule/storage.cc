// Accesses of the tensor's buffer move to a buffer of the box's size: each index less the box's
// beginning.
#include "tenon/schedule/storage.h"

#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using loop::Stmt;

// Moves the accesses of one buffer to another that holds a box of it.
class Relocator : public loop::StmtMutator {
 public:
  Relocator(const loop::Buffer& from, const loop::Buffer& to, const std::vector<Range>& region)
      : from_(from), to_(to), region_(region) {}

 protected:
  Expr Mutate(const Expr& e) override {
    const Expr mutated = MutateChildren(e);
    if (const auto* n = mutated.As<loop::LoadNode>(); n != nullptr && n->buffer == from_)
      return loop::Load(to_, Moved(n->indices));
    if (const auto* n = mutated.As<loop::AddressNode>(); n != nullptr && n->buffer == from_)
      return loop::Address(to_, Moved(n->indices), n->extents);
    return mutated;
  }
  Stmt MutateStmt(const Stmt& stmt) override {
    const Stmt mutated = MutateStmtChildren(stmt);
    const auto* n = mutated.As<loop::StoreNode>();
    if (n == nullptr || !(n->buffer == from_)) return mutated;
    return loop::Store(to_, n->value, Moved(n->indices), n->reassociate);
  }

 private:
  std::vector<Expr> Moved(std::vector<Expr> indices) const {
    for (std::size_t d = 0; d < indices.size(); ++d)
      indices[d] = loop::Simplify(indices[d] - region_[d].min);
    return indices;
  }

  const loop::Buffer& from_;
  const loop::Buffer& to_;
  const std::vector<Range>& region_;
};

void RequireStackSize(const Stage& stage, const loop::Buffer& buffer,
                      const std::vector<Expr>& shape) {
  auto bytes = static_cast<std::int64_t>(buffer->dtype.bytes());
  for (const Expr& extent : shape) {
    const auto* constant = extent.As<loop::IntImmNode>();
    if (constant == nullptr) {
      throw InvalidArgument(StrCat("set_scope: stage ", stage.name(), " is local, but its extent ",
                                   loop::Print(extent),
                                   " is not constant; compute it at a loop of its reader"));
    }
    if (__builtin_mul_overflow(bytes, constant->value, &bytes)) bytes = kMostStackBytes + 1;
  }
  if (bytes > kMostStackBytes) {
    throw InvalidArgument(StrCat("set_scope: stage ", stage.name(), " is local, but needs ", bytes,
                                 " bytes; at most ", kMostStackBytes, " are allowed on the stack"));
  }
}

}  // namespace

Stmt AllocateBox(const Stage& stage, const loop::Buffer& buffer, const std::vector<Range>& region,
                 const Stmt& stmt) {
  std::vector<Expr> shape;
  for (const Range& range : region) shape.push_back(range.extent);
  if (stage.marks().memory == loop::Memory::kStack) RequireStackSize(stage, buffer, shape);
  const loop::Buffer box =
      loop::Buffer::Make(buffer->name, buffer->dtype, std::move(shape), stage.marks().memory);
  return loop::Allocate(box, Relocator(buffer, box, region)(stmt));
}

}  // namespace tenon::schedule
