// Products of matrices, and Einstein's sums of products, with extents of 0 and 1 among them.
#include <string>

#include "tenon/ops/ints.h"
#include "tenon/support/strings.h"
#include "tenon/verify/draw/operands.h"

namespace tenon::verify {
namespace {

using attrs::Value;
using ops::Ints;

const std::vector<DataType> kNumbers = {Float32, Float32, Float32, Float32, Float64, Float16,
                                        Int8,    UInt8,   Int32,   Int64,   BFloat16};
const Ints kExtents = {1, 2, 3, 5, 8, 16, 17, 31, 33, 48, 64};

std::int64_t AnyExtent(Random& random) { return random.Chance(2) ? 0 : random.Of(kExtents); }

// Both operands, which bytes of either kind may be where they make words.
void AddBoth(const Shape& a, const Shape& b, Random& random, Operands* to) {
  const DataType type = random.Of(kNumbers);
  DataType other = type;
  if (type.bits() == 8 && random.Chance(80)) {
    to->attributes["out_dtype"] = Value(Int32);
    other = random.Of(std::vector<DataType>{Int8, UInt8});
  } else if (type.bits() > 8 && random.Chance(10)) {
    to->attributes["out_dtype"] =
        Value(random.Of(std::vector<DataType>{Float32, Float64, Int32, Float16}));
  }
  const auto numbers = [&](const Shape& shape, DataType of) {
    NDArray made = RandomArray(shape, of, random);
    // Sums of integers wrap around, whatever they are of.
    return !of.is_float() && random.Chance(30) ? WithEnds(made, random) : made;
  };
  to->Add(numbers(a, type)).Add(numbers(b, other));
}

Shape Stack(std::int64_t most, Random& random) {
  return EachOf(random.Below(most + 1), {1, 2, 3}, random);
}

OperandDrawer Product(bool is_dense) {
  return [is_dense](Random& random) {
    const std::int64_t m = AnyExtent(random), k = AnyExtent(random), n = AnyExtent(random);
    const bool turns_a = !is_dense && random.Chance(40), turns_b = is_dense || random.Chance(40);
    Shape a = Stack(2, random);
    if (turns_a || random.Chance(90)) {
      a.push_back(turns_a ? k : m);
      a.push_back(turns_a ? m : k);
    } else {
      a = {k};
    }
    Operands operands;
    AddBoth(a, turns_b ? Shape{n, k} : Shape{k, n}, random, &operands);
    attrs::FieldValues& f = operands.attributes;
    if (n > 0 && random.Chance(40)) f["units"] = Value(n);
    if (!is_dense) {
      f["transpose_a"] = Value(turns_a);
      f["transpose_b"] = Value(turns_b);
    }
    return operands;
  };
}

Operands BatchMatmul(Random& random) {
  const std::int64_t m = AnyExtent(random), k = AnyExtent(random), n = AnyExtent(random);
  const bool turns_a = random.Chance(40), turns_b = random.Chance(60);
  const std::int64_t batch = random.Of(Ints{1, 2, 3, 5});
  const auto count = [&] { return random.Chance(25) ? 1 : batch; };
  Operands operands;
  AddBoth(turns_a ? Shape{count(), k, m} : Shape{count(), m, k},
          turns_b ? Shape{count(), n, k} : Shape{count(), k, n}, random, &operands);
  operands.attributes["transpose_a"] = Value(turns_a);
  operands.attributes["transpose_b"] = Value(turns_b);
  return operands;
}

Operands DensePack(Random& random) {
  const std::int64_t k = AnyExtent(random), block = random.Of(Ints{1, 2, 3, 8, 16, 32});
  Operands operands;
  AddBoth({AnyExtent(random), k}, {random.Of(Ints{1, 2, 3}), k, block}, random, &operands);
  if (random.Chance(50)) operands.attributes["weight_layout"] = Value(StrCat("NC", block, "n"));
  return operands;
}

Operands Einsum(Random& random) {
  const std::string equation = random.Of(std::vector<std::string>{"ij,jk->ik",
                                                                  "ij,jk",
                                                                  "ij,kj->ik",
                                                                  "ji,jk->ki",
                                                                  "bij,bjk->bik",
                                                                  "...ij,...jk->...ik",
                                                                  "i,i->",
                                                                  "i,j->ij",
                                                                  "ij->ji",
                                                                  "ij->",
                                                                  "ij->j",
                                                                  "ii->i",
                                                                  "ii",
                                                                  "ij,ij->ij",
                                                                  "ij,ij->",
                                                                  "ab,bc,cd->ad",
                                                                  "ijk,k->ij",
                                                                  "bhqd,bhkd->bhqk",
                                                                  "b...,b...->...",
                                                                  "...->...",
                                                                  "a...b->b...",
                                                                  "zYx,x->Yz",
                                                                  "i j , j k -> k i",
                                                                  "ijk,ilm,njm->nl"});
  std::map<char, std::int64_t> extents;
  const std::string terms = equation.substr(0, equation.find('-')) + ",";
  for (const char c : terms) {
    if (c != ' ' && c != ',' && c != '.') extents[c] = random.Of(Ints{1, 2, 3, 4, 5, 7});
  }
  if (random.Chance(3)) extents.begin()->second = 0;
  const Shape dots = Stack(2, random);
  const DataType type = random.Of(kNumbers);
  std::vector<NDArray> fields;
  Shape shape;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (terms[i] == ',') {
      fields.push_back(RandomArray(shape, type, random));
      shape.clear();
    } else if (terms[i] == '.') {
      i += 2;
      // Of one operand some axes may be missing, or have one element.
      const std::size_t from = At(random.Below(static_cast<std::int64_t>(dots.size()) + 1));
      for (std::size_t d = random.Chance(70) ? 0 : from; d < dots.size(); ++d)
        shape.push_back(random.Chance(15) ? 1 : dots[d]);
    } else if (terms[i] != ' ') {
      shape.push_back(random.Chance(5) ? 1 : extents[terms[i]]);
    }
  }
  Operands operands;
  operands.AddTuple(std::move(fields));
  operands.attributes["equation"] = Value(equation);
  return operands;
}

Operands Determinant(Random& random) {
  Shape shape = Stack(2, random);
  const std::int64_t n = random.Of(Ints{0, 1, 2, 3, 4, 5, 7, 9});
  shape.insert(shape.end(), {n, n});
  Operands operands;
  operands.Add(RandomArray(
      shape, random.Of(std::vector<DataType>{Float32, Float32, Float64, Float16, BFloat16}),
      random));
  return operands;
}

}  // namespace

void AddProductOperands(OperandTable* table) {
  OperandTable& t = *table;
  t["einsum"] = Einsum;
  t["matrix_determinant"] = Determinant;
  t["nn.batch_matmul"] = BatchMatmul;
  t["nn.contrib_dense_pack"] = DensePack;
  t["nn.dense"] = Product(true);
  t["nn.matmul"] = Product(false);
}

}  // namespace tenon::verify
