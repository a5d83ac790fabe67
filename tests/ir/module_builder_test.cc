// Modules that are made function by function.
#include "tenon/ir/module_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

Expr Identity() { return Parse("def @main(%x) { %x }").Get("main"); }

TEST(ModuleBuilderTest, SetReplacesInPlaceAndAddsLast) {
  const Expr f = Identity(), g = Identity(), h = Identity();
  ModuleBuilder builder(Module().With("a", f).With("b", f));
  builder.Set("c", g);
  builder.Set("a", h);
  EXPECT_EQ(builder.size(), 3U);
  EXPECT_EQ(builder.Find("a"), h);
  EXPECT_FALSE(builder.Find("d"));
  EXPECT_THAT(builder.Build().functions(), ElementsAre(Pair("a", h), Pair("b", f), Pair("c", g)));
}

TEST(ModuleBuilderTest, WhatWasBuiltStaysAsItIs) {
  const Expr f = Identity();
  ModuleBuilder builder;
  builder.Set("a", f);
  const Module module = builder.Build();
  builder.Set("a", Identity());
  builder.Set("b", f);
  EXPECT_THAT(module.functions(), ElementsAre(Pair("a", f)));
  EXPECT_FALSE(module.Find("b"));
}

TEST(ModuleBuilderTest, WhatIsNoFunctionIsRefusedAndChangesNothing) {
  ModuleBuilder builder;
  const Error error = ErrorOf([&] { builder.Set("a", Var::Make("x")); });
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(error.message(), "@a is not a function");
  EXPECT_EQ(builder.Build(), Module());
}

TEST(ModuleTest, KeepLeavesTheOthersOutInOrder) {
  const Expr f = Identity();
  const Module module = Module().With("a", f).With("b", f).With("c", f);
  const Module kept = module.Keep([](const std::string& name, const Expr&) { return name != "b"; });
  EXPECT_THAT(kept.functions(), ElementsAre(Pair("a", f), Pair("c", f)));
  EXPECT_EQ(kept.Get("c"), f);
  EXPECT_FALSE(kept.Find("b"));
}

TEST(ModuleTest, OneThatWasMovedFromIsRefusedInWords) {
  Module from = Module().With("main", Identity());
  const Module to = std::move(from);
  EXPECT_TRUE(to.Find("main"));
  for (const auto& use : std::vector<std::function<void()>>{
           [&] { from.functions(); }, [&] { from.Main(); }, [&] { from.With("a", Identity()); },
           [&] { from.attrs(); }, [&] { from.WithOperatorNames(OperatorNames::kRelax); },
           [&] { ModuleBuilder{from}; }}) {
    const Error error = ErrorOf(use);
    EXPECT_EQ(error.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(error.message(), "the module has been moved from");
  }
}

// A change in time linear in the number of functions, or a search for a name, would take hours.
TEST(ModuleTest, AHundredThousandFunctionsAreParsedAndPrinted) {
  constexpr int kFunctions = 100'000;
  std::string text = "#[version = \"0.0.5\"]\n";
  for (int i = 0; i < kFunctions; ++i)
    StrAppend(&text, i == 0 ? "" : "\n", "def @f", i, "(%x) {\n  @f", (i + 1) % kFunctions,
              "(%x)\n}\n");
  const Module module = Parse(text);
  EXPECT_EQ(module.functions().size(), 100'000U);
  EXPECT_EQ(Print(module), text);
}

}  // namespace
}  // namespace tenon::ir
