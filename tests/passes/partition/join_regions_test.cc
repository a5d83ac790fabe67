#include "tenon/passes/partition/join_regions.h"

#include <map>
#include <random>
#include <set>

#include <gmock/gmock.h>

#include "tenon/ir/visit.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {
namespace {

using ir::Expr;

std::string TargetByOperator(const Expr& e) {
  const auto* call = e.As<ir::CallNode>();
  if (call == nullptr || call->op() == nullptr || call->op()->name == "maximum") return "";
  return call->op()->name;
}

// Of two targets and plain calls, each reading two earlier values.
Expr RandomFunction(unsigned seed, int calls) {
  std::mt19937 random(seed);
  std::string text = "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2), float32]) {\n";
  const auto value = [&](int before) {
    const int i = before - 1 - static_cast<int>(random() % 8);
    return i < 0 ? std::string("%x") : StrCat("%", i);
  };
  const char* const operators[] = {"add", "multiply", "maximum"};
  for (int i = 0; i < calls; ++i) {
    StrAppend(&text, "%", i, " = ", operators[random() % 3], "(", value(i), ", ", value(i), ");\n");
  }
  return Parse(StrCat(text, "%", calls - 1, "\n}")).Get("main");
}

// Which of the nodes depend on which, with each region as one node: by walking from each.
bool HasCycle(const Expr& function, const std::vector<std::vector<Expr>>& regions) {
  std::map<const void*, int> node;
  int count = 0;
  for (const auto& region : regions) {
    for (const Expr& e : region) node[e.get()] = count;
    ++count;
  }
  std::map<int, std::set<int>> edges;
  ir::VisitPostOrder(function, [&](const Expr& e) {
    if (node.emplace(e.get(), count).second) ++count;
    for (const Expr& child : ir::Children(e)) {
      const int from = node.at(child.get());
      if (from != node.at(e.get())) edges[from].insert(node.at(e.get()));
    }
  });
  // Whatever has no inputs left goes; a cycle stays.
  std::map<int, int> inputs;
  for (const auto& [from, readers] : edges) {
    for (const int reader : readers) ++inputs[reader];
  }
  std::vector<int> free;
  for (int i = 0; i < count; ++i) {
    if (!inputs.contains(i)) free.push_back(i);
  }
  int gone = 0;
  while (!free.empty()) {
    const int n = free.back();
    free.pop_back();
    ++gone;
    for (const int reader : edges[n]) {
      if (--inputs[reader] == 0) free.push_back(reader);
    }
  }
  return gone < count;
}

TEST(JoinRegionsTest, RandomGraphsStayFreeOfCycles) {
  std::size_t regions_made = 0;
  std::size_t calls_taken = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const Expr function = RandomFunction(seed, 30);
    const auto regions = JoinRegions(function, TargetByOperator);
    EXPECT_FALSE(HasCycle(function, regions)) << "seed " << seed;
    std::set<const void*> seen;
    for (const auto& region : regions) {
      ASSERT_FALSE(region.empty());
      for (const Expr& e : region) {
        EXPECT_EQ(TargetByOperator(e), TargetByOperator(region.front()));
        EXPECT_TRUE(seen.insert(e.get()).second);
      }
    }
    std::size_t expected = 0;
    ir::VisitPostOrder(function, [&](const Expr& e) { expected += !TargetByOperator(e).empty(); });
    EXPECT_EQ(seen.size(), expected);
    regions_made += regions.size();
    calls_taken += seen.size();
  }
  // Something is joined.
  EXPECT_LT(regions_made * 3, calls_taken * 2);
}

// One call of the region would stand where %b is computed, and read %a before it is bound.
TEST(JoinRegionsTest, ValuesOfDifferentBodiesOfLetsStayApart) {
  const Expr function = Parse(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2), float32], %y: Tensor[(2), float32]) {
  %0 = add(%x, %x);
  let %b = maximum(%0, %x);
  let %a = maximum(%y, %y);
  %1 = add(%y, %y);
  (add(%0, %a), %b, add(%1, %a))
})")
                            .Get("main");
  std::vector<std::size_t> sizes;
  for (const auto& region : JoinRegions(function, TargetByOperator)) sizes.push_back(region.size());
  // %1 is computed where its reader is.
  EXPECT_THAT(sizes, ::testing::UnorderedElementsAre(1, 1, 2));
}

}  // namespace
}  // namespace tenon::passes
