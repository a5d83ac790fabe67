// Loop transforms. Each takes and gives a statement and keeps its meaning. loop/pipeline.h says in
// which order they run, and on which facts about the loops they rely.
#ifndef TENON_LOOP_TRANSFORM_TRANSFORMS_H_
#define TENON_LOOP_TRANSFORM_TRANSFORMS_H_

#include <cstdint>
#include <unordered_map>

#include "tenon/loop/stmt.h"
#include "tenon/support/target.h"

namespace tenon::loop {

// Multi-dimensional indices become one row-major element offset.
Stmt FlattenBuffers(const Stmt& stmt);

// A serial loop around vectors with non-temporal stores one after the other, from a place in
// the middle of a line, begins earlier and ends later, so that all whole vectors store whole lines.
// If the next vectors go on after them, the line in which those will end is fetched.
Stmt AlignStreams(const Stmt& stmt);

// A transposition with non-temporal stores of square tiles, in rows that begin anywhere in a line,
// first collects some rows of whole lines in a small buffer. The source's next rows are fetched.
Stmt AlignTransposes(const Stmt& stmt);

// A transposition with non-temporal stores of whole lines fetches the source's rows of
// the next block.
Stmt FetchTransposes(const Stmt& stmt);

// The tiles of a transposition (an unrolled loop around a vectorised one) that reach beyond an axis
// are moved back, so that all are whole, and elements may be stored twice. What is stored to must
// not be memory of what is read.
Stmt ShiftTiles(const Stmt& stmt);

// Reductions along a serial loop that LLVM would leave scalar get vectorised loops: those whose
// values call vector math, and those whose results may be combined in any order (any of bools, the
// pairs of argmax). The loop's extent is constant or min(constant, x), perhaps as a guard inside
// it. The order is the same in every run.
Stmt VectorizeReductions(const Stmt& stmt);

// A parallel loop of constant extent in which only the first or the last iterations call vector
// math, as where a concatenation's parts differ, becomes one in which every run of iterations has
// its share of them. Extents that have no divisor up to 8 stay.
Stmt BalanceParallel(const Stmt& stmt);

// Whether it is a function of the vector math library, which costs as much as many instructions.
bool IsVectorMath(Intrinsic intrinsic);
bool CallsVectorMath(const Expr& expr);
bool CallsVectorMath(const Stmt& stmt);

// Moves conditions out of loops: one that does not use the loop's variable goes around the loop,
// and one that bounds it (v + a < b) shortens the loop instead of being tested in every iteration.
// A vectorised loop gets both forms: whole vectors, and one that keeps its condition, which
// vectorisation turns into a mask. An unrolled loop gets whole copies and a serial rest.
Stmt HoistGuards(const Stmt& stmt);

// A serial loop inside which statements test conditions that bound its variable becomes up to three
// loops. The longest, in the middle, does not test them: the last block of a split runs under its
// mask, all others run whole. Also decides extents min(constant, x) of loops inside.
Stmt PartitionLoops(const Stmt& stmt);

// Products and quotients in indices are computed, under a name, in the outermost loop that does not
// change them. Requires flat buffers.
Stmt NameIndices(const Stmt& stmt);

// A loop whose body stores if_then_else(c, a, b), where c bounds the loop's variable, becomes up to
// three loops that store a or b without a test: padding and concatenation cost no test per element.
Stmt PartitionSelects(const Stmt& stmt);

// An unrolled loop around a shorter vectorised one may call vector math on elements that lie
// together along the unrolled loop. It then calls it on the longer vectors, and their results are
// stored as before by way of a small buffer. Requires flat buffers.
Stmt StageTransposedMath(const Stmt& stmt);

// How the rows of a tile come into registers.
enum class RowLoads {
  kParts,  // 128 bits at a time, for CPUs that shuffle these parts in one unit alone
  kWhole,  // where rows are whole lines apart
};
RowLoads RowLoadsFor(const Target& target);

// An unrolled loop that stores one vector of 4 to 64 elements each time, gathered from the places
// that follow those of the iteration before, becomes loads of what lies together, a network of
// shuffles and the stores as they were. With n the power of two that the elements fill, it has 4 to
// n iterations or a multiple of n. Only its first lanes may be wanted. Requires expanded vectors.
Stmt TransposeTiles(const Stmt& stmt, RowLoads loads);

// Unrolled loops of constant extent become copies of their bodies. Those of more than 128
// iterations become loops over parts of 16 copies. Throws InvalidArgument for an extent that is not
// constant.
Stmt UnrollLoops(const Stmt& stmt);

// A loop is unrolled while its copies together have at most `max_step` stores.
struct UnrollLimit {
  std::int64_t max_step = 0;
  bool is_explicit = true;  // in the loops themselves; else it is left to LLVM
};
// The limits by the loops' variables.
using UnrollLimits = std::unordered_map<Expr, UnrollLimit, ExprHash, ExprSame>;

// Unrolls serial loops of constant extent that have limits, as these say. Requires that vectorised
// and unrolled loops are expanded.
Stmt AutoUnroll(const Stmt& stmt, const UnrollLimits& limits);

// Vectorised loops become statements on vectors, in which a condition that differs by lane is the
// predicate of loads and stores. Loops whose body does not allow that (a condition that reads
// memory around statements, a store that all lanes hit, an inner allocation) become serial, and so
// do those of more than 256 iterations (Split makes them shorter). Requires flat buffers; throws
// InvalidArgument for an extent that is not constant.
Stmt VectorizeLoops(const Stmt& stmt);

// A vector of sums that serial loops update under a mask, always at the same place, is kept in an
// allocation of its own, without a mask, until they end, so that registers can hold it. Requires
// expanded vectors and simplified indices.
Stmt PromoteAccumulators(const Stmt& stmt);

// A buffer of constant size takes the memory of an earlier one that the statements around it do not
// use any more, if both have the same element type and kind of memory. That memory becomes as large
// as the larger of them. Small buffers, which registers may hold, keep theirs. Requires flat
// buffers.
Stmt ShareMemory(const Stmt& stmt);

// Sums of floats along memory that may go in any order, and have more terms than one of LLVM's
// vectorised iterations takes, get one accumulator per lane and one more block for the rest. If the
// terms are a multiple of such iterations, that happens only where an allocated buffer is read,
// whose loop may take the sum in. Makes vectorised loops. Requires flat buffers.
Stmt VectorizeSums(const Stmt& stmt);

// Loops of a block that run equally often and store vectors become one if each iteration of the
// later one needs what the same iteration of the earlier one has stored, and nothing of other
// iterations. Requires flat buffers and expanded vectors.
Stmt FuseLoops(const Stmt& stmt);

// Serial copies of 4 to 128 elements that lie together, from one buffer to another, move vectors.
// The last vector may overlap the one before. Makes vectorised loops. Requires flat buffers. With
// `of_any_length` the same happens to copies and constants whose lengths are not numbers; then the
// last vector is under a mask.
Stmt VectorizeCopies(const Stmt& stmt, bool of_any_length = false);

}  // namespace tenon::loop

#endif  // TENON_LOOP_TRANSFORM_TRANSFORMS_H_
