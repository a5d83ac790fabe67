#include "tenon/tests/strategies/operator_cases.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenon::operator_cases {

Array Make(const Shape& shape, const std::function<double(const Index&)>& value) {
  Array array{shape, {}};
  const std::int64_t count = NumElements(shape);
  for (std::int64_t flat = 0; flat < count; ++flat) {
    Index at(shape.size());
    std::int64_t rest = flat;
    for (std::size_t d = shape.size(); d-- > 0;) {
      at[d] = rest % shape[d];
      rest /= shape[d];
    }
    array.values.push_back(value(at));
  }
  return array;
}

void ForEach(const Shape& shape, const std::function<void(const Index&)>& visit) {
  Make(shape, [&](const Index& at) {
    visit(at);
    return 0.0;
  });
}

Input F(std::string name, Shape shape, double low, double high) {
  return {std::move(name), Float32, std::move(shape), low, high, {}};
}
Input D(std::string name, Shape shape) { return {std::move(name), Float64, std::move(shape)}; }
Input I(std::string name, Shape shape, double low, double high) {
  return {std::move(name), Int32, std::move(shape), low, high, {}};
}
Input L(std::string name, Shape shape, double low, double high) {
  return {std::move(name), Int64, std::move(shape), low, high, {}};
}
Input B(std::string name, Shape shape) { return {std::move(name), Bool, std::move(shape)}; }
Input With(Input input, std::vector<double> values) {
  input.values = std::move(values);
  return input;
}

double NanMax(double a, double b) { return std::isnan(a) || std::isnan(b) ? kNaN : std::max(a, b); }
double NanMin(double a, double b) { return std::isnan(a) || std::isnan(b) ? kNaN : std::min(a, b); }

double SumOf(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
double ProductOf(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 1.0, std::multiplies<>());
}
double MeanOf(const std::vector<double>& v) { return SumOf(v) / static_cast<double>(v.size()); }
double GreatestOf(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), -kInf, NanMax);
}
double LeastOf(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), kInf, NanMin);
}

Reference Fold(std::vector<bool> reduced, bool keepdims, Joiner join) {
  return [=](const Arrays& in) {
    const Array& x = in[0];
    Shape result, inner;
    for (std::size_t d = 0; d < x.rank(); ++d) {
      if (!reduced[d]) result.push_back(x.shape[d]);
      if (reduced[d] && keepdims) result.push_back(1);
      if (reduced[d]) inner.push_back(x.shape[d]);
    }
    return Arrays{Make(result, [&](const Index& at) {
      std::vector<double> values;
      ForEach(inner, [&](const Index& k) {
        Index from;
        std::size_t next_result = 0, next_inner = 0;
        for (std::size_t d = 0; d < x.rank(); ++d) {
          if (reduced[d]) {
            from.push_back(k[next_inner++]);
            if (keepdims) ++next_result;
          } else {
            from.push_back(at[next_result++]);
          }
        }
        values.push_back(x(from));
      });
      return join(values);
    })};
  };
}

Array AlongLines(const Array& x, std::size_t axis, const LineFunction& f) {
  return Make(x.shape, [&](const Index& at) {
    std::vector<double> line;
    for (std::int64_t k = 0; k < x.shape[axis]; ++k) {
      Index from = at;
      from[axis] = k;
      line.push_back(x(from));
    }
    return f(line)[static_cast<std::size_t>(at[axis])];
  });
}

Array Reshaped(Array x, Shape shape) {
  x.shape = std::move(shape);
  return x;
}

Reference Move(Shape shape, std::function<Index(const Index& at)> source) {
  return [=](const Arrays& in) {
    return Arrays{Make(shape, [&](const Index& at) { return in[0](source(at)); })};
  };
}

Array Reordered(const Array& x, const std::string& from, const std::string& to) {
  Shape shape;
  for (const char letter : to) shape.push_back(x.shape[from.find(letter)]);
  return Make(shape, [&](const Index& at) {
    Index source(at.size());
    for (std::size_t d = 0; d < at.size(); ++d) source[from.find(to[d])] = at[d];
    return x(source);
  });
}

Shape InOrder(const std::string& letters, const std::string& layout, const Shape& shape) {
  Shape ordered;
  for (const char letter : layout) ordered.push_back(shape[letters.find(letter)]);
  return ordered;
}

}  // namespace tenon::operator_cases
