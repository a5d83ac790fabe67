#include "tenon/schedule/mixed_fusion.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace tenon::schedule {

std::vector<Relation> OfOneKind(const std::vector<Relation>& relations) {
  std::vector<loop::Var> mixed;
  const auto is_mixed = [&](const IterVar& axis) {
    return std::any_of(mixed.begin(), mixed.end(),
                       [&](const loop::Var& var) { return var.same_as(axis.var); });
  };
  std::vector<Relation> kept;
  for (const Relation& relation : relations) {
    const auto* split = std::get_if<SplitRelation>(&relation);
    const auto* fuse = std::get_if<FuseRelation>(&relation);
    if (split != nullptr && is_mixed(split->parent)) {
      mixed.insert(mixed.end(), {split->outer.var, split->inner.var});
    } else if (fuse != nullptr && (fuse->outer.is_reduce != fuse->inner.is_reduce ||
                                   is_mixed(fuse->outer) || is_mixed(fuse->inner))) {
      mixed.push_back(fuse->fused.var);
    } else {
      kept.push_back(relation);
    }
  }
  return kept;
}

std::vector<IterVar> LeavesOf(std::vector<IterVar> roots, const std::vector<Relation>& relations) {
  std::vector<IterVar> leaves = std::move(roots);
  const auto replace = [&](std::initializer_list<IterVar> consumed,
                           std::initializer_list<IterVar> made) {
    for (const IterVar& axis : consumed)
      std::erase_if(leaves, [&](const IterVar& leaf) { return leaf.var.same_as(axis.var); });
    leaves.insert(leaves.end(), made);
  };
  for (const Relation& relation : relations) {
    if (const auto* split = std::get_if<SplitRelation>(&relation)) {
      replace({split->parent}, {split->outer, split->inner});
    } else if (const auto* fuse = std::get_if<FuseRelation>(&relation)) {
      replace({fuse->outer, fuse->inner}, {fuse->fused});
    } else {
      replace({}, {std::get<SingletonRelation>(relation).axis});
    }
  }
  return leaves;
}

const FuseRelation* FindMixedFusion(const std::vector<Relation>& relations) {
  for (const Relation& relation : relations) {
    const auto* fuse = std::get_if<FuseRelation>(&relation);
    if (fuse != nullptr && fuse->outer.is_reduce != fuse->inner.is_reduce) return fuse;
  }
  return nullptr;
}

}  // namespace tenon::schedule
