// A fetch is one call for each line of a box, or of a share of a block, at addresses that may lie
// past the tensor's end: what is not there is not fetched.
#include "tenon/schedule/fetches.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"
#include "tenon/schedule/relation.h"
#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using loop::Stmt;
using loop::Var;

// Lines that are fetched one after the other, without a loop.
constexpr std::int64_t kMaxUnrolledLines = 16;

std::int64_t ElementsOfLine(const loop::Buffer& buffer) {
  return kCacheLineBytes / static_cast<std::int64_t>(buffer->dtype.bytes());
}

std::optional<std::int64_t> ConstantOf(const Expr& e) {
  const auto* constant = e.As<loop::IntImmNode>();
  return constant == nullptr ? std::nullopt : std::optional(constant->value);
}

// Lines that a row of the box lies in at most, without one that the next iteration of `axis` begins
// with. Buffers begin where a line does, and rows at multiples of what divides their variables'
// steps.
Expr LinesOfRow(const loop::Buffer& buffer, const std::vector<Range>& box, const Var& axis) {
  if (box.empty()) return 1;
  const std::int64_t line = ElementsOfLine(buffer);
  const Expr& elements = box.back().extent;
  const std::optional<std::int64_t> constant = ConstantOf(elements);
  if (!constant) return loop::FloorDiv(elements + (line - 1), line);
  Expr first = 0;
  for (std::size_t d = 0; d < box.size(); ++d) {
    const bool is_one_row = d + 1 == box.size() || loop::IsConstInt(box[d].extent, 1);
    first = first * buffer->shape[d] + box[d].min + (is_one_row ? Expr(0) : Var("row"));
  }
  const loop::Linear linear = loop::ToLinear(first, {});
  const std::int64_t along = linear.CoefficientOf(axis);
  if (along > 0 && along <= *constant) return CeilDiv(*constant, line);
  std::int64_t apart = std::gcd(line, linear.constant);
  for (const auto& [atom, step] : linear.terms) apart = std::gcd(apart, step);
  return CeilDiv(*constant + line - apart, line);
}

// Fetches so many lines of each row of the box `region` of the buffer, to read or to write it.
Stmt FetchBox(const loop::Buffer& buffer, const std::vector<Range>& region, const Expr& lines,
              bool is_written, loop::ForKind kind = loop::ForKind::kSerial) {
  const std::int64_t line = ElementsOfLine(buffer);
  std::vector<Var> vars;
  std::vector<Expr> extents, indices;
  for (std::size_t d = 0; d < region.size(); ++d) {
    const auto& [min, extent] = region[d];
    const Var& var = vars.emplace_back(StrCat("fetch", d));
    if (d + 1 < region.size()) {
      extents.push_back(extent);
      indices.push_back(min + var);
    } else {
      extents.push_back(lines);
      // The last line may be one that only the last element lies in.
      const std::optional<std::int64_t> elements = ConstantOf(extent);
      indices.push_back(min + (elements ? loop::Min(var * line, *elements - 1) : var * line));
    }
  }
  Stmt stmt = loop::Evaluate(
      loop::Call(is_written ? loop::Intrinsic::kPrefetchWrite : loop::Intrinsic::kPrefetch,
                 {loop::Load(buffer, std::move(indices))}));
  for (std::size_t d = region.size(); d-- > 0;)
    stmt = loop::For(vars[d], 0, extents[d], kind, stmt);
  return stmt;
}

// How many dimensions of the box stand before those that are one piece of memory; nothing unless
// all extents are constant.
std::optional<std::size_t> DimensionsOfPieces(const loop::Buffer& buffer,
                                              const std::vector<Range>& box) {
  if (!std::all_of(box.begin(), box.end(),
                   [](const Range& range) { return ConstantOf(range.extent).has_value(); }))
    return std::nullopt;
  std::size_t first = box.size() - 1;
  while (first > 0 && ConstantOf(buffer->shape[first]) == ConstantOf(box[first].extent)) --first;
  return first;
}

// Loads of a buffer as those of one whose dimensions from `first` on are one.
class JoinDimensions : public loop::StmtMutator {
 public:
  JoinDimensions(const loop::Buffer& buffer, std::size_t first) : buffer_(buffer), first_(first) {
    std::vector<Expr> shape = Front(buffer->shape, 1);
    for (std::size_t d = first; d < buffer->shape.size(); ++d)
      shape.back() = shape.back() * buffer->shape[d];
    joined_ = loop::Buffer::Make(buffer->name, buffer->dtype, std::move(shape));
  }
  const loop::Buffer& joined() const { return joined_; }

