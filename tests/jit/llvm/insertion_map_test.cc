#include "tenon/jit/llvm/insertion_map.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::jit {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

using Map = InsertionMap<std::string, int>;

TEST(InsertionMapTest, EntriesStayInTheOrderInWhichTheyCame) {
  Map map;
  for (const char* key : {"z", "a", "m"}) map[key] = 1;
  map["a"] = 2;
  EXPECT_THAT(map, ElementsAre(Pair("z", 1), Pair("a", 2), Pair("m", 1)));
}

TEST(InsertionMapTest, AnErasedEntryLeavesTheOthersFound) {
  Map map;
  int value = 0;
  for (const char* key : {"z", "a", "m"}) map[key] = ++value;
  map.erase("a");
  map.erase("unknown");
  EXPECT_THAT(map, ElementsAre(Pair("z", 1), Pair("m", 3)));
  EXPECT_EQ(map.at("m"), 3);
  EXPECT_EQ(map.find("z")->second, 1);
  EXPECT_EQ(map.find("a"), map.end());
  EXPECT_FALSE(map.contains("a"));
  EXPECT_EQ(map["a"], 0);
  EXPECT_THAT(map, ElementsAre(Pair("z", 1), Pair("m", 3), Pair("a", 0)));
}

TEST(InsertionMapTest, AnUnknownKeyHasNoValue) { EXPECT_THROW(Map().at("a"), std::out_of_range); }

}  // namespace
}  // namespace tenon::jit
