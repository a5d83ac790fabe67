#include "tenon/loop/pipeline.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "tenon/loop/content.h"
#include "tenon/loop/transform/stream_results.h"
#include "tenon/loop/verify.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

using Context = TransformContext;

// A transform that looks at nothing but the loops.
template <Stmt (*kTransform)(const Stmt&)>
Stmt Plain(const Stmt& stmt, const Context&) {
  return kTransform(stmt);
}

// Transforms and conditions that look at more.
Stmt Streamed(const Stmt& s, const Context& c) { return StreamResults(s, c.function->buffers); }
Stmt Transposed(const Stmt& s, const Context& c) { return TransposeTiles(s, c.row_loads); }
Stmt Copied(const Stmt& s, const Context& c) {
  return VectorizeCopies(s, !c.function->scalars.empty());
}
Stmt Unrolled(const Stmt& s, const Context& c) { return AutoUnroll(s, c.unrolls); }
bool MayStream(const Context& c) { return c.stream_results; }
bool HasLimits(const Context& c) { return !c.unrolls.empty(); }
bool HasScalars(const Context& c) { return !c.function->scalars.empty(); }
bool MayReassociate(const Context& c) { return c.reassociate_sums; }

constexpr Facts kNone, kShaped{Fact::kShapedBuffers}, kFlat{Fact::kFlatBuffers},
    kExpanded{Fact::kNoVectorLoops}, kUnrolled{Fact::kNoUnrolledLoops};
constexpr auto kAlways = nullptr;
constexpr bool kSimplify = true, kKeep = false;
using enum Phase;

// Name, phase, transform, when; needs, ensures, breaks, whether it simplifies; summary.
constexpr Transform kTransforms[] = {
    {"StreamResults", kLowering, Streamed, MayStream, kShaped, kNone, kNone, kKeep,
     "large results are stored non-temporally, unless the schedule says which"},
    {"AlignStreams", kLowering, Plain<AlignStreams>, kAlways, kShaped, kNone, kNone, kKeep,
     "loops that stream begin at whole lines of memory"},
    {"AlignTransposes", kLowering, Plain<AlignTransposes>, kAlways, kShaped, kNone, kNone, kKeep,
     "transpositions that stream collect whole lines first"},
    {"FetchTransposes", kLowering, Plain<FetchTransposes>, kAlways, kShaped, kNone, kNone, kKeep,
     "transpositions that stream prefetch their next rows"},
    {"ShiftTiles", kLowering, Plain<ShiftTiles>, kAlways, kShaped, kNone, kNone, kKeep,
     "tiles beyond the end of an axis move back and are whole"},
    {"VectorizeReductions", kLowering, Plain<VectorizeReductions>, kAlways, kNone, kNone, kNone,
     kSimplify, "reductions that LLVM would leave scalar get vector loops"},
    {"BalanceParallel", kLowering, Plain<BalanceParallel>, kAlways, kNone, kNone, kNone, kSimplify,
     "threads share the iterations that call mathematics"},
    {"HoistGuards", kLowering, Plain<HoistGuards>, kAlways, kNone, kNone, kNone, kSimplify,
     "conditions move out of loops or shorten them"},
    {"PartitionLoops", kLowering, Plain<PartitionLoops>, kAlways, kNone, kNone, kNone, kSimplify,
     "loops are cut where conditions inside change"},
    {"PartitionSelects", kLowering, Plain<PartitionSelects>, kAlways, kNone, kNone, kNone,
     kSimplify, "loops are cut where stored selects change"},
    {"FlattenBuffers", kLowering, Plain<FlattenBuffers>, kAlways, kShaped, kFlat, kShaped,
     kSimplify, "indices become offsets of elements"},
    {"StageTransposedMath", kLowering, Plain<StageTransposedMath>, kAlways, kFlat, kNone, kNone,
     kKeep, "mathematics on transposed tiles runs on whole vectors"},
    {"VectorizeLoops", kLowering, Plain<VectorizeLoops>, kAlways, kFlat, kExpanded, kNone, kKeep,
     "vector loops become statements on vectors"},
    {"TransposeTiles", kLowering, Transposed, kAlways, kFlat | kExpanded, kNone, kNone, kKeep,
     "gathers of tiles become loads and shuffles"},
    {"UnrollLoops", kLowering, Plain<UnrollLoops>, kAlways, kNone, kUnrolled, kNone, kSimplify,
     "unrolled loops become copies"},
    {"AutoUnroll", kLowering, Unrolled, HasLimits, kExpanded | kUnrolled, kNone, kUnrolled,
     kSimplify, "loops that pragmas name are unrolled, here or by LLVM"},
    {"PromoteAccumulators", kLowering, Plain<PromoteAccumulators>, kAlways, kFlat | kExpanded,
     kNone, kNone, kKeep, "vectors of sums under a mask stay in registers"},
    {"ShareMemory", kLowering, Plain<ShareMemory>, kAlways, kFlat, kNone, kNone, kKeep,
     "buffers reuse memory that is not needed any more"},
    {"VectorizeCopies", kCodegen, Copied, kAlways, kFlat, kNone, kExpanded, kKeep,
     "short copies get vector loops"},
    {"VectorizeSums", kCodegen, Plain<VectorizeSums>, MayReassociate, kFlat, kNone, kExpanded,
     kKeep, "long sums that may go in any order get vector loops"},
    {"VectorizeNewLoops", kCodegen, Plain<VectorizeLoops>, kAlways, kFlat, kExpanded, kNone,
     kSimplify, "the vector loops of the rows above become statements on vectors"},
    {"FuseLoops", kCodegen, Plain<FuseLoops>, kAlways, kFlat | kExpanded, kNone, kNone, kKeep,
     "a loop that reads what the one before stores joins it"},
    {"NameIndices", kCodegen, Plain<NameIndices>, HasScalars, kFlat | kExpanded, kNone, kNone,
     kKeep, "long terms of symbolic indices are computed once, outside the loops that repeat them"},
};
static_assert(OrderError(kTransforms) == nullptr);