 protected:
  Expr Mutate(const Expr& expr) override {
    const Expr mutated = MutateChildren(expr);
    const auto* load = mutated.As<loop::LoadNode>();
    if (load == nullptr || load->buffer != buffer_) return mutated;
    std::vector<Expr> indices = Front(load->indices, 0);
    for (std::size_t d = first_; d < load->indices.size(); ++d)
      indices.back() = indices.back() * buffer_->shape[d] + load->indices[d];
    return loop::Load(joined_, std::move(indices));
  }

 private:
  std::vector<Expr> Front(const std::vector<Expr>& all, std::int64_t last) const {
    std::vector<Expr> front(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first_));
    front.emplace_back(last);
    return front;
  }

  const loop::Buffer& buffer_;
  const std::size_t first_;
  loop::Buffer joined_;
};

// The most lines of a box of constant extents.
std::optional<std::int64_t> LinesOf(const loop::Buffer& buffer, const std::vector<Range>& box,
                                    const Var& axis) {
  std::int64_t lines = 1;
  for (std::size_t d = 0; d < box.size(); ++d) {
    const auto count =
        ConstantOf(d + 1 == box.size() ? LinesOfRow(buffer, box, axis) : box[d].extent);
    if (!count) return std::nullopt;
    lines *= *count;
  }
  return lines;
}

// The box that covers what `stmt`, inside the loop of `axis`, reads, in the fewest lines: its last
// dimensions may be taken as one, since pixels that are counted through several rows lie one behind
// the other.
std::optional<std::vector<Range>> ReadInFewestLines(const Stmt& stmt, const Var& axis,
                                                    const loop::Buffer& buffer,
                                                    const loop::Bounds& bounds) {
  std::optional<std::vector<Range>> best = RegionRead(stmt, buffer, bounds);
  if (!best || best->size() < 2) return best;
  std::optional<std::int64_t> least = LinesOf(buffer, *best, axis);
  for (std::size_t first = best->size() - 1; first-- > 0 && least.value_or(1) > 1;) {
    JoinDimensions join(buffer, first);
    auto box = RegionRead(loop::Simplify(join(stmt), bounds), join.joined(), bounds);
    const std::optional<std::int64_t> lines =
        box ? LinesOf(join.joined(), *box, axis) : std::nullopt;
    if (!lines || *lines >= *least) continue;
    least = lines;
    box->insert(box->end() - 1, best->size() - box->size(), Range{0, 1});
    best = std::move(box);
  }
  return best;
}

bool HaveSameShape(const loop::Buffer& a, const loop::Buffer& b) {
  return std::equal(a->shape.begin(), a->shape.end(), b->shape.begin(), b->shape.end(),
                    loop::StructuralEqual);
}

// A loop of a stage, and what stands inside.
class Fetcher {
 public:
  Fetcher(const Schedule& schedule, const loop::Bounds& bounds, const Stage& stage,
          const IterVar& axis, const Expr& extent, const Stmt& inside)
      : schedule_(schedule),
        bounds_(bounds),
        stage_(stage),
        axis_(axis),
        extent_(extent),
        inside_(inside) {}

  bool IsHere(const IterVar& axis) const {
    return LeafOf(stage_.relations(), axis).var.same_as(axis_.var);
  }

  Stmt operator()(const PrefetchMark& mark) const {
    constexpr const char* kName = "prefetch";
    const loop::Buffer& buffer = Fetchable(kName, mark.tensor);
    // The tensor may be the one that a rewrite of its stage has replaced.
    const Stage& source = *schedule_.Find(mark.tensor.op().get());
    const bool is_own = &source == &stage_;
    std::optional<std::vector<Range>> region =
        is_own ? std::nullopt : ReadInFewestLines(inside_, axis_.var, buffer, bounds_);
    const bool is_written = !region;
    const loop::Buffer& own = is_own ? buffer : stage_.op()->outputs.front();
    // What a producer computes goes into the result of the same shape, place by place.
    if (is_own || (is_written && source.is_output() && HaveSameShape(own, buffer)))
      region = RegionWritten(inside_, own, bounds_);
    if (!region)
      Refuse(kName, mark.tensor,
             StrCat("it is not ", is_own ? "written" : "read", " inside the loop"));
    for (Range& range : *region) {
      range.min = loop::Substitute(range.min, {{axis_.var, axis_.var + mark.offset}});
      range.extent = loop::Substitute(range.extent, {{axis_.var, axis_.var + mark.offset}});
    }
    return FetchBox(buffer, *region, LinesOfRow(buffer, *region, axis_.var), is_written);
  }

