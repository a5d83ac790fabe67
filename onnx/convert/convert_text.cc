// TfIdfVectorizer over integers: how often each n-gram of a pool occurs in a row, with up to
// max_skip_count elements between neighbours, each distance counted for itself.
#include <algorithm>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

Expr Vector(const std::vector<std::int64_t>& values) {
  return ir::Constant::Make(
      NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values));
}

struct Pool {
  Ints items;    // the n-grams, those of one length after the other
  Ints begins;   // where those of each length, from 1 on, begin
  Ints columns;  // of each n-gram in the result
  std::int64_t width = 0;
};

Pool PoolOf(Node& node) {
  if (node.Has("pool_strings"))
    throw Unimplemented("pool_strings: text is not supported; pool_int64s is");
  Pool pool{node.IntsOr("pool_int64s", {}), node.IntsOr("ngram_counts", {}),
            node.IntsOr("ngram_indexes", {})};
  for (const std::int64_t column : pool.columns) {
    if (column < 0) throw InvalidArgument(StrCat("ngram_indexes has ", column));
    RequireConstantSize(static_cast<double>(column) + 1);
    pool.width = std::max(pool.width, column + 1);
  }
  std::int64_t grams = 0;
  const auto size = static_cast<std::int64_t>(pool.items.size());
  for (std::size_t i = 0; i < pool.begins.size(); ++i) {
    const std::int64_t begin = pool.begins[i];
    const std::int64_t end = i + 1 < pool.begins.size() ? pool.begins[i + 1] : size;
    if (begin < 0 || end < begin || end > size ||
        (end - begin) % (static_cast<std::int64_t>(i) + 1) != 0)
      throw InvalidArgument(StrCat("ngram_counts says that the ", i + 1, "-grams are the items ",
                                   begin, " to ", end, " of ", size));
    grams += (end - begin) / (static_cast<std::int64_t>(i) + 1);
  }
  if (grams != static_cast<std::int64_t>(pool.columns.size()) || pool.width == 0)
    throw InvalidArgument(StrCat("ngram_indexes has ", pool.columns.size(), " columns for ", grams,
                                 " n-grams; there must be one for each, and at least one"));
  return pool;
}

// The places of rows at which an n-gram may begin, and the elements at a distance from them.
class Windows {
 public:
  // `reach` is the distance of the last element.
  Windows(const Node& node, const Expr& x, std::int64_t reach) : node_(node), x_(x) {
    const Dim length = DimsOf(x)[1];
    if (length.is_static()) {
      count_ = length.value() - reach;
      return;
    }
    places_ = node.Typed(Places(node.extents(), length));
    last_ = node.Typed(ops::Subtract(ValueOfCount(node, length), Integer(1)));
    fits_ = Call(ops::Known().less_equal, Plus(reach), last_);
  }

  bool has_none() const { return !places_ && count_ <= 0; }
  // Where `fits` is false, any element of the row.
  Expr PartAt(std::int64_t distance) const {
    if (places_)
      return node_.Typed(
          ops::Take(x_, node_.Typed(ops::Minimum(Plus(distance), last_)), {.axis = 1}));
    return node_.Typed(ops::StridedSlice(
        x_, {.begin = {distance}, .end = {distance + count_}, .strides = {1}, .axes = Ints{1}}));
  }
  // Whether a place has an element at each distance, where only a run knows; else null.
  const Expr& fits() const { return fits_; }

 private:
  Expr Call(const Expr& op, const Expr& a, const Expr& b) const {
    return node_.Typed(ir::Call::Make(op, {a, b}));
  }
  Expr Plus(std::int64_t distance) const {
    return Call(ops::Known().add, places_, Integer(distance));
  }

  const Node& node_;
  const Expr x_;
  std::int64_t count_ = 0;
  Expr places_, last_, fits_;
};

// How often each n-gram of length `n` occurs in the rows of `x`, [rows, n-grams], at a distance of
// `step` between its elements; undefined when rows are too short.
Expr Occurrences(const Node& node, const Expr& x, const Ints& grams, std::int64_t n,
                 std::int64_t step) {
  const Windows windows(node, x, step * (n - 1));
  if (windows.has_none()) return Expr();
  const auto& known = ops::Known();
  Expr all;
  const auto add = [&](const Expr& condition) {
    all = all ? node.Typed(ir::Call::Make(known.logical_and, {all, condition})) : condition;
  };
  for (std::int64_t k = 0; k < n; ++k) {
    std::vector<std::int64_t> wanted;
    for (std::size_t i = static_cast<std::size_t>(k); i < grams.size();
         i += static_cast<std::size_t>(n))
      wanted.push_back(grams[i]);
    const Expr part = node.Typed(ops::ExpandDims(windows.PartAt(k * step), 2));
    add(node.Typed(ir::Call::Make(known.equal, {part, Vector(wanted)})));
  }
  if (windows.fits()) add(node.Typed(ops::ExpandDims(windows.fits(), 1)));
  return node.Typed(ops::Sum(ops::Cast(all, Float32), {.axis = Ints{1}}));
}

