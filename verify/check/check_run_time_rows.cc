#include "tenon/verify/check/check_run_time_rows.h"

#include <cstring>
#include <vector>

#include "tenon/ir/text_format.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/check/compiled_run.h"
#include "tenon/verify/interpret.h"

namespace tenon::verify {
namespace {

using ir::Expr;
using Arrays = std::vector<NDArray>;

struct Case {
  ir::Module module;
  Arrays inputs, expected;
};

// The elements that are not 0, in order; kernels take denormals for 0.
std::vector<std::int64_t> PlacesOf(const NDArray& array) {
  std::vector<std::int64_t> places;
  const std::size_t bytes = array.dtype().bytes();
  const NDArray zero = NDArray::Zeros({}, array.dtype());
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const char* element =
        static_cast<const char*>(array.raw()) + static_cast<std::size_t>(i) * bytes;
    bool is_zero = std::memcmp(element, zero.raw(), bytes) == 0;
    if (array.dtype().is_float()) is_zero = IsZeroOrDenormal(array, i);
    if (!is_zero) places.push_back(i);
  }
  return places;
}

NDArray CoordinatesOf(const NDArray& array, const std::vector<std::int64_t>& places) {
  const auto rank = static_cast<std::int64_t>(array.shape().size());
  NDArray rows = NDArray::Empty({static_cast<std::int64_t>(places.size()), rank}, Int32);
  for (std::size_t r = 0; r < places.size(); ++r) {
    std::int64_t rest = places[r];
    for (std::int64_t d = rank; d-- > 0;) {
      const std::int64_t extent = array.shape()[static_cast<std::size_t>(d)];
      rows.data<std::int32_t>()[static_cast<std::int64_t>(r) * rank + d] =
          static_cast<std::int32_t>(rest % extent);
      rest /= extent;
    }
  }
  return rows;
}

NDArray ElementsAt(const NDArray& array, const std::vector<std::int64_t>& places) {
  NDArray taken = NDArray::Empty({static_cast<std::int64_t>(places.size())}, array.dtype());
  const std::size_t bytes = array.dtype().bytes();
  for (std::size_t i = 0; i < places.size(); ++i)
    std::memcpy(static_cast<char*>(taken.raw()) + i * bytes,
                static_cast<const char*>(array.raw()) + static_cast<std::size_t>(places[i]) * bytes,
                bytes);
  return taken;
}

// (argwhere(%v), the elements that it names, and those twice over).
std::optional<Case> OfArgWhere(const RandomModule& given, Random& random) {
  const ir::FunctionNode& main = given.module.Main();
  const GraphValues values = InterpretEach(given.module, main, given.inputs);
  std::vector<Expr> candidates;
  ir::VisitPostOrder(main.body, [&](const Expr& e) {
    const auto found = values.find(e);
    if (e.kind() == ir::ExprKind::kCall && ir::IsStaticTensor(e.checked_type()) &&
        found != values.end() && !found->second[0].shape().empty())
      candidates.push_back(e);
  });
  if (candidates.empty()) return std::nullopt;
  const Expr& value = random.Of(candidates);
  const NDArray& array = values.at(value).at(0);
  // As an input, since rounding may decide what is 0.
  const Expr v = ir::Var::MakeChecked("v", value.checked_type(), {});
  const Expr where = ops::CallOp("argwhere", {v});
  const Expr taken = ops::CallOp("gather_nd", {v, ops::Transpose(where, ops::Ints{1, 0})});
  const std::vector<std::int64_t> places = PlacesOf(array);
  Case made{ir::Module().With("main", ir::Function::Make({v}, ir::Tuple::Make({where, taken}))),
            {array},
            {CoordinatesOf(array, places), ElementsAt(array, places)}};
  return made;
}

Case OfEmptyRows(Random& random) {
  const std::int64_t rows = random.Below(9), count = rows == 0 ? 0 : random.Below(2 * rows + 1);
  const std::int64_t rank = 1 + random.Below(3);
  const DataType type = random.Chance(50) ? Float32 : Int32;
  NDArray indices = NDArray::Zeros({count, rank}, Int64);
  for (std::int64_t i = 0; i < indices.size(); ++i)
    indices.data<std::int64_t>()[i] = random.Below(i % rank == 0 ? rows : 5);
  NDArray shape = NDArray::Empty({rank}, Int64);
  for (std::int64_t d = 0; d < rank; ++d) shape.data<std::int64_t>()[d] = d == 0 ? rows : 5;
  const NDArray values = RandomArray({count}, type, random),
                filling = RandomArray({}, type, random);
  std::vector<std::int64_t> from;  // of each row of the result, the entry; -1 where it is added
  std::vector<std::int64_t> at;
  NDArray is_empty = NDArray::Zeros({rows}, Bool);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::size_t before = from.size();
    for (std::int64_t entry = 0; entry < count; ++entry) {
      if (indices.data<std::int64_t>()[entry * rank] != row) continue;
      from.push_back(entry);
      at.push_back(row);
    }
    if (from.size() != before) continue;
    is_empty.data<bool>()[row] = true;
    from.push_back(-1);
    at.push_back(row);
  }
  NDArray made_indices = NDArray::Zeros({static_cast<std::int64_t>(from.size()), rank}, Int64);
  NDArray made_values = NDArray::Empty({static_cast<std::int64_t>(from.size())}, type);
  const std::size_t bytes = type.bytes();
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::int64_t* row = made_indices.data<std::int64_t>() + static_cast<std::int64_t>(i) * rank;
    const bool is_added = from[i] < 0;
    if (is_added) {
      row[0] = at[i];
    } else {
      std::memcpy(row, indices.data<std::int64_t>() + from[i] * rank,
                  static_cast<std::size_t>(rank) * sizeof(std::int64_t));
    }
    const char* value = is_added ? static_cast<const char*>(filling.raw())
                                 : static_cast<const char*>(values.raw()) +
                                       static_cast<std::size_t>(from[i]) * bytes;
    std::memcpy(static_cast<char*>(made_values.raw()) + i * bytes, value, bytes);
  }
  std::vector<Expr> params;
  Case made{{}, {indices, values, shape, filling}, {made_indices, made_values, is_empty}};
  for (const NDArray& input : made.inputs)
    params.push_back(
        ir::Var::Make(StrCat("x", params.size()), ir::TensorTypeOf(input.shape(), input.dtype())));
  made.module = ir::Module().With(
      "main", ir::Function::Make(params, ops::CallOp("sparse_fill_empty_rows", params)));
  return made;
}

}  // namespace

