// A fetch is one call for each line of a box, or of a share of a block. Addresses may lie past the
// tensor's end; what is not there is not fetched.
#include "tenon/schedule/fetches.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tenon/loop/check_given.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"
#include "tenon/schedule/fetch_boxes.h"
#include "tenon/schedule/relation.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using loop::Stmt;
using loop::Var;

// Makes loads of a buffer loads of one whose dimensions from `first` on are one.
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

// The box that covers what `stmt`, inside the loop of `axis`, reads, in the fewest lines. Its last
// dimensions may be taken as one, since pixels that are counted through several rows lie one after
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

// A loop of a stage, and what is inside it.
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
    return FetchBox(buffer, *region, LinesOfRow(buffer, *region, axis_.var),
                    is_written ? loop::Intrinsic::kPrefetchWrite : loop::Intrinsic::kPrefetch);
  }

  Stmt operator()(const NextBlockMark& mark) const {
    constexpr const char* kName = "prefetch_next_block";
    const loop::Buffer& buffer = Fetchable(kName, mark.tensor);
    // A stage at the root has the loop over places itself, and fetches one share at each.
    const bool is_at_root = stage_.placement() != Stage::Placement::kAt;
    std::optional<std::vector<Range>> block =
        is_at_root ? BlockAtRoot(buffer) : BlockOfLoop(buffer);
    if (!block) Refuse(kName, mark.tensor, "it is not read inside the loop");
    if (block->empty())
      Refuse(kName, mark.tensor, "it is a scalar, of which every block is the same");
    const std::optional<std::int64_t> steps = is_at_root ? 1 : ConstantOf(extent_);
    const std::optional<std::size_t> dimensions = DimensionsOfPieces(buffer, *block);
    if (!dimensions || !steps)
      Refuse(kName, mark.tensor, "the loop or what it reads has no constant extents");
    if (*steps == 0) return loop::Seq({});
    std::int64_t shares = 0;
    if (__builtin_mul_overflow(*steps, mark.turns, &shares) || loop::WhyNoFactor(shares))
      Refuse(kName, mark.tensor,
             StrCat("its blocks would be fetched in ", *steps, " times ", mark.turns,
                    " shares; at most 2^40 are allowed"));
    const Var place = is_at_root
                          ? axis_.var
                          : LeafOf(stage_.attach_stage().relations(), stage_.attach_axis()).var;
    for (Range& range : *block)
      range.min = loop::Substitute(range.min, {{place, place + mark.turns * mark.fetch.blocks}});
    const Expr turn = loop::FloorMod(place, mark.turns);
    return FetchShare(
        buffer, *std::move(block), *dimensions, is_at_root ? turn : turn * *steps + axis_.var,
        shares, axis_.var,
        mark.fetch.past_nearest ? loop::Intrinsic::kPrefetchLater : loop::Intrinsic::kPrefetch);
  }

 private:
  // What the loop reads.
  std::optional<std::vector<Range>> BlockOfLoop(const loop::Buffer& buffer) const {
    return RegionRead(loop::For(axis_.var, 0, extent_, loop::ForKind::kSerial, inside_), buffer,
                      bounds_);
  }

  // What one iteration of the loop reads. For a block that may be cut short, it is all of it.
  std::optional<std::vector<Range>> BlockAtRoot(const loop::Buffer& buffer) const {
    auto block = ReadInFewestLines(inside_, axis_.var, buffer, bounds_);
    if (!block) return block;
    for (Range& range : *block) {
      const loop::Interval values = loop::RangeOf(range.extent, bounds_);
      if (values.high != loop::Interval::kHighest) range.extent = values.high;
    }
    return block;
  }

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
