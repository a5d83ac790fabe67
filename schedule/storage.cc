// An index of the tensor's buffer minus the region's beginning is an index of the box. With aligned
// strides the box is flat memory, and the indices are multiplied by the strides here.
#include "tenon/schedule/storage.h"

#include <functional>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using loop::Stmt;

using IndexFunction = std::function<std::vector<Expr>(const std::vector<Expr>&)>;

// Moves the accesses of one buffer to another.
class Relocator : public loop::StmtMutator {
 public:
  Relocator(const loop::Buffer& from, const loop::Buffer& to, const IndexFunction& index,
            std::optional<std::size_t> circular)
      : from_(from), to_(to), index_(index), circular_(circular) {}

 protected:
  Expr Mutate(const Expr& e) override {
    const Expr mutated = MutateChildren(e);
    if (const auto* n = mutated.As<loop::LoadNode>(); n != nullptr && n->buffer == from_)
      return loop::Load(to_, index_(n->indices));
    if (const auto* n = mutated.As<loop::AddressNode>(); n != nullptr && n->buffer == from_)
      return MoveAddress(*n);
    return mutated;
  }
  Stmt MutateStmt(const Stmt& stmt) override {
    const Stmt mutated = MutateStmtChildren(stmt);
    const auto* n = mutated.As<loop::StoreNode>();
    if (n == nullptr || !(n->buffer == from_)) return mutated;
    return loop::Store(to_, n->value, index_(n->indices), n->store_kind);
  }

 private:
  Expr MoveAddress(const loop::AddressNode& n) const {
    std::vector<Expr> indices = index_(n.indices), extents = n.extents;
    if (indices.size() < extents.size()) {
      throw InvalidArgument(StrCat("storage_align: stage ", from_->name,
                                   " is read or written by an external function, which knows "
                                   "nothing of padded strides"));
    }
    if (circular_ && !loop::IsConstInt(extents[*circular_], 1)) {
      throw InvalidArgument(StrCat("rolling_buffer: stage ", from_->name,
                                   " is read or written by an intrinsic, which knows nothing of "
                                   "circular buffers"));
    }
    extents.insert(extents.begin(), indices.size() - extents.size(), 1);  // one of the copies
    return loop::Address(to_, std::move(indices), std::move(extents));
  }

  const loop::Buffer& from_;
  const loop::Buffer& to_;
  const IndexFunction& index_;
  const std::optional<std::size_t> circular_;
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
    if (__builtin_mul_overflow(bytes, constant->value, &bytes)) bytes = kMaxStackBytes + 1;
  }
  if (bytes > kMaxStackBytes) {
    throw InvalidArgument(StrCat("set_scope: stage ", stage.name(), " is local, but needs ", bytes,
                                 " bytes; at most ", kMaxStackBytes, " are allowed on the stack"));
  }
}

// The elements of `count` parts that are `stride` elements apart.
Expr ElementsOf(const Stage& stage, const Expr& stride, const Expr& count) {
  constexpr std::int64_t kMax = std::int64_t{1} << 62;  // with room for padding
  const auto *a = stride.As<loop::IntImmNode>(), *b = count.As<loop::IntImmNode>();
  std::int64_t product = 0;
  if (a != nullptr && b != nullptr &&
      (__builtin_mul_overflow(a->value, b->value, &product) || product > kMax)) {
    throw InvalidArgument(StrCat("storage_align: stage ", stage.name(), " needs ", b->value,
                                 " times ", a->value, " elements; at most 2^62 are allowed"));
  }
  return stride * count;
}

// Row-major strides, each padded to what its alignment asks for.
std::vector<Expr> AlignedStrides(const Stage& stage, const std::vector<Expr>& shape,
                                 std::size_t first_dimension) {
  const std::vector<Alignment>& alignments = stage.marks().alignments;
  std::vector<Expr> strides(shape.size(), Expr(1));
  for (std::size_t d = shape.size() - 1; d-- > 0;) {
    strides[d] = ElementsOf(stage, strides[d + 1], shape[d + 1]);
    for (const Alignment& alignment : alignments) {
      if (alignment.dimension + first_dimension != d) continue;
      strides[d] = strides[d] + loop::FloorMod(alignment.offset - strides[d], alignment.factor);
    }
    strides[d] = loop::Simplify(strides[d]);
  }
  return strides;
}

}  // namespace

Box::Box(const Stage& stage, loop::Buffer buffer, const std::vector<Range>& region,
         std::int64_t copies, std::optional<std::size_t> circular)
    : buffer_(std::move(buffer)), copied_(copies > 1), circular_(circular) {
  if (circular_) period_ = region[*circular_].extent;
  std::vector<Expr> shape;
  if (copied_) shape.emplace_back(copies);
  for (const Range& range : region) shape.push_back(range.extent);
  if (!stage.marks().alignments.empty()) {
    strides_ = AlignedStrides(stage, shape, copied_ ? 1 : 0);
    shape = {loop::Simplify(ElementsOf(stage, strides_[0], shape[0]))};
  }
  if (stage.marks().memory == loop::Memory::kStack) RequireStackSize(stage, buffer_, shape);
  memory_ =
      loop::Buffer::Make(buffer_->name, buffer_->dtype, std::move(shape), stage.marks().memory);
}

Stmt Box::Move(const Stmt& stmt, const std::vector<Expr>& mins, const Expr& copy) const {
  const IndexFunction index = [&](const std::vector<Expr>& at) {
    std::vector<Expr> indices;
    if (copied_) indices.push_back(copy);
    for (std::size_t d = 0; d < at.size(); ++d) {
      const Expr place = d == circular_ ? loop::FloorMod(at[d], period_) : at[d] - mins[d];
      indices.push_back(loop::Simplify(place));
    }
    if (strides_.empty()) return indices;
    Expr offset = 0;
    for (std::size_t d = 0; d < indices.size(); ++d) offset = offset + indices[d] * strides_[d];
    return std::vector<Expr>{offset};
  };
  return Relocator(buffer_, memory_, index, circular_)(stmt);
}

std::vector<Expr> MinsOf(const std::vector<Range>& region) {
  std::vector<Expr> mins;
  for (const Range& range : region) mins.push_back(range.min);
  return mins;
}

}  // namespace tenon::schedule
