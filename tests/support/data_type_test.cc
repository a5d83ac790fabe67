#include "tenon/support/data_type.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(DataTypeTest, PrintsAndParsesEveryType) {
  for (const DataType type :
       {Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16, BFloat16, Float32,
        Float64, Float32.WithLanes(16), DataType::Void()}) {
    EXPECT_EQ(DataType::Parse(type.ToString()), type) << type.ToString();
  }
}

TEST(DataTypeTest, RefusesWhatIsNoType) {
  for (const char* text :
       {"float", "int7", "float32x0", "float32x", "float128", "string", "Int32"}) {
    EXPECT_EQ(DataType::Parse(text), std::nullopt) << text;
  }
}

TEST(DataTypeTest, CountsBytes) {
  EXPECT_EQ(Bool.bytes(), 1U);
  EXPECT_EQ(Float64.bytes(), 8U);
  EXPECT_EQ(Float32.WithLanes(16).bytes(), 64U);
  EXPECT_EQ(DataType::Void().bytes(), 0U);
}

}  // namespace
}  // namespace tenon
