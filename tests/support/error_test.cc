#include "tenon/support/error.h"

#include <new>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon {
namespace {

using ::testing::HasSubstr;

TEST(ErrorTest, RendersPlaceMessageAndNotes) {
  const Error error = InvalidArgument("bad factor")
                          .At({.source = "m.relay", .line = 3, .column = 7})
                          .AddNote("axis i");
  EXPECT_STREQ(error.what(), "m.relay:3:7: bad factor\n  note: axis i");
  EXPECT_EQ(error.ToStatus().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ErrorTest, CatchErrorsTurnsExceptionsIntoStatuses) {
  EXPECT_EQ(CatchErrors([] { return 3; }).value(), 3);
  EXPECT_EQ(CatchErrors([]() -> int { throw NotFound("x"); }).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(CatchErrors([] { throw std::bad_alloc(); }).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(ErrorTest, BrokenInvariantAsksForAReportAndNamesThePlace) {
  const absl::Status status = CatchErrors([] { CheckInvariant(false, "loops are nested"); });
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("internal error, please report: loops are nested"));
  EXPECT_THAT(status.message(), HasSubstr("error_test.cc"));
}

TEST(ErrorTest, WhatIsNoExceptionBecomesAStatus) {
  const absl::StatusOr<int> result = CatchErrors([]() -> int { throw 42; });
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace tenon
