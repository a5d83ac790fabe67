// Transposes and concatenations: nothing but moving bytes, so the floor is memcpy. Small arrays fit
// the second-level cache, large ones no cache.
#include <cstring>

#include "tenon/benchmarks/compiled_graph.h"
#include "tenon/benchmarks/families.h"
#include "tenon/ops/index_builders.h"
#include "tenon/support/strings.h"

namespace tenon::benchmarks {
namespace {

struct Transposition {
  const char* name;
  Shape shape;
  std::vector<std::int64_t> axes;
  DataType type = Float32;
};

struct Concatenation {
  const char* name;
  std::int64_t axis;
  std::vector<Shape> shapes;
};

std::vector<Transposition> Transpositions() {
  return {{"2-D", {256, 256}, {1, 0}},
          {"2-D", {4096, 4096}, {1, 0}},
          {"2-D odd", {4093, 4099}, {1, 0}},
          {"2-D bfloat16", {256, 256}, {1, 0}, BFloat16},
          {"2-D bfloat16", {4128, 4192}, {1, 0}, BFloat16},
          {"2-D bfloat16 odd", {4093, 4099}, {1, 0}, BFloat16},
          {"2-D bytes", {256, 256}, {1, 0}, Int8},
          {"2-D bytes", {4128, 4192}, {1, 0}, Int8},
          {"2-D bytes odd", {4093, 4099}, {1, 0}, Int8},
          {"NCHW to NHWC", {1, 64, 28, 28}, {0, 2, 3, 1}},
          {"NCHW to NHWC", {16, 64, 112, 112}, {0, 2, 3, 1}},
          {"NHWC to NCHW", {1, 28, 28, 64}, {0, 3, 1, 2}},
          {"NHWC to NCHW", {16, 112, 112, 64}, {0, 3, 1, 2}},
          {"batch of matrices", {16, 64, 64}, {0, 2, 1}},
          {"batch of matrices", {1024, 128, 128}, {0, 2, 1}},
          {"heads of attention", {1, 128, 12, 64}, {0, 2, 1, 3}}};
}

std::vector<Concatenation> Concatenations() {
  return {{"first axis", 0, {{128, 256}, {128, 256}}},
          {"first axis", 0, {{2048, 4096}, {2048, 4096}}},
          {"channels", 1, {{1, 32, 28, 28}, {1, 32, 28, 28}}},
          {"channels", 1, {{16, 32, 112, 112}, {16, 32, 112, 112}}},
          {"last axis", 1, {{256, 128}, {256, 128}}},
          {"last axis", 1, {{4096, 2048}, {4096, 2048}}},
          {"last axis odd", 1, {{4096, 1023}, {4096, 2049}, {4096, 1024}}}};
}

// Columns of a matrix that are read near each other, but not adjacent.
struct Pick {
  const char* name;
  std::int64_t rows, columns;
  DataType type;
  ir::Expr (*make)(const ir::Expr& x);
  std::int64_t (*source)(std::int64_t column);  // of a column of the result
};

std::vector<Pick> Picks() {
  const auto backwards = [](const ir::Expr& x) { return ops::Reverse(x, 1); };
  const auto twice = [](const ir::Expr& x) { return ops::Repeat(x, 2, 1); };
  const auto half = [](std::int64_t column) { return column / 2; };
  const auto from_end = [](std::int64_t column) { return 511 - column; };
  return {{"backwards, 512 x 512", 512, 512, Float32, backwards, from_end},
          {"backwards of bytes, 512 x 512", 512, 512, UInt8, backwards, from_end},
          {"each twice, 512 x 256", 512, 256, Float32, twice, half},
          {"each twice of bfloat16, 512 x 256", 512, 256, BFloat16, twice, half},
          {"each twice of bytes, 512 x 256", 512, 256, UInt8, twice, half}};
}

// The element that a transposition puts at `position`, by the definition.
std::int64_t SourceOf(std::int64_t position, const Transposition& t) {
  std::vector<std::int64_t> index(t.shape.size());
  for (std::size_t d = t.shape.size(); d-- > 0;) {
    const std::int64_t extent = t.shape[t.axes[d]];
    index[t.axes[d]] = position % extent;
    position /= extent;
  }
  std::int64_t source = 0;
  for (std::size_t d = 0; d < t.shape.size(); ++d) source = source * t.shape[d] + index[d];
  return source;
}

// Of bytes that repeat after a prime.
Tensor Numbered(const Shape& shape, DataType type) {
  Tensor array = Tensor::Zeros(shape, type);
  auto* bytes = static_cast<unsigned char*>(array.raw());
  for (std::size_t i = 0; i < array.bytes(); ++i) bytes[i] = static_cast<unsigned char>(i % 251);
  return array;
}

Contestants WithFloor(const std::shared_ptr<CompiledGraph>& graph, int threads) {
  return AgainstMemcpy(graph, static_cast<std::int64_t>(graph->result().bytes()), threads);
}

Contestants PrepareTranspose(const Transposition& t, int threads) {
  const Tensor x = Numbered(t.shape, t.type);
  const ir::Expr var = Input("x", t.shape, t.type);
  auto graph = std::make_shared<CompiledGraph>(ir::Module::FromExpr(ops::Transpose(var, t.axes)),
                                               runtime::Inputs{{"x", x}});
  graph->Call();
  const std::size_t element = t.type.bytes();
  const auto at = [&](const Tensor& array, std::int64_t i) {
    return static_cast<const char*>(array.raw()) + static_cast<std::size_t>(i) * element;
  };
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (std::memcmp(at(graph->result(), i), at(x, SourceOf(i, t)), element) != 0)
      Require(false, StrCat("wrong result: element ", i));
  }
  return WithFloor(graph, threads);
}

Contestants PrepareConcatenate(const Concatenation& c, int threads) {
  runtime::Inputs inputs;
  std::vector<ir::Expr> fields;
  std::vector<Tensor> parts;
  for (const Shape& shape : c.shapes) {
    const std::string name = StrCat("x", fields.size());
    parts.push_back(RandomArray(shape, static_cast<int>(fields.size()) + 1));
    inputs[name] = parts.back();
    fields.push_back(Input(name, shape));
  }
  auto graph = std::make_shared<CompiledGraph>(
      ir::Module::FromExpr(ops::Concatenate(fields, c.axis)), inputs);
  graph->Call();
  // Row by row: the parts of one outer index are adjacent.
  std::int64_t outer = 1;
  for (std::int64_t d = 0; d < c.axis; ++d) outer *= c.shapes[0][d];
  const char* result = static_cast<const char*>(graph->result().raw());
  for (std::int64_t row = 0; row < outer; ++row) {
    for (const Tensor& part : parts) {
      const std::size_t bytes = part.bytes() / static_cast<std::size_t>(outer);
      const char* expected =
          static_cast<const char*>(part.raw()) + bytes * static_cast<std::size_t>(row);
      Require(std::memcmp(result, expected, bytes) == 0, StrCat("wrong result: row ", row));
      result += bytes;
    }
  }
  return WithFloor(graph, threads);
}

Contestants PreparePick(const Pick& pick, int threads) {
  const Tensor x = Numbered({pick.rows, pick.columns}, pick.type);
  const ir::Expr var = Input("x", x.shape(), pick.type);
  auto graph = std::make_shared<CompiledGraph>(ir::Module::FromExpr(pick.make(var)),
                                               runtime::Inputs{{"x", x}});
  graph->Call();
  const std::size_t element = pick.type.bytes();
  const std::int64_t columns = graph->result().size() / pick.rows;
  const auto* from = static_cast<const char*>(x.raw());
  const auto* to = static_cast<const char*>(graph->result().raw());
  for (std::int64_t i = 0; i < graph->result().size(); ++i) {
    const std::int64_t source = i / columns * pick.columns + pick.source(i % columns);
    if (std::memcmp(to + static_cast<std::size_t>(i) * element,
                    from + static_cast<std::size_t>(source) * element, element) != 0)
      Require(false, StrCat("wrong result: element ", i));
  }
  return WithFloor(graph, threads);
}

Race RaceOf(const char* kind, const std::string& name, double bytes, int threads) {
  return {.table = "layout",
          .name = StrCat(kind, " ", name),
          .threads = threads,
          .bytes = 2 * bytes,
          .aim = {.of_floor = 0.8}};
}

}  // namespace

