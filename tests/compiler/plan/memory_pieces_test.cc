#include "tenon/compiler/plan/memory_pieces.h"

#include <gtest/gtest.h>

#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::compiler {
namespace {

using testing_graphs::Parsed;

std::vector<Pieces> Of(const std::string& params, const std::string& body) {
  const ir::Module module =
      passes::InferType(Parsed(StrCat("def @main(", params, ") { ", body, " }")));
  return PiecesOf(module.Main());
}

struct Row {
  const char* rule;
  const char* params;
  const char* body;
  std::vector<Pieces> pieces;  // {} for: elements are moved
};

TEST(MemoryPiecesTest, CutsAndJoinsAlongTheOutermostAxisMoveNothing) {
  const char* x = "%x: Tensor[(1, 6, 2, 2), float32]";
  const char* xy = "%x: Tensor[(1, 3, 2), float32], %y: Tensor[(1, 5, 2), float32]";
  const char* tuple = "%t: (Tensor[(2, 3), float32], Tensor[(4, 3), float32])";
  const Row rows[] = {
      {"a reshape is all of its argument", x, "reshape(%x, newshape=[24])", {{{0, 0, 24}}}},
      {"equal parts",
       x,
       "split(%x, indices_or_sections=3, axis=1)",
       {{{0, 0, 8}}, {{0, 8, 8}}, {{0, 16, 8}}}},
      {"parts from cut points",
       x,
       "split(%x, indices_or_sections=[1, 5], axis=-3)",
       {{{0, 0, 4}}, {{0, 4, 16}}, {{0, 20, 4}}}},
      {"one part of a split, under another shape",
       x,
       "%0 = split(%x, indices_or_sections=2, axis=1); reshape(%0.1, newshape=[3, 4])",
       {{{0, 12, 12}}}},
      {"a slice of the outermost axis",
       x,
       "strided_slice(%x, begin=[0, 2], end=[1, 5], strides=[1])",
       {{{0, 8, 12}}}},
      {"single positions, then a range",
       x,
       "strided_slice(%x, begin=[0, 4, 1], end=[1, 5, 2], strides=[1])",
       {{{0, 18, 2}}}},
      {"a single position has any stride",
       x,
       "strided_slice(%x, begin=[0, 5], end=[1, 6], strides=[1, 3])",
       {{{0, 20, 4}}}},
      {"a slice of a slice",
       x,
       "strided_slice(strided_slice(%x, begin=[2], end=[6], strides=[1], axes=[1]), begin=[1], "
       "end=[2], slice_mode=\"size\", strides=[1], axes=[1])",
       {{{0, 12, 8}}}},
      {"a concatenation", xy, "concatenate((%x, %y), axis=1)", {{{0, 0, 6}, {1, 0, 10}}}},
      {"in another order, with a part twice",
       xy,
       "concatenate((%y, %x, %y), axis=-2)",
       {{{1, 0, 10}, {0, 0, 6}, {1, 0, 10}}}},
      {"a concatenation of a parameter's fields",
       tuple,
       "concatenate(%t)",
       {{{0, 0, 6}, {1, 0, 12}}}},
      {"a stack",
       "%x: Tensor[(3, 2), float32], %y: Tensor[(3, 2), float32]",
       "stack((%x, %y))",
       {{{0, 0, 6}, {1, 0, 6}}}},
      {"a join of cuts",
       x,
       "%0 = split(%x, indices_or_sections=2, axis=1); concatenate((%0.1, %0.0), axis=1)",
       {{{0, 12, 12}, {0, 0, 12}}}},
      {"neighbours join to one piece",
       x,
       "%0 = split(%x, indices_or_sections=3, axis=1); concatenate((%0.1, %0.2), axis=1)",
       {{{0, 8, 16}}}},
      {"a cut through a join",
       xy,
       "strided_slice(concatenate((%x, %y), axis=1), begin=[2], end=[6], strides=[1], axes=[1])",
       {{{0, 4, 2}, {1, 0, 6}}}},
      {"a tuple of several",
       xy,
       "(reshape(%y, newshape=[10]), reshape(%x, newshape=[6]))",
       {{{1, 0, 10}}, {{0, 0, 6}}}},
  };
  for (const Row& row : rows) EXPECT_EQ(Of(row.params, row.body), row.pieces) << row.rule;
}

TEST(MemoryPiecesTest, WhateverMovesElementsOrComputesIsNoPiece) {
  const char* x = "%x: Tensor[(2, 6, 2), float32]";
  const Row rows[] = {
      {"parts of an inner axis", x, "split(%x, indices_or_sections=2, axis=1)", {}},
      {"a slice of an inner axis",
       x,
       "strided_slice(%x, begin=[0, 1], end=[2, 3], strides=[1])",
       {}},
      {"a stride", x, "strided_slice(%x, begin=[0, 0], end=[1, 6], strides=[1, 2])", {}},
      {"backwards", x, "strided_slice(%x, begin=[1], end=[-3], strides=[-1])", {}},
      {"a concatenation of an inner axis", x, "concatenate((%x, %x), axis=1)", {}},
      {"a stack on an inner axis", x, "stack((%x, %x), axis=1)", {}},
      {"a transposition", x, "transpose(%x, axes=[1, 0, 2])", {}},
      {"arithmetic", x, "split(negative(%x), indices_or_sections=2, axis=0)", {}},
      {"a constant", x, "(%x, 1f)", {}},
  };
  for (const Row& row : rows) EXPECT_EQ(Of(row.params, row.body), row.pieces) << row.rule;
}

TEST(MemoryPiecesTest, ACutWithoutElementsHasNoPieces) {
  EXPECT_EQ(Of("%x: Tensor[(0, 3), float32], %y: Tensor[(2, 3), float32]", "concatenate((%x, %y))"),
            (std::vector<Pieces>{{{0, 0, 0}, {1, 0, 6}}}));
  EXPECT_EQ(Of("%x: Tensor[(4), float32]", "split(%x, indices_or_sections=[0, 4])"),
            (std::vector<Pieces>{{}, {{0, 0, 4}}, {}}));
}

TEST(MemoryPiecesTest, AViewIsOnePieceOfOneArgumentForEachResult) {
  EXPECT_TRUE(IsView({{{0, 0, 4}}, {{0, 8, 4}}}));
  EXPECT_FALSE(IsView({}));
  EXPECT_FALSE(IsView({{{0, 0, 4}}, {{1, 0, 4}}}));
  EXPECT_FALSE(IsView({{{0, 0, 4}, {0, 8, 4}}}));
  EXPECT_FALSE(IsView({{}, {{0, 0, 4}}}));
}

}  // namespace
}  // namespace tenon::compiler
