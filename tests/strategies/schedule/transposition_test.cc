// Transpositions in cache and from memory: the order of tiles, runs of them, and stores past the
// caches.
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using testing_graphs::Parsed;

struct Transposition {
  Shape shape;
  std::vector<std::int64_t> axes;
  bool streams;
  bool follows_rows = false;  // of the source, one after the other
};

void PrintTo(const Transposition& t, std::ostream* out) { *out << ShapeToString(t.shape); }

// Options for vectors of 64 bytes, whatever the host has: these loops are only looked at.
CompileOptions Wide() {
  CompileOptions options{.library = LibraryChoice::kTe};
  options.target.vector_bytes = 64;
  options.target.vector_registers = 32;
  return options;
}

class TranspositionTest : public ::testing::TestWithParam<Transposition> {
 protected:
  Lowered Compiled() const {
    const Transposition& t = GetParam();
    return ValueOrThrow(
        Lower(Parsed(StrCat("fn (%x: Tensor[", ShapeToString(t.shape),
                            ", float32]) { transpose(%x, axes=[", StrJoin(t.axes, ", "), "]) }")),
              Wide()));
  }
};

TEST_P(TranspositionTest, MovesEveryElement) {
  const auto& [shape, axes, streams, follows_rows] = GetParam();
  NDArray x = NDArray::Zeros(shape, Int32);
  for (std::int64_t i = 0; i < x.size(); ++i) x.data<std::int32_t>()[i] = static_cast<int>(i);
  // The bits of integers are those of floats, of which none is computed with.
  const NDArray floats =
      NDArray::View(shape, Float32, x.data<std::int32_t>(), std::make_shared<NDArray>(x));
  const std::vector<NDArray> results =
      ValueOrThrow(ValueOrThrow(Link(Compiled())).Run({{"x", floats}}));
  const auto* y = static_cast<const std::int32_t*>(results[0].raw());
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * shape[d + 1];
  const Shape& to = results[0].shape();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    std::int64_t rest = i, from = 0;
    for (std::size_t d = shape.size(); d-- > 0; rest /= to[d])
      from += rest % to[d] * strides[static_cast<std::size_t>(axes[d])];
    ASSERT_EQ(y[i], from) << "element " << i;
  }
}

TEST_P(TranspositionTest, StreamsWhatIsLargerThanCachesAndFetchesWhatFollows) {
  const Lowered lowered = Compiled();
  const std::string loops =
      loop::Print(std::get<loop::Function>(lowered.kernels.at(0).choice.built.kernel));
  EXPECT_EQ(loops.find("non-temporal") != std::string::npos, GetParam().streams);
  EXPECT_EQ(loops.find("prefetch_later") != std::string::npos,
            GetParam().streams && !GetParam().follows_rows);
}

class StagedTranspositionTest : public TranspositionTest {};

// Rows of the result begin anywhere in a line.
TEST_P(StagedTranspositionTest, WritesLongRowsByWholeLines) {
  const Lowered lowered = Compiled();
  const auto& function = std::get<loop::Function>(lowered.kernels.at(0).choice.built.kernel);
  EXPECT_EQ(loop::Print(function).find("allocate staged") != std::string::npos, GetParam().streams);
}

INSTANTIATE_TEST_SUITE_P(Shapes, StagedTranspositionTest,
                         ::testing::Values(Transposition{{2053, 2049}, {1, 0}, true},
                                           Transposition{{2053, 2064}, {1, 0}, true},
                                           Transposition{{7, 1031, 777}, {0, 2, 1}, true},
                                           Transposition{{2048, 2049}, {1, 0}, false},
                                           Transposition{{131, 40009}, {1, 0}, false},
                                           Transposition{{40009, 131}, {1, 0}, false}));

class CachedTranspositionTest : public TranspositionTest {};

TEST_P(CachedTranspositionTest, FollowsTheShorterRowsTileByTile) {
  const Lowered lowered = Compiled();
  const std::string loops =
      loop::Print(std::get<loop::Function>(lowered.kernels.at(0).choice.built.kernel));
  const std::size_t longer = loops.find("in [0, 49)"), shorter = loops.find("in [0, 4)");
  ASSERT_NE(longer, std::string::npos) << loops;
  ASSERT_NE(shorter, std::string::npos) << loops;
  EXPECT_LT(longer, shorter) << loops;
}