// The standard has a weight for each n-gram of the pool, in the pool's order. Columns without an
// n-gram are zero whatever their weight.
std::vector<float> ColumnWeights(const Pool& pool, const std::vector<float>& weights) {
  if (weights.size() != pool.columns.size())
    throw InvalidArgument(StrCat("weights has ", weights.size(), " values for ",
                                 pool.columns.size(), " n-grams; there must be one for each"));
  std::vector<float> of_columns(static_cast<std::size_t>(pool.width), 1);
  std::vector<bool> is_taken(of_columns.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto column = static_cast<std::size_t>(pool.columns[i]);
    if (is_taken[column] && of_columns[column] != weights[i])
      throw Unimplemented(StrCat("n-grams of the weights ", of_columns[column], " and ", weights[i],
                                 " are counted in column ", column,
                                 "; those of one column must have one weight"));
    is_taken[column] = true;
    of_columns[column] = weights[i];
  }
  return of_columns;
}

// Of the elements of n-grams, at all distances.
constexpr std::int64_t kMaxSteps = 4096;

std::vector<Expr> TfIdfVectorizer(Node& node) {
  const std::string mode = node.String("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    throw InvalidArgument(StrCat("mode is ", mode, "; it may be TF, IDF or TFIDF"));
  const Pool pool = PoolOf(node);
  const std::int64_t shortest = node.Int("min_gram_length", 0),
                     longest = node.Int("max_gram_length", 0),
                     skips = node.Int("max_skip_count", 0);
  if (shortest < 1 || longest < shortest || skips < 0)
    throw InvalidArgument(StrCat("n-grams of ", shortest, " to ", longest, " elements with up to ",
                                 skips, " skipped are asked for"));
  const std::int64_t rank = RankOf(node.input(0));
  if (rank > 2) throw InvalidArgument(StrCat("input 0 has rank ", rank, "; it must be 1 or 2"));
  Expr x = node.Typed(ops::Cast(node.input(0), Int64));
  if (rank < 2) x = node.Typed(ops::ReshapeToExtents(x, {1, -1}));
  const Dim rows = DimsOf(x)[0], length = DimsOf(x)[1];
  Expr counts =
      node.Typed(BroadcastTo(node.extents(), node.Typed(ops::Scalar(0)), {rows, pool.width}));
  std::size_t gram = 0;
  for (std::size_t i = 0; i < pool.begins.size(); ++i) {
    const auto n = static_cast<std::int64_t>(i) + 1;
    const auto begin = static_cast<std::ptrdiff_t>(pool.begins[i]);
    const auto end = i + 1 < pool.begins.size() ? static_cast<std::ptrdiff_t>(pool.begins[i + 1])
                                                : static_cast<std::ptrdiff_t>(pool.items.size());
    const Ints grams(pool.items.begin() + begin, pool.items.begin() + end);
    const Ints columns(
        pool.columns.begin() + static_cast<std::ptrdiff_t>(gram),
        pool.columns.begin() + static_cast<std::ptrdiff_t>(gram) + (end - begin) / n);
    gram += columns.size();
    if (columns.empty() || n < shortest || n > longest) continue;
    // Single elements have no distance, and are counted once.
    const std::int64_t longest_step = !length.is_static() ? kMaxSteps
                                      : n == 1            ? 1
                                                          : (length.value() - 1) / (n - 1);
    const std::int64_t steps = n == 1 ? 1 : std::min(skips, longest_step - 1) + 1;
    if (steps > kMaxSteps / n)
      throw Unimplemented(StrCat(n, "-grams at ", steps, " distances are asked for; at most ",
                                 kMaxSteps / n, " are supported, each of them written out"));
    for (std::int64_t step = 1; step <= steps; ++step) {
      const Expr found = Occurrences(node, x, grams, n, step);
      if (!found) break;
      const Expr places = node.Typed(BroadcastTo(
          node.extents(), Vector(columns), {rows, static_cast<std::int64_t>(columns.size())}));
      counts =
          node.Typed(ops::ScatterElements(counts, places, found, {.axis = 1, .reduction = "add"}));
    }
  }
  Expr y = counts;
  if (mode == "IDF")
    y = node.Typed(
        ops::Cast(ir::Call::Make(ops::Known().greater, {counts, ops::Scalar(0)}), Float32));
  const auto* given = node.Find("weights");
  if (mode != "TF" && given != nullptr && given->floats_size() > 0) {
    const std::vector<float> weights(given->floats().begin(), given->floats().end());
    y = node.Typed(ops::Multiply(
        y, ir::Constant::Make(NDArray::FromVector({pool.width}, ColumnWeights(pool, weights)))));
  }
  return {rank < 2 ? node.Typed(ops::ReshapeToExtents(y, {pool.width})) : y};
}

}  // namespace

void AddTextConverters(ConverterTable* table) {
  (*table)["TfIdfVectorizer"] =
      Converter(TfIdfVectorizer)
          .With({.other = "integers (pool_int64s); at most 4096 / n distances within n-grams"});
}

}  // namespace tenon::onnx_import
