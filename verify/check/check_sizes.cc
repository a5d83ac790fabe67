#include "tenon/verify/check/check_sizes.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/ir/text_format.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/extents/count_up_attrs.h"
#include "tenon/ops/extents/extent_attrs.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/draw/module_measures.h"
#include "tenon/verify/interpret.h"

namespace tenon::verify {
namespace {

using ir::Expr;

// No address space has so many bytes.
constexpr double kTooManyBytes = 0x1p48;

struct Case {
  std::vector<Expr> params;
  std::vector<NDArray> inputs;
  Expr body;
  double bytes = 0;  // the least of all values
};

// Sizes and products of them that wrap around to small numbers in 64 bits are among these.
std::int64_t AnyExtent(Random& random) {
  const int bits = random.Of(std::vector<int>{31, 32, 33, 45, 59, 60, 61, 62, 63});
  if (bits == 63) return std::numeric_limits<std::int64_t>::max() - random.Below(2);
  return (std::int64_t{1} << bits) + random.Below(2);
}

Case AnyCase(bool has_variables, Random& random) {
  static const std::vector<DataType>& types =
      *new std::vector<DataType>{Int8, Float16, Float32, Float64, Int64};
  Case made;
  std::vector<double> extents;
  const auto add = [&](NDArray input, std::vector<Dim> shape) {
    made.params.push_back(ir::Var::Make(StrCat("x", made.params.size()),
                                        ir::TensorType(std::move(shape), input.dtype())));
    made.inputs.push_back(std::move(input));
    return made.params.back();
  };
  const auto add_empty = [&](DataType type, const char* variable) {
    const std::int64_t extent = AnyExtent(random);
    extents.push_back(static_cast<double>(extent));
    return add(NDArray::Empty({0, extent}, type),
               {0, has_variables ? Dim::Symbol(variable) : Dim(extent)});
  };
  DataType type = random.Of(types);
  const std::int64_t kind = random.Below(4);
  if (kind == 0) {
    const std::int64_t count = AnyExtent(random);
    type = Int64;
    made.bytes = static_cast<double>(count) * 8;
    made.body = ops::CallOp("count_up", {add(NDArray::FromVector<std::int64_t>({1}, {count}), {1})},
                            attrs::Attrs::Make(ops::CountUpAttrs{}));
  } else if (kind == 1) {
    made.body = ops::Sum(add_empty(type, "m"), {.axis = ops::Ints{0}});
    made.bytes = extents[0] * static_cast<double>(type.bytes());
  } else {
    const Expr one = add(NDArray::Zeros({}, type), {});
    const Expr of = ir::Tuple::Make({add_empty(Int8, "m"), add_empty(Float32, "p")});
    const char* shape = kind == 2 ? "(x0_1, x1_1)" : "(x0_1 * 2, x1_1)";
    made.body = ops::CallOp("broadcast_to_extents", {one, of},
                            attrs::Attrs::Make(ops::ExtentsAttrs{.shape = shape}));
    made.bytes = extents[0] * extents[1] * static_cast<double>(type.bytes());
  }
  if (random.Chance(40)) {
    const DataType to = random.Of(types);
    made.body = ops::Cast(made.body, to);
    made.bytes *=
        std::min(1.0, static_cast<double>(to.bytes()) / static_cast<double>(type.bytes()));
  }
  return made;
}

bool IsRefusedInWords(const absl::Status& status) {
  return IsUserError(status) || status.code() == absl::StatusCode::kResourceExhausted;
}

}  // namespace

std::optional<std::string> CheckSize(Random& random, const BeforeCall& before) {
  const bool has_variables = random.Chance(50);
  const Case drawn = AnyCase(has_variables, random);
  if (drawn.bytes < kTooManyBytes) return std::nullopt;
  const ir::Module module = ir::Module::FromExpr(ir::Function::Make(drawn.params, drawn.body));
  const CompileOptions options = {.opt_level = static_cast<int>(random.Below(5)),
                                  .verify = random.Chance(50),
                                  .check_bounds = random.Chance(50)};
  runtime::Inputs inputs;
  for (std::size_t i = 0; i < drawn.params.size(); ++i)
    inputs.emplace(ir::Var(drawn.params[i]).name(), drawn.inputs[i]);
  const bool in_steps = random.Chance(50);
  if (before != nullptr) before(ir::PrintModule(module));
  const auto finding = [&](const std::string& words) {
    std::string shapes;
    for (const NDArray& input : drawn.inputs) StrAppend(&shapes, ShapeToString(input.shape()), " ");
    return StrCat("at level ", options.opt_level, ", of ", shapes, ": ", words, "\n",
                  ir::PrintModule(module));
  };
  const absl::Status run = CatchErrors([&] {
    const Executable executable =
        in_steps ? ValueOrThrow(Link(ValueOrThrow(Lower(module, options)), options))
                 : ValueOrThrow(Compile(module, options));
    ValueOrThrow(executable.Run(inputs));
  });
  if (run.ok()) return finding("it runs, and no memory holds its result");
  if (!IsRefusedInWords(run))
    return finding(StrCat("it is not refused in words: ", run.ToString()));
  const absl::Status interpreted =
      CatchErrors([&] { Interpret(passes::InferType(module), drawn.inputs); });
  if (interpreted.ok() || !IsRefusedInWords(interpreted))
    return finding(StrCat("the interpreter does not refuse it: ", interpreted.ToString()));
  return std::nullopt;
}

}  // namespace tenon::verify
