// Joins of more fields than the stack is deep.
#include <string>

#include <gtest/gtest.h>

#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

TEST(WideJoinTest, ExpressionsAreNotAsDeepAsThereAreFields) {
  constexpr int kFields = 20000;
  std::string fields = "%x";
  for (int i = 1; i < kFields; ++i) fields += ", %x";
  const std::string text =
      "def @main(%x: Tensor[(1), float32]) { concatenate((" + fields + "), axis=0) }";
  const NDArray x = NDArray::FromVector<float>({1}, {2.5F});
  const NDArray joined = testing_graphs::Interpreted(testing_graphs::Parsed(text), {{"x", x}})[0];
  ASSERT_EQ(joined.size(), kFields);
  for (std::int64_t i = 0; i < kFields; ++i) ASSERT_EQ(joined.data<float>()[i], 2.5F);
}

// Parts of so many fields are joined on their own.
TEST(WideJoinTest, MoreFieldsThanALoopTakesAreJoined) {
  struct Case {
    const char *shape, *join;
  };
  for (const auto& [shape, join] :
       {Case{"(1)", "concatenate(%f, axis=0)"}, Case{"(3, 5)", "concatenate(%f, axis=0)"},
        Case{"(2, 3, 4)", "concatenate(%f, axis=1)"}, Case{"(4, 3)", "concatenate(%f, axis=-1)"},
        Case{"(3)", "stack(%f, axis=0)"}, Case{"(2, 3)", "stack(%f, axis=1)"}}) {
    for (const int count : {257, 600}) {
      SCOPED_TRACE(StrCat(count, " of ", shape, ": ", join));
      std::string fields;
      for (int i = 0; i < count; ++i) fields += i % 3 == 0 ? "%x, " : i % 3 == 1 ? "%y, " : "%z, ";
      const auto parameter = [&](const char* name) {
        return StrCat("%", name, ": Tensor[", shape, ", float32]");
      };
      const ir::Module module = testing_graphs::Parsed(
          StrCat("def @main(", parameter("x"), ", ", parameter("y"), ", ", parameter("z"),
                 ") {\n  %f = (", fields, ");\n  nn.relu(", join, ")\n}"));
      const runtime::Inputs inputs = testing_graphs::RandomInputs(module, count);
      testing_graphs::ExpectClose(
          testing_graphs::Outcome(module, inputs, {.library = LibraryChoice::kTe}),
          testing_graphs::Interpreted(module, inputs), 0);
    }
  }
}

}  // namespace
}  // namespace tenon::strategies