void AddLayoutChanges(std::vector<Race>& races) {
  for (const int threads : {1, 2}) {
    for (const Transposition& t : Transpositions()) {
      Race race = RaceOf(
          "transpose", StrCat(t.name, ", ", StrJoin(t.shape, " x ")),
          static_cast<double>(NumElements(t.shape)) * static_cast<double>(t.type.bytes()), threads);
      race.prepare = [=] { return PrepareTranspose(t, threads); };
      races.push_back(std::move(race));
    }
    for (const Pick& pick : Picks()) {
      Race race = RaceOf("columns", pick.name,
                         512.0 * 512.0 * static_cast<double>(pick.type.bytes()), threads);
      race.prepare = [=] { return PreparePick(pick, threads); };
      races.push_back(std::move(race));
    }
    for (const Concatenation& c : Concatenations()) {
      double bytes = 0;
      for (const Shape& shape : c.shapes) bytes += 4.0 * static_cast<double>(NumElements(shape));
      Race race = RaceOf("concatenate",
                         StrCat(c.name, ", ", c.shapes.size(), " of ", StrJoin(c.shapes[0], " x ")),
                         bytes, threads);
      race.prepare = [=] { return PrepareConcatenate(c, threads); };
      races.push_back(std::move(race));
    }
  }
}

}  // namespace tenon::benchmarks
