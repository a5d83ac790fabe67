// What the table of operators (operators_test.cc) is made of: cases, the arrays of doubles that
// their definitions are written in, and a function that adds the cases of each family.
//
//   cases->push_back({"exp", {F("x", {3, 17})}, "exp(%x)", Map([](double x) { return std::exp(x);
//   })});
#ifndef TENON_TESTS_STRATEGIES_OPERATOR_CASES_H_
#define TENON_TESTS_STRATEGIES_OPERATOR_CASES_H_

#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "tenon/support/ndarray.h"

namespace tenon::operator_cases {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

using Index = std::vector<std::int64_t>;

// A tensor of doubles, indexed by coordinates.
struct Array {
  Shape shape;
  std::vector<double> values;

  std::size_t Offset(const Index& at) const {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) offset = offset * shape[d] + at.at(d);
    return static_cast<std::size_t>(offset);
  }
  double operator()(const Index& at) const { return values.at(Offset(at)); }
  std::size_t rank() const { return shape.size(); }
};

Array Make(const Shape& shape, const std::function<double(const Index&)>& value);
void ForEach(const Shape& shape, const std::function<void(const Index&)>& visit);

using Arrays = std::vector<Array>;
using Reference = std::function<Arrays(const Arrays& inputs)>;

struct Input {
  std::string name;
  DataType dtype;
  Shape shape;
  double low = -1, high = 1;
  std::vector<double> values;  // instead of random ones when there are any
};

// Inputs of float32, float64, int32, int64 and bool.
Input F(std::string name, Shape shape, double low = -1, double high = 1);
Input D(std::string name, Shape shape);
Input I(std::string name, Shape shape, double low = -9, double high = 9);
Input L(std::string name, Shape shape, double low = -9, double high = 9);
Input B(std::string name, Shape shape);
Input With(Input input, std::vector<double> values);

struct OpCase {
  std::string name;
  std::vector<Input> inputs;
  std::string body;
  Reference reference;
  friend void PrintTo(const OpCase& c, std::ostream* out) { *out << c.name; }
};

// --- definitions that families share

double NanMax(double a, double b);
double NanMin(double a, double b);

double SumOf(const std::vector<double>& v);
double ProductOf(const std::vector<double>& v);
double MeanOf(const std::vector<double>& v);
double GreatestOf(const std::vector<double>& v);
double LeastOf(const std::vector<double>& v);

// The elements that are joined into the result element, in row-major order.
using Joiner = std::function<double(const std::vector<double>& values)>;
Reference Fold(std::vector<bool> reduced, bool keepdims, Joiner join);

using LineFunction = std::function<std::vector<double>(const std::vector<double>& line)>;
// `f` of each line along an axis.
Array AlongLines(const Array& x, std::size_t axis, const LineFunction& f);

Array Reshaped(Array x, Shape shape);
// The same tensor with its axes, one a letter, in another order; and its shape so.
Array Reordered(const Array& x, const std::string& from, const std::string& to);
Shape InOrder(const std::string& letters, const std::string& layout, const Shape& shape);
// Each element of the result is the element of the first input at `source` of its index.
Reference Move(Shape shape, std::function<Index(const Index& at)> source);

// --- families

void AddUnary(std::vector<OpCase>* cases);
void AddBinary(std::vector<OpCase>* cases);
void AddReductions(std::vector<OpCase>* cases);
void AddConvolutions(std::vector<OpCase>* cases);
void AddMoreConvolutions(std::vector<OpCase>* cases);
void AddBlockedLayouts(std::vector<OpCase>* cases);
void AddPools(std::vector<OpCase>* cases);
void AddUpSamplings(std::vector<OpCase>* cases);
void AddGridSamples(std::vector<OpCase>* cases);
void AddResizes(std::vector<OpCase>* cases);
void AddProducts(std::vector<OpCase>* cases);
void AddNorms(std::vector<OpCase>* cases);
void AddReshapes(std::vector<OpCase>* cases);
void AddMoves(std::vector<OpCase>* cases);
void AddSlices(std::vector<OpCase>* cases);
void AddIndexing(std::vector<OpCase>* cases);
void AddScans(std::vector<OpCase>* cases);
void AddScatters(std::vector<OpCase>* cases);
void AddSorts(std::vector<OpCase>* cases);
void AddSparse(std::vector<OpCase>* cases);
void AddFourier(std::vector<OpCase>* cases);
void AddCorrelations(std::vector<OpCase>* cases);
void AddBoxes(std::vector<OpCase>* cases);
void AddBoxLists(std::vector<OpCase>* cases);
void AddDetectors(std::vector<OpCase>* cases);
void AddDetections(std::vector<OpCase>* cases);
void AddLosses(std::vector<OpCase>* cases);
void AddRegions(std::vector<OpCase>* cases);
void AddSearches(std::vector<OpCase>* cases);
void AddWarps(std::vector<OpCase>* cases);
void AddFixedPoints(std::vector<OpCase>* cases);
void AddSequences(std::vector<OpCase>* cases);
void AddPads(std::vector<OpCase>* cases);
void AddBlocks(std::vector<OpCase>* cases);
void AddCreations(std::vector<OpCase>* cases);

}  // namespace tenon::operator_cases

#endif  // TENON_TESTS_STRATEGIES_OPERATOR_CASES_H_
