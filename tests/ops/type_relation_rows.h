// Rows of type relations: a call, and the type of its result or the words in which it is refused.
//
// The test itself is in type_relation_test.cc; each family instantiates it with its rows.
#ifndef TENON_TESTS_OPS_TYPE_RELATION_ROWS_H_
#define TENON_TESTS_OPS_TYPE_RELATION_ROWS_H_

#include <ostream>
#include <string>

#include <gtest/gtest.h>

namespace tenon::ops {

struct Row {
  const char* name;
  const char* params;
  const char* body;
  const char* result;  // type or words
  friend void PrintTo(const Row& t, std::ostream* out) { *out << t.name; }
};
class TypeRelationTest : public ::testing::TestWithParam<Row> {};

inline std::string NameOf(const ::testing::TestParamInfo<Row>& info) { return info.param.name; }

constexpr char kX[] = "%x: Tensor[(2, 6, 4, 5), float32]";
constexpr char kM[] = "%x: Tensor[(2, 3), float32]";
constexpr char kV[] = "%x: Tensor[(5), float32]";
constexpr char kS[] = "%x: float32";

}  // namespace tenon::ops

#endif  // TENON_TESTS_OPS_TYPE_RELATION_ROWS_H_