  Stmt operator()(const NextBlockMark& mark) const {
    constexpr const char* kName = "prefetch_next_block";
    const loop::Buffer& buffer = Fetchable(kName, mark.tensor);
    if (stage_.placement() != Stage::Placement::kAt)
      Refuse(kName, mark.tensor, "the stage is not computed at a loop, so there is no next block");
    const Stmt loop = loop::For(axis_.var, 0, extent_, loop::ForKind::kSerial, inside_);
    const std::optional<std::vector<Range>> block = RegionRead(loop, buffer, bounds_);
    if (!block) Refuse(kName, mark.tensor, "it is not read inside the loop");
    if (block->empty())
      Refuse(kName, mark.tensor, "it is a scalar, of which every block is the same");
    const std::optional<std::size_t> dimensions = DimensionsOfPieces(buffer, *block);
    const std::optional<std::int64_t> steps = ConstantOf(extent_);
    if (!dimensions || !steps)
      Refuse(kName, mark.tensor, "the loop or what it reads has no constant extents");
    if (*steps == 0) return loop::Seq({});
    const Var& place = LeafOf(stage_.attach_stage().relations(), stage_.attach_axis()).var;
    std::vector<Range> share;
    std::int64_t pieces = 1, elements = 1;
    for (std::size_t d = 0; d < block->size(); ++d) {
      const Range& range = (*block)[d];
      const Expr next = loop::Substitute(range.min, {{place, place + mark.turns}});
      const bool in_piece = d >= *dimensions;
      share.push_back({next, in_piece ? Expr(1) : range.extent});
      (in_piece ? elements : pieces) *= *ConstantOf(range.extent);
    }
    const std::int64_t most = CeilDiv(elements, *steps * mark.turns);
    const Expr number = loop::FloorMod(place, mark.turns) * *steps + axis_.var;
    share.back() = {share.back().min + number * most, most};
    // The last line of a share is the first of the next one.
    const std::int64_t lines = CeilDiv(most, ElementsOfLine(buffer));
    return FetchBox(
        buffer, share, lines, /*is_written=*/false,
        pieces * lines <= kMaxUnrolledLines ? loop::ForKind::kUnrolled : loop::ForKind::kSerial);
  }

 private:
  [[noreturn]] void Refuse(const char* primitive, const Tensor& tensor,
                           const std::string& reason) const {
    throw InvalidArgument(StrCat(primitive, ": stage ", stage_.name(), ", axis ", axis_.var.name(),
                                 ", of ", tensor.name(), ": ", reason));
  }

  const loop::Buffer& Fetchable(const char* primitive, const Tensor& tensor) const {
    const Stage& source = *schedule_.Find(tensor.op().get());
    if (loop::IsConstInt(extent_, 1))
      Refuse(primitive, tensor,
             "the loop is trivial: it runs once, so no later iteration reads anything");
    if (stage_.KindOf(axis_) == loop::ForKind::kVectorized)
      Refuse(primitive, tensor, "the loop is vectorised; choose one around it");
    if (!source.op()->is_placeholder() && !source.is_output() &&
        source.placement() != Stage::Placement::kRoot)
      Refuse(primitive, tensor,
             "only arguments and stages at the root are there before the loop begins");
    return source.op()->outputs[static_cast<std::size_t>(tensor.index())];
  }

  const Schedule& schedule_;
  const loop::Bounds& bounds_;
  const Stage& stage_;
  const IterVar& axis_;
  const Expr& extent_;
  const Stmt& inside_;
};

}  // namespace

Stmt AddPrefetches(const Schedule& schedule, const loop::Bounds& bounds, const Stage& stage,
                   const IterVar& axis, const Expr& extent, Stmt inside) {
  const Fetcher fetcher(schedule, bounds, stage, axis, extent, inside);
  std::vector<Stmt> all;
  for (const PrefetchMark& mark : stage.marks().prefetches) {
    if (fetcher.IsHere(mark.axis)) all.insert(all.begin(), fetcher(mark));
  }
  for (const NextBlockMark& mark : stage.marks().next_blocks) {
    if (fetcher.IsHere(mark.axis)) all.insert(all.begin(), fetcher(mark));
  }
  all.push_back(inside);
  return loop::Seq(std::move(all));
}

}  // namespace tenon::schedule
