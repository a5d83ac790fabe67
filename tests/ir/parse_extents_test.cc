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

TEST(ParseExtentsTest, AnythingElseIsRefused) {
  for (const char* text : {"", "3", "(3", "(3) 4", "(-1)", "(#)", "(1.5)"})
    EXPECT_THROW(ParseExtents(text), Error) << text;
}

}  // namespace
}  // namespace tenon::ir
