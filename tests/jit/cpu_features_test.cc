#include "tenon/jit/cpu_features.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

using ::testing::HasSubstr;

// The message of the InvalidArgument that applying `changes` gives.
std::string Refusal(CpuFeatures& features, std::string_view changes) {
  try {
    features.Apply(changes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(CpuFeaturesTest, HostHasSse2AndACpuName) {
  const CpuFeatures host = CpuFeatures::Host();
  EXPECT_TRUE(host.Has("sse2"));
  EXPECT_FALSE(host.cpu_name().empty());
}

TEST(CpuFeaturesTest, TheWidestVectorsFollowTheFeatures) {
  CpuFeatures features = CpuFeatures::Host();
  EXPECT_EQ(features.vector_bits(), features.Has("avx512f") ? 512
                                    : features.Has("avx2")  ? 256
                                                            : 128);
  features.Apply("-avx512f");
  EXPECT_EQ(features.vector_bits(), features.Has("avx2") ? 256 : 128);
  features.Apply("-avx2");
  EXPECT_EQ(features.vector_bits(), 128);
}

TEST(CpuFeaturesTest, WholeRowsAreLoadedOnlyIntoVectorsOf512Bits) {
  CpuFeatures features = CpuFeatures::Host();
  const bool is_amd = features.cpu_name().starts_with("znver");
  EXPECT_EQ(features.row_loads(), is_amd && features.vector_bits() == 512 ? loop::RowLoads::kWhole
                                                                          : loop::RowLoads::kParts);
  features.Apply("-avx512f");
  EXPECT_EQ(features.row_loads(), loop::RowLoads::kParts);
}

TEST(CpuFeaturesTest, DotsOfBFloatsAreFastOnAmdWhereTheyAreEnabled) {
  CpuFeatures features = CpuFeatures::Host();
  const bool is_amd = features.cpu_name().starts_with("znver");
  EXPECT_EQ(features.has_fast_dots_of_bf16(), is_amd && features.Has("avx512bf16"));
  features.Apply("-avx512bf16");
  EXPECT_FALSE(features.has_fast_dots_of_bf16());
}

TEST(CpuFeaturesTest, RowsAreFetchedByTheCpuOnZen4WhateverItsVectorsAre) {
  CpuFeatures features = CpuFeatures::Host();
  const bool is_zen4 = features.cpu_name() == "znver4";
  EXPECT_EQ(features.fetches_rows(), is_zen4);
  features.Apply("-avx512f");
  EXPECT_EQ(features.fetches_rows(), is_zen4);
}

TEST(CpuFeaturesTest, AMaskTakesWhatBuildsOnIt) {
  CpuFeatures without_avx512 = CpuFeatures::Host();
  without_avx512.Apply("-avx512f");
  CpuFeatures without_avx2 = CpuFeatures::Host();
  without_avx2.Apply("-avx2");
  CpuFeatures without_avx = CpuFeatures::Host();
  without_avx.Apply("-avx");
  for (const char* feature : {"avx512f", "avx512bw", "avx512vl", "avx512vnni"}) {
    EXPECT_FALSE(without_avx512.Has(feature)) << feature;
    EXPECT_FALSE(without_avx2.Has(feature)) << feature;
    EXPECT_FALSE(without_avx.Has(feature)) << feature;
  }
  EXPECT_EQ(without_avx512.Has("avx2"), CpuFeatures::Host().Has("avx2"));
  for (const char* feature : {"avx", "avx2", "fma", "f16c"})
    EXPECT_FALSE(without_avx.Has(feature)) << feature;
  EXPECT_TRUE(without_avx.Has("sse2"));
}

TEST(CpuFeaturesTest, AMaskShowsInTheTextForLlvm) {
  CpuFeatures features = CpuFeatures::Host();
  features.Apply("-sse4.2");
  EXPECT_THAT(StrSplit(features.ToLlvm(), ','), ::testing::Contains("-sse4.2"));
  EXPECT_THAT(StrSplit(features.ToLlvm(), ','), ::testing::Contains("+sse2"));
}

TEST(CpuFeaturesTest, TheTextForLlvmIsSortedByName) {
  std::vector<std::string> names;
  for (const std::string& feature : StrSplit(CpuFeatures::Host().ToLlvm(), ',')) {
    ASSERT_THAT(feature[0], ::testing::AnyOf('+', '-')) << feature;
    names.push_back(feature.substr(1));
  }
  EXPECT_GT(names.size(), 20U);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST(CpuFeaturesTest, AnEmptyListChangesNothing) {
  CpuFeatures features = CpuFeatures::Host();
  features.Apply("");
  EXPECT_EQ(features.ToLlvm(), CpuFeatures::Host().ToLlvm());
}

TEST(CpuFeaturesTest, ChangesApplyInOrder) {
  CpuFeatures features = CpuFeatures::Host();
  features.Apply("-sse4.2,+sse4.2");
  EXPECT_EQ(features.ToLlvm(), CpuFeatures::Host().ToLlvm());
}

TEST(CpuFeaturesTest, AFeatureOfTheHostMayBeSwitchedOnAgain) {
  CpuFeatures features = CpuFeatures::Host();
  features.Apply("-sse2");
  ASSERT_FALSE(features.Has("sse2"));
  features.Apply("+sse2");
  EXPECT_TRUE(features.Has("sse2"));
}

TEST(CpuFeaturesTest, RefusesAnUnknownNameWithTheNearest) {
  CpuFeatures features = CpuFeatures::Host();
  const std::string message = Refusal(features, "-avx512g");
  EXPECT_THAT(message, HasSubstr("CPU features: 'avx512g' is no feature that LLVM knows"));
  EXPECT_THAT(message, HasSubstr("did you mean avx512"));
}

TEST(CpuFeaturesTest, RefusesAMissingSign) {
  CpuFeatures features = CpuFeatures::Host();
  EXPECT_THAT(Refusal(features, "avx2"),
              HasSubstr("'avx2' must start with + or -, for instance -avx512f"));
  EXPECT_THAT(Refusal(features, "-avx2,"), HasSubstr("'' must start with + or -"));
}

TEST(CpuFeaturesTest, RefusesAFeatureThatTheHostLacks) {
  CpuFeatures features = CpuFeatures::Host();
  ASSERT_FALSE(features.Has("xop") && features.Has("amx-fp16"));  // no CPU has both
  const std::string missing = features.Has("xop") ? "amx-fp16" : "xop";
  EXPECT_THAT(Refusal(features, "+" + missing),
              HasSubstr("this machine does not enable " + missing));
}

TEST(CpuFeaturesTest, ARefusedListChangesNothing) {
  CpuFeatures features = CpuFeatures::Host();
  Refusal(features, "-sse4.2,-nonsense");
  EXPECT_EQ(features.ToLlvm(), CpuFeatures::Host().ToLlvm());
}

}  // namespace
}  // namespace tenon::jit
