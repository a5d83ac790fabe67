#include "tenon/jit/host_target.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// The message of the InvalidArgument that `changes` give.
std::string Refusal(std::string_view changes) {
  try {
    HostTarget(changes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(HostTargetTest, TheHostSaysWhatItIs) {
  const Target& host = HostTarget();
  EXPECT_TRUE(host.Has("sse2"));
  EXPECT_FALSE(host.cpu.empty());
  EXPECT_THAT(host.triple, HasSubstr("-"));
  EXPECT_GT(host.l1_bytes, 0);
  EXPECT_GE(host.l2_bytes, host.l1_bytes);
  EXPECT_GE(host.l3_bytes, host.l2_bytes);
  EXPECT_GE(host.line_bytes, 32);
  EXPECT_GE(host.cores, 1);
}

TEST(HostTargetTest, VectorsAndRegistersFollowTheFeatures) {
  const Target& host = HostTarget();
  EXPECT_EQ(host.vector_bytes, host.Has("avx512f") ? 64 : host.Has("avx2") ? 32 : 16);
  EXPECT_EQ(host.vector_registers, host.Has("avx512f") ? 32 : 16);
  const Target without_avx512 = HostTarget("-avx512f");
  EXPECT_EQ(without_avx512.vector_bytes, host.Has("avx2") ? 32 : 16);
  EXPECT_EQ(without_avx512.vector_registers, 16);
  EXPECT_EQ(HostTarget("-avx512f,-avx2").vector_bytes, 16);
  EXPECT_EQ(Without(without_avx512, "avx2"), HostTarget("-avx512f,-avx2"));
}

TEST(HostTargetTest, AMaskChangesFeaturesAndVectorsAlone) {
  Target masked = HostTarget("-avx512f");
  const Target& host = HostTarget();
  masked.features = host.features;
  masked.vector_bytes = host.vector_bytes;
  masked.vector_registers = host.vector_registers;
  EXPECT_EQ(masked, host);
}

TEST(HostTargetTest, AMaskTakesWhatBuildsOnIt) {
  const Target without_avx512 = HostTarget("-avx512f"), without_avx2 = HostTarget("-avx2"),
               without_avx = HostTarget("-avx");
  for (const char* feature : {"avx512f", "avx512bw", "avx512vl", "avx512vnni"}) {
    EXPECT_FALSE(without_avx512.Has(feature)) << feature;
    EXPECT_FALSE(without_avx2.Has(feature)) << feature;
    EXPECT_FALSE(without_avx.Has(feature)) << feature;
  }
  EXPECT_EQ(without_avx512.Has("avx2"), HostTarget().Has("avx2"));
  for (const char* feature : {"avx", "avx2", "fma", "f16c"})
    EXPECT_FALSE(without_avx.Has(feature)) << feature;
  EXPECT_TRUE(without_avx.Has("sse2"));
}

// LLVM makes no code for masked moves of 16 bits with it alone.
TEST(HostTargetTest, MasksOfShortVectorsTakeThoseOfShortElements) {
  const Target masked = HostTarget("-avx512vl");
  for (const char* feature : {"avx512vl", "avx512bw", "avx512vbmi", "avx512bitalg"})
    EXPECT_FALSE(masked.Has(feature)) << feature;
  EXPECT_EQ(masked.Has("avx512f"), HostTarget().Has("avx512f"));
  EXPECT_EQ(masked.Has("avx512vnni"), HostTarget().Has("avx512vnni"));
}

TEST(HostTargetTest, AMaskShowsInTheTextForLlvm) {
  const std::vector<std::string> features = StrSplit(LlvmFeatures(HostTarget("-sse4.2")), ',');
  EXPECT_THAT(features, Contains("-sse4.2"));
  EXPECT_THAT(features, Contains("+sse2"));
}

TEST(HostTargetTest, TheTextForLlvmNamesEveryFeatureSorted) {
  std::vector<std::string> names;
  for (const std::string& feature : StrSplit(LlvmFeatures(HostTarget()), ',')) {
    ASSERT_THAT(feature[0], ::testing::AnyOf('+', '-')) << feature;
    names.push_back(feature.substr(1));
  }
  EXPECT_GT(names.size(), HostTarget().features.size());
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST(HostTargetTest, AnEmptyListChangesNothing) { EXPECT_EQ(HostTarget(""), HostTarget()); }

TEST(HostTargetTest, ChangesApplyInOrder) {
  EXPECT_EQ(HostTarget("-sse4.2,+sse4.2"), HostTarget());
  EXPECT_FALSE(HostTarget("+sse4.2,-sse4.2").Has("sse4.2"));
}

TEST(HostTargetTest, AFeatureIsGivenBackWithWhatItBuildsOn) {
  EXPECT_TRUE(HostTarget("-sse2,+sse2").Has("sse2"));
  EXPECT_EQ(HostTarget("-sse2,+sse4.2"), HostTarget());
}

TEST(HostTargetTest, RefusesAnUnknownNameWithTheNearest) {
  const std::string message = Refusal("-avx512g");
  EXPECT_THAT(message, HasSubstr("CPU features: 'avx512g' is no feature that LLVM knows"));
  EXPECT_THAT(message, HasSubstr("did you mean avx512"));
}

TEST(HostTargetTest, RefusesToTakeWhatTheCallingConventionNeeds) {
  EXPECT_THAT(
      Refusal("-sse"),
      HasSubstr("CPU features: -sse takes sse2, without which no code can be made for x86"));
  EXPECT_THAT(Refusal("-avx,-64bit"), HasSubstr("takes 64bit"));
}

TEST(HostTargetTest, RefusesAMissingSign) {
  EXPECT_THAT(Refusal("avx2"),
              HasSubstr("'avx2' is neither a feature with its sign, such as -avx512f"));
  EXPECT_THAT(Refusal("-avx2,"), HasSubstr("'' is neither a feature with its sign"));
}

TEST(HostTargetTest, FactsOfAnotherMachineAreText) {
  const Target other = HostTarget("-sse4.2,cpu=znver3,cores=96,l1=48K,l2=2M,l3=4096,line=128");
  EXPECT_FALSE(other.Has("sse4.2"));
  EXPECT_EQ(other.cpu, "znver3");
  EXPECT_EQ(other.cores, 96);
  EXPECT_EQ(other.l1_bytes, 48 << 10);
  EXPECT_EQ(other.l2_bytes, 2 << 20);
  EXPECT_EQ(other.l3_bytes, 4096);
  EXPECT_EQ(other.line_bytes, 128);
}

TEST(HostTargetTest, RefusesFactsThatNoMachineHas) {
  EXPECT_THAT(Refusal("cores=0"), HasSubstr("cores=0: cores are 1 to 4096"));
  EXPECT_THAT(Refusal("cores=many"), HasSubstr("cores are 1 to 4096"));
  EXPECT_THAT(Refusal("l2=9999999999M"), HasSubstr("l2 is 1024 to 1099511627776 bytes"));
  EXPECT_THAT(Refusal("l2="), HasSubstr("l2 is 1024"));
  EXPECT_THAT(Refusal("line=96"), HasSubstr("a power of two"));
  EXPECT_THAT(Refusal("l4=1M"), HasSubstr("known are cpu, cores, l1, l2, l3 and line"));
  EXPECT_THAT(Refusal("cpu=znver99"), HasSubstr("LLVM knows no such CPU"));
}

TEST(HostTargetTest, RefusesAFeatureThatTheHostLacks) {
  ASSERT_FALSE(HostTarget().Has("xop") && HostTarget().Has("amx-fp16"));  // no CPU has both
  const std::string missing = HostTarget().Has("xop") ? "amx-fp16" : "xop";
  EXPECT_THAT(Refusal("+" + missing), HasSubstr("this machine does not enable " + missing));
}

}  // namespace
}  // namespace tenon::jit