INSTANTIATE_TEST_SUITE_P(Shapes, CachedTranspositionTest,
                         ::testing::Values(Transposition{{784, 64}, {1, 0}, false},
                                           Transposition{{64, 784}, {1, 0}, false}));

INSTANTIATE_TEST_SUITE_P(
    Shapes, TranspositionTest,
    ::testing::Values(
        Transposition{{2048, 2048}, {1, 0}, true}, Transposition{{2053, 2049}, {1, 0}, true},
        Transposition{{2053, 2064}, {1, 0}, true}, Transposition{{1024, 1024}, {1, 0}, false},
        Transposition{{784, 64}, {1, 0}, false}, Transposition{{64, 784}, {1, 0}, false},
        Transposition{{3, 211, 35}, {0, 2, 1}, false}, Transposition{{1031, 1409}, {1, 0}, false},
        Transposition{{3, 1031, 1409}, {0, 2, 1}, true},
        Transposition{{2, 64, 200, 197}, {0, 2, 3, 1}, true, true},
        Transposition{{5, 41, 1537, 17}, {0, 3, 1, 2}, true},
        Transposition{{300, 128, 128}, {0, 2, 1}, true}));

struct NarrowTransposition {
  DataType type;
  std::int64_t rows, columns;
  const char* wide;     // the result's vectors, in the loops
  bool staged = false;  // by whole lines, non-temporally
};

void PrintTo(const NarrowTransposition& t, std::ostream* out) {
  *out << t.type.ToString() << " " << t.rows << " x " << t.columns;
}

class NarrowTranspositionTest : public ::testing::TestWithParam<NarrowTransposition> {};

// Tiles at the ends of axes are moved back, so that nothing is stored under a condition.
TEST_P(NarrowTranspositionTest, StoresWholeLinesOfVectors) {
  const auto& [type, rows, columns, wide, staged] = GetParam();
  const Lowered lowered =
      ValueOrThrow(Lower(Parsed(StrCat("fn (%x: Tensor[(", rows, ", ", columns, "), ",
                                       type.ToString(), "]) { transpose(%x, axes=[1, 0]) }")),
                         Wide()));
  const std::string loops =
      loop::Print(std::get<loop::Function>(lowered.kernels.at(0).choice.built.kernel));
  EXPECT_NE(loops.find(wide), std::string::npos) << loops;
  EXPECT_EQ(loops.find("allocate staged") != std::string::npos, staged) << loops;
  EXPECT_EQ(loops.find(" where ") != std::string::npos, staged) << loops;

  const auto bytes = static_cast<std::int64_t>(type.bytes());
  NDArray x = NDArray::Zeros({rows, columns}, type);
  auto* from = static_cast<unsigned char*>(x.raw());
  const int kinds = type.is_bool() ? 2 : 251;
  for (std::int64_t i = 0; i < rows * columns * bytes; ++i)
    from[i] = static_cast<unsigned char>(i * 7 % kinds);
  const std::vector<NDArray> results = ValueOrThrow(ValueOrThrow(Link(lowered)).Run({{"x", x}}));
  const auto* to = static_cast<const unsigned char*>(results[0].raw());
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t b = 0; b < bytes; ++b)
        ASSERT_EQ(to[(c * rows + r) * bytes + b], from[(r * columns + c) * bytes + b])
            << r << ", " << c;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, NarrowTranspositionTest,
                         ::testing::Values(NarrowTransposition{Int8, 64, 64, "1, 64)]"},
                                           NarrowTransposition{Int8, 197, 769, "1, 64)]"},
                                           NarrowTransposition{UInt8, 4099, 67, "1, 64)]"},
                                           NarrowTransposition{Bool, 65, 1031, "1, 64)]"},
                                           NarrowTransposition{Int8, 63, 65, "1, 16)]"},
                                           NarrowTransposition{BFloat16, 32, 33, "1, 32)]"},
                                           NarrowTransposition{BFloat16, 197, 769, "1, 32)]"},
                                           NarrowTransposition{Float16, 4096, 127, "1, 32)]"},
                                           NarrowTransposition{Int16, 31, 47, "1, 16)]"},
                                           NarrowTransposition{Int8, 3001, 3203, "1, 64)]"},
                                           NarrowTransposition{BFloat16, 3001, 3203, "1, 32)]",
                                                               true},
                                           NarrowTransposition{Float32, 17, 19, "1, 16)]"}));

}  // namespace
}  // namespace tenon::strategies