std::string Words(Facts facts) {
  std::vector<std::string> words;
  for (const Fact fact : kFacts) {
    if (facts.Has(fact)) words.emplace_back(ToString(fact));
  }
  return StrJoin(words, ", ");
}

// Simplification may make equal loops of new nodes.
bool AreEqual(const Stmt& a, const Stmt& b) {
  if (a == b) return true;
  ContentWriter of_a, of_b;
  of_a.Statement(a);
  of_b.Statement(b);
  return of_a.bytes() == of_b.bytes();
}

// One run of a phase.
class Driver {
 public:
  Driver(const Context& context, const PipelineOptions& options)
      : options_(options),
        context_(context),
        function_{.name = context.function->name,
                  .buffers = context.function->buffers,
                  .scalars = context.function->scalars} {}

  Stmt Run(Phase phase, const Stmt& body) {
    body_ = body;
    known_ = phase == Phase::kLowering ? kFactsOfNests : kFactsOfLoweredLoops;
    CheckUserTransforms();
    if (phase == Phase::kLowering) {
      Report(kNests, 0, nullptr, {});
      RunUserTransforms(kNests, 0);
    }
    int number = 0;
    for (const Transform& row : kTransforms) {
      ++number;
      if (row.phase == phase) RunRow(row, number);
    }
    return body_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void RunRow(const Transform& row, int number) {
    const auto start = options_.observer ? Clock::now() : Clock::time_point();
    const Stmt before = body_;
    if (row.when == nullptr || row.when(context_)) {
      body_ = row.run(body_, context_);
      known_ = (known_ - row.breaks) | row.ensures;
    }
    is_simplified_ = is_simplified_ && body_ == before;
    if (row.simplify && !is_simplified_) {
      body_ = Simplify(body_, context_.bounds);
      is_simplified_ = true;
    }
    const auto time = options_.observer ? Clock::now() - start : Clock::duration();
    Report(row.name, number, &before, time);
    RunUserTransforms(row.name, number);
  }

  void CheckUserTransforms() const {
    for (const UserTransform& transform : options_.transforms) {
      const std::vector<std::string> names = StepNames();
      if (transform.run && std::find(names.begin(), names.end(), transform.after) != names.end())
        continue;
      throw InvalidArgument(StrCat("loop pipeline: transform ", transform.name,
                                   transform.run ? StrCat(" is to run after ", transform.after,
                                                          "; the steps are: ", StrJoin(names, ", "))
                                                 : std::string(" has no function")));
    }
  }

  void RunUserTransforms(std::string_view step, int number) {
    for (const UserTransform& transform : options_.transforms) {
      if (transform.after != step) continue;
      const auto start = options_.observer ? Clock::now() : Clock::time_point();
      const Stmt before = body_;
      body_ = transform.run(body_, function_);
      if (!body_)
        throw InvalidArgument(
            StrCat("loop pipeline: transform ", transform.name, " gives no statement"));
      is_simplified_ = is_simplified_ && body_ == before;
      function_.body = body_;
      VerifyUserTransform(transform.name);
      Report(transform.name, number, &before,
             options_.observer ? Clock::now() - start : Clock::duration());
    }
  }

  // Reports a step that made the loops from those `before`, or from nothing.
  void Report(std::string_view name, int number, const Stmt* before, Clock::duration time) {
    if (!options_.verify && !options_.observer) return;
    function_.body = body_;
    if (options_.verify) VerifyAfter(name);
    if (!options_.observer) return;
    options_.observer({.name = name,
                       .number = number,
                       .changed = before == nullptr || !AreEqual(*before, body_),
                       .nanoseconds = std::chrono::nanoseconds(time).count(),
                       .function = function_});
  }

  // The fault is the user's, so this is not an internal error.
  void VerifyUserTransform(const std::string& name) {
    try {
      Verify(function_, known_);
    } catch (const Error& error) {
      throw InvalidArgument(StrCat("loop pipeline: the loops that transform ", name,
                                   " gives break a rule: ", error.what()));
    }
  }

  void VerifyAfter(std::string_view step) {
    try {
      Verify(function_, known_);
    } catch (Error& error) {
      error.AddNote(StrCat("after the loop transform ", step));
      throw;
    }
  }

  const PipelineOptions& options_;
  const Context& context_;
  Function function_;
  Stmt body_;
  Facts known_;
  bool is_simplified_ = true;
};

}  // namespace

std::span<const Transform> LoopTransforms() { return kTransforms; }

std::vector<std::string> StepNames() {
  std::vector<std::string> names = {std::string(kNests)};
  for (const Transform& row : kTransforms) names.emplace_back(row.name);
  return names;
}

std::string PipelineMarkdown() {
  std::string text =
      StrCat("| step | phase | what it does | needs | ensures | breaks | simplifies |\n",
             "| --- | --- | --- | --- | --- | --- | --- |\n");
  for (const Transform& row : kTransforms)
    StrAppend(&text, "| ", row.name,
              row.phase == Phase::kLowering ? " | lowering | " : " | code | ", row.summary, " | ",
              Words(row.needs), " | ", Words(row.ensures), " | ", Words(row.breaks),
              row.simplify ? " | yes |\n" : " | |\n");
  return text;
}

bool IsDebugBuild() {
#ifdef NDEBUG
  return false;
#else
  return true;
#endif
}

Stmt RunPipeline(Phase phase, const Stmt& body, const TransformContext& context,
                 const PipelineOptions& options) {
  return Driver(context, options).Run(phase, body);
}

}  // namespace tenon::loop
