// Programs of equal skeletons have their numbers at the same nodes. So the function for all of
// them, their least general generalisation (Plotkin, "A note on inductive generalization", 1970),
// is the first with a variable in place of each node at which they differ.
#include "tenon/loop/skeleton.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "tenon/loop/content.h"
#include "tenon/loop/visit.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

// What is passed for a number.
std::int64_t AsScalar(const Expr& number) {
  if (const auto* imm = number.As<IntImmNode>()) return imm->value;
  return std::bit_cast<std::int32_t>(static_cast<float>(number.As<FloatImmNode>()->value));
}

// The number that was passed as `scalar`, for one of this type.
Expr FromScalar(const Var& scalar, DataType type) {
  return type == Int64 ? Expr(scalar) : Reinterpret(type, Cast(Int32, scalar));
}

// Every buffer that the function is given or allocates.
std::vector<Buffer> BuffersOf(const Function& function) {
  std::vector<Buffer> buffers = function.buffers;
  VisitStmts(function.body, [&](const Stmt& stmt) {
    if (const auto* allocate = stmt.As<AllocateNode>()) buffers.push_back(allocate->buffer);
  });
  return buffers;
}

}  // namespace

Skeleton SkeletonOf(const Function& function) {
  Skeleton skeleton;
  ContentWriter writer(&skeleton.numbers);
  writer.Program(function);
  skeleton.bytes = writer.bytes();
  return skeleton;
}

Generalized Generalize(const Function& first, std::span<const Skeleton* const> members) {
  Generalized made{.function = first, .numbers = {}};
  made.numbers.resize(members.size());
  std::map<std::vector<std::int64_t>, Var> scalars;  // by their values in each function
  ExprMap values;
  for (std::size_t k = 0; k < members[0]->numbers.size(); ++k) {
    std::vector<std::int64_t> passed;
    for (const Skeleton* member : members) passed.push_back(AsScalar(member->numbers[k]));
    if (std::ranges::count(passed, passed[0]) == std::ssize(passed)) continue;
    auto scalar = scalars.find(passed);
    if (scalar == scalars.end()) {
      scalar = scalars.emplace(passed, Var(StrCat("number", scalars.size()))).first;
      made.function.scalars.push_back(scalar->second);
      for (std::size_t i = 0; i < members.size(); ++i) made.numbers[i].push_back(passed[i]);
    }
    const Expr& number = members[0]->numbers[k];
    values.emplace(number, FromScalar(scalar->second, number.dtype()));
  }
  BufferMap buffers;
  for (const Buffer& buffer : BuffersOf(first)) {
    std::vector<Expr> shape;
    bool is_same = true;
    for (const Expr& extent : buffer->shape) {
      shape.push_back(Substitute(extent, values));
      is_same = is_same && shape.back().same_as(extent);
    }
    if (is_same) continue;
    buffers.emplace(buffer, Buffer::Make(buffer->name, buffer->dtype, shape, buffer->memory));
  }
  for (Buffer& buffer : made.function.buffers) {
    const auto found = buffers.find(buffer);
    if (found != buffers.end()) buffer = found->second;
  }
  made.function.body = ReplaceBuffers(Substitute(first.body.stmt(), values), buffers);
  made.function.origin.clear();
  return made;
}

}  // namespace tenon::loop
