#include "tenon/ir/parse_extents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"

namespace tenon::ir {
namespace {

TEST(ParseExtentsTest, ReadsWhatItWrites) {
  for (const char* text : {"()", "(3)", "(n, 2*n + 1, 4)", "(#k, max(#k, 1))", "(?)"})
    EXPECT_EQ(ToText(ParseExtents(text)), text);
}

TEST(ParseExtentsTest, ExpressionsAreSimplifiedByWhatNamesStandFor) {
  const auto text_with = [](const Dim& n) {
    return ToText(ParseExtents("(min(n, 1), n + 1)", [&](const std::string&) { return n; }));
  };
  EXPECT_EQ(text_with(Dim::Symbol("w")), "(1, w + 1)");
  EXPECT_EQ(text_with(Dim::Symbol("#k")), "(min(#k, 1), #k + 1)");
  EXPECT_EQ(text_with(0), "(0, 1)");
  EXPECT_EQ(text_with(Dim()), "(?, ?)");
}

TEST(ParseExtentsTest, AnythingElseIsRefused) {
  for (const char* text : {"", "3", "(3", "(3) 4", "(-1)", "(#)", "(1.5)"})
    EXPECT_THROW(ParseExtents(text), Error) << text;
}

}  // namespace
}  // namespace tenon::ir