std::optional<std::string> CheckRunTimeRows(const RandomModule& given, std::uint64_t seed) {
  Random random(seed);
  const std::optional<Case> drawn =
      random.Chance(60) ? OfArgWhere(given, random) : std::optional(OfEmptyRows(random));
  if (!drawn) return std::nullopt;
  CompiledRun run = RandomRun(random);
  run.exported.reset();
  run.symbols.reset();
  run.in_steps = false;
  const auto describe = [&](const std::string& words) {
    return StrCat("finding of seed ", seed, " by rows that values decide (", run.ToString(),
                  "): ", words, "\n", ir::PrintModule(drawn->module));
  };
  std::vector<Arrays> runs;
  const absl::Status status =
      CatchErrors([&] { runs = run.Of(passes::InferType(drawn->module), drawn->inputs); });
  if (!status.ok()) return describe(StrCat("it fails: ", FromStatus(status).message()));
  for (const Arrays& actual : runs) {
    for (std::size_t i = 0; i < drawn->expected.size(); ++i) {
      const NDArray& wanted = drawn->expected[i];
      if (actual.at(i).shape() != wanted.shape())
        return describe(StrCat("result ", i, " is ", ShapeToString(actual[i].shape()),
                               " instead of ", ShapeToString(wanted.shape())));
      if (!actual[i].SameBytes(wanted))
        return describe(StrCat("result ", i, " has other elements"));
    }
  }
  return std::nullopt;
}

}  // namespace tenon::verify
