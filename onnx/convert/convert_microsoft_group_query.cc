// GroupQueryAttention of ONNX Runtime's domain com.microsoft: attention of a decoder with its cache
// of keys and values, into which the new ones are written first. The cache has the extent that the
// model gives it, or grows by the new ones; how much of it counts is an input.
#include <algorithm>

#include "tenon/ir/parse_extents.h"
#include "tenon/onnx/convert/attention.h"
#include "tenon/onnx/convert/cache_write.h"
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/count_within.h"
#include "tenon/onnx/convert/rotary.h"
#include "tenon/onnx/convert/scaled_dot_product.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

using Dims = std::vector<Dim>;

void RefuseModes(Node& node) {
  for (const char* name : {"k_quant_type", "v_quant_type"}) {
    if (const std::string type = node.String(name, "NONE"); type != "NONE")
      throw Unimplemented(
          StrCat("the attribute ", name, " is ", type, "; a cache of floats (NONE) is supported"));
  }
  if (const std::int64_t kind = node.Int("qk_output", 0); kind != 0)
    throw Unimplemented(StrCat("qk_output is ", kind, "; 0 (no scores) is supported"));
  node.Ignore("kv_cache_bit_width");  // of a quantised cache
}

// The attribute kv_num_heads. Throws InvalidArgument unless it divides the heads.
std::int64_t Groups(Node& node, std::int64_t heads) {
  const std::int64_t groups = node.Int("kv_num_heads", 0);
  constexpr std::int64_t kMaxHeads = 1 << 20;
  if (heads > kMaxHeads)
    throw InvalidArgument(StrCat("num_heads is ", heads, "; it may be ", kMaxHeads, " at most"));
  if (groups < 1 || heads % groups != 0)
    throw InvalidArgument(
        StrCat("kv_num_heads is ", groups, "; it must divide the ", heads, " heads"));
  return groups;
}

// [batch, length, size] of query, key and value, which may be packed into one tensor.
std::vector<Expr> Parts(Node& node, std::int64_t heads, std::int64_t groups) {
  const Expr& query = node.input(0);
  const Dims shape = DimsOf(query);
  if (shape.size() != 3) throw InvalidArgument("input 0 must have the shape (batch, length, size)");
  if (node.has_input(1) != node.has_input(2))
    throw InvalidArgument("key and value must be given together");
  if (node.has_input(1)) return {query, node.input(1), node.input(2)};
  if (!shape[2].is_static() || shape[2].value() % (heads + 2 * groups) != 0)
    throw InvalidArgument(StrCat("input 0 has ", shape[2].ToString(),
                                 " elements, which are not divided by ", heads, " heads and ",
                                 groups, " heads each of key and value"));
  const std::int64_t size = shape[2].value() / (heads + 2 * groups);
  return PartsAlong(node, query, {heads * size, (heads + groups) * size}, 2);
}

// What every part of the computation reads.
struct Sequences {
  Dim batch, length, total;  // of new keys, and of all
  Expr begins;               // int64 [batch]: where the new keys are written
};

Dim TotalLength(Node& node) {
  const auto value = DimsOfValue(node.input(6));
  if (!value || value->size() != 1) return node.ConstantInt(6);
  return (*value)[0];
}

// The first keys are those of a prompt, which may be padded at its end. Later ones end where input
// 5 says. Which of both a run is, its extents decide where they are variables.
Expr BeginsOf(Node& node, const Sequences& s) {
  if (s.total == s.length) {
    const Expr zero = Integer(0);
    return node.Typed(BroadcastTo(node.extents(), zero, {s.batch}));
  }
  const Expr last = node.Typed(ops::Reshape(node.Typed(ops::Cast(node.input(5), Int64)), Ints{-1}));
  const bool always_fits = Max(s.length, s.total) == s.total;
  const Expr length = always_fits ? node.Typed(ExtentValue(node.input(0), 1))
                                  : CountWithin(node, s.length, s.total);
  const Expr before =
      node.Typed(ops::Subtract(last, node.Typed(ops::Subtract(length, ops::Scalar(1, Int64)))));
  if (s.total.is_static() && s.length.is_static()) return before;
  const Expr total = node.Typed(ops::Reshape(node.Typed(ops::Cast(node.input(6), Int64)), Ints{}));
  const Expr is_prompt = node.Typed(ir::Call::Make(ops::Known().equal, {total, length}));
  return node.Typed(ops::Where(is_prompt, ops::Scalar(0, Int64), before));
}

Sequences SequencesOf(Node& node) {
  const Dims query = DimsOf(node.input(0));
  Sequences s{query[0], query[1], TotalLength(node), Expr()};
  if (s.total.is_static() && s.length.is_static() && s.total.value() < s.length.value())
    throw InvalidArgument(StrCat("input 6, total_sequence_length, is ", s.total.ToString(), " for ",
                                 s.length.ToString(), " new positions; it must include them"));
  s.begins = BeginsOf(node, s);
  if (DimsOf(s.begins) != Dims{s.batch})
    throw InvalidArgument(StrCat("input 5, seqlens_k, must have a number for each of the ",
                                 s.batch.ToString(), " sequences"));
  return s;
}

