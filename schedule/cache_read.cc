// A[i] read by C becomes A.local[i] = A[i], read by C. The copy's own placement then says where the
// copy is made, and how much of it.
#include <algorithm>

#include "tenon/schedule/rewrite.h"
#include "tenon/schedule/schedule.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {

using loop::Expr;

Tensor Schedule::CacheRead(const Tensor& tensor, std::string_view scope,
                           const std::vector<Tensor>& readers) {
  Stage& source = (*this)[tensor];
  const loop::Memory memory = source.ParseScope("cache_read", scope);
  const auto output = static_cast<std::size_t>(tensor.index());
  const loop::Buffer buffer = source.op()->outputs[output];
  if (readers.empty())
    source.Refuse("cache_read", nullptr, "no readers are given; name the tensors that read it");
  std::vector<Stage*> rewritten;
  for (const Tensor& reader : readers) {
    Stage& stage = (*this)[reader];
    if (!Reads(*stage.op(), buffer)) {
      source.Refuse("cache_read", nullptr,
                    StrCat("stage ", stage.name(), " does not read it; only readers of ",
                           buffer->name, " are allowed"));
    }
    if (!stage.op()->is_compute()) {
      source.Refuse("cache_read", nullptr,
                    StrCat("its reader ", stage.name(), " is an external operation or a scan; ",
                           "only computes read caches"));
    }
    if (std::find(rewritten.begin(), rewritten.end(), &stage) == rewritten.end())
      rewritten.push_back(&stage);
  }

  std::vector<IterVar> axes;
  std::vector<Expr> indices;
  ByVar of_copy;
  for (std::size_t d = 0; d < buffer->shape.size(); ++d) {
    // Scans and external operations have no axis for each dimension.
    const bool has_axes = source.op()->axes.size() == buffer->shape.size();
    axes.push_back(FreshAxis(has_axes ? source.op()->axes[d].var.name() : StrCat("ax", d),
                             buffer->shape[d], false));
    indices.push_back(axes.back().var);
    if (has_axes) of_copy[source.op()->axes[d].var] = axes.back().var;
  }
  const NewOperation copy = NewLike(*te::Placeholder(buffer->shape, buffer->dtype).op(),
                                    FreshName(StrCat(buffer->name, ".", scope)), axes);
  copy.node->body = {ReadOutput(source.op(), output, indices)};
  Stage& copied = AddStage(copy.handle, PositionOf(source) + 1);
  copied.marks_.memory = memory;
  if (source.time_.defined()) copied.time_ = loop::Substitute(source.time_, of_copy);
  for (Stage* stage : rewritten) {
    Rewrite(*stage, WithReads(*stage->op(), buffer, [&](const std::vector<Expr>& at) {
      return ReadOutput(copy.handle, 0, at);
    }));
  }
  CacheReadStep step{RefTo(tensor), std::string(scope), {}};
  for (const Tensor& reader : readers) step.readers.push_back(RefTo(reader));
  record_->emplace_back(std::move(step));
  return Tensor(copy.handle, 0);
}

}  // namespace tenon::schedule