// The cache and zeros, of the given extents.
Expr Lengthened(const Node& node, const Expr& cache, const Dims& shape) {
  const Dims past = DimsOf(cache);
  if (past[2] == shape[2]) return cache;
  const Expr zero = node.Typed(ops::Scalar(0, DataTypeOf(cache)));
  Dims more = shape;
  if (past[2] == Dim(0)) return node.Typed(BroadcastTo(node.extents(), zero, more));
  more[2] = shape[2] - past[2];
  const Expr zeros = node.Typed(BroadcastTo(node.extents(), zero, more));
  return node.Typed(ops::Concatenate({cache, zeros}, 2));
}

// The cache at input `i` with the new elements, [batch, groups, length of the cache, size].
Expr Present(const Node& node, std::size_t i, const Expr& made, const Sequences& s) {
  Dims shape = DimsOf(made);
  if (!node.has_input(i)) {
    if (s.total != s.length)
      throw InvalidArgument(StrCat("input ", i,
                                   ", the past, is missing; total_sequence_length "
                                   "says that there are ",
                                   (s.total - s.length).ToString(), " keys in it"));
    return made;
  }
  const Dims past = DimsOf(node.input(i));
  RequirePast(i, past, shape);
  shape[2] = Max(past[2], s.total);
  if (shape[2] == s.length) return made;
  return WrittenAt(node, Lengthened(node, node.input(i), shape), made, s.begins, {.axis = 2});
}

// The keys that the cache holds, without places that are not used yet.
Expr Used(const Node& node, const Expr& cache, const Sequences& s) {
  if (DimsOf(cache)[2] == s.total) return cache;
  return node.Typed(FirstOf(node.extents(), cache, s.total, 2));
}

Angles AnglesOf(Node& node, const Sequences& s) {
  Expr positions = node.optional_input(9);
  if (!positions)
    positions = node.Typed(
        ops::Add(node.Typed(ops::ExpandDims(s.begins, 1)), PlacesAlong(node, 2, 1, s.length)));
  const auto rows = [&](std::size_t i) {
    if (RankOf(node.input(i)) != 2)
      throw InvalidArgument(StrCat("input ", i, ", of do_rotary, must be a matrix"));
    return node.Typed(ops::Take(node.input(i), positions, {.axis = 0}));
  };
  return {rows(7), rows(8), node.Int("rotary_interleaved", 0) != 0};
}

std::vector<Expr> GroupQueryAttention(Node& node) {
  RefuseModes(node);
  const std::int64_t heads = NumHeads(node), groups = Groups(node, heads);
  const std::vector<Expr> parts = Parts(node, heads, groups);
  const Sequences s = SequencesOf(node);
  Expr query = SplitHeads(node, parts[0], heads), key = SplitHeads(node, parts[1], groups);
  const std::int64_t size = DimsOf(query)[3].value();
  if (node.Int("do_rotary", 0) != 0) {
    const Angles angles = AnglesOf(node, s);
    const std::int64_t turned = 2 * DimsOf(angles.cosine).back().value();
    query = Rotated(node, query, angles, size, turned);
    key = Rotated(node, key, angles, size, turned);
  } else {
    node.Ignore("rotary_interleaved");
  }
  const Expr present_key = Present(node, 3, key, s);
  const Expr present_value = Present(node, 4, SplitHeads(node, parts[2], groups), s);
  ScaledDotProduct of{.query = query,
                      .key = Used(node, present_key, s),
                      .value = Used(node, present_value, s),
                      .softcap = node.Float("softcap", 0),
                      .bias = node.optional_input(10),
                      .causal_offset = s.begins,
                      .window = node.Int("local_window_size", -1)};
  // ONNX Runtime takes 0 for a scale that is not given.
  if (const double scale = node.Float("scale", 0); scale != 0) of.scale = scale;
  if (node.has_input(11)) {
    of.sinks = node.input(11);
  } else if (node.Int("smooth_softmax", 0) > 0) {
    of.sinks = ZerosOf({heads}, DataTypeOf(query));
  }
  node.Ignore("smooth_softmax");
  Expr y = node.Typed(ops::Transpose(Attended(node, of).result, Ints{0, 2, 1, 3}));
  y = node.Typed(ReshapeTo(node.extents(), y, {s.batch, s.length, heads * DimsOf(y)[3].value()}));
  return {y, present_key, present_value};
}

}  // namespace

void AddMicrosoftGroupQueryConverters(ConverterTable* table) {
  (*table)["GroupQueryAttention"] =
      Converter(GroupQueryAttention)
          .With({.known = {{6, "total_sequence_length", "unless it is an expression of extents"}},
                 .other = "a cache of floats; no output of scores"});
}

}  // namespace tenon::onnx_import
