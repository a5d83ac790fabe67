// The keys of the object cache: equal for equal functions made twice, different wherever machine
// code may differ.
#include "tenon/jit/object/object_key.h"

#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/expr.h"
#include "tenon/support/build_id.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

using loop::Expr;

// B[i] = value(A[i]) for i below 8.
template <typename Value>
loop::Function Made(const Value& value, const std::string& name = "f",
                    loop::StoreKind store = loop::StoreKind::kPlain,
                    loop::ForKind kind = loop::ForKind::kSerial) {
  const loop::Buffer a = loop::Buffer::Make("A", Float32, {8});
  const loop::Buffer b = loop::Buffer::Make("B", Float32, {8});
  const loop::Var i("i");
  const Expr element = loop::Load(a, {i});
  return {.name = name,
          .buffers = {a, b},
          .scalars = {},
          .body = loop::For(i, 0, 8, kind, loop::Store(b, value(element), {i}, store))};
}

Expr PlusOne(const Expr& x) { return x + 1.0F; }

std::string KeyOf(const loop::Function& function, const KeyContext& context = {}) {
  return ObjectKey(function, context);
}

TEST(ObjectKeyTest, IsSixtyFourHexadecimalDigits) {
  EXPECT_THAT(KeyOf(Made(PlusOne)), ::testing::MatchesRegex("[0-9a-f]{64}"));
}

TEST(ObjectKeyTest, EqualFunctionsMadeTwiceHaveOneKey) {
  EXPECT_EQ(KeyOf(Made(PlusOne)), KeyOf(Made(PlusOne)));
}

TEST(ObjectKeyTest, FunctionsThatDifferHaveDifferentKeys) {
  const auto call = [](const char* symbol, loop::Effect effect) {
    return [=](const Expr& x) {
      return loop::ExternCall(loop::ExternFunction::Named<float(float)>(symbol, effect), {x});
    };
  };
  const std::vector<loop::Function> functions = {
      Made(PlusOne),
      Made(PlusOne, "g"),
      Made(PlusOne, "f", loop::StoreKind::kReassociated),
      Made(PlusOne, "f", loop::StoreKind::kStreaming),
      Made(PlusOne, "f", loop::StoreKind::kPlain, loop::ForKind::kParallel),
      Made(PlusOne, "f", loop::StoreKind::kPlain, loop::ForKind::kUnrolled),
      Made([](const Expr& x) { return x + 2.0F; }),
      Made([](const Expr& x) { return x - 1.0F; }),
      Made([](const Expr& x) { return x + x; }),
      Made([](const Expr& x) { return loop::Call(loop::Intrinsic::kExp, {x}); }),
      Made([](const Expr& x) { return loop::Call(loop::Intrinsic::kTanh, {x}); }),
      Made([](const Expr& x) { return loop::Cast(Float32, loop::Cast(Int32, x)); }),
      Made([](const Expr& x) { return loop::Cast(Float32, loop::Cast(Int8, x)); }),
      Made([](const Expr& x) { return loop::Select(x < 0.0F, x, x + 1.0F); }),
      Made([](const Expr& x) { return loop::IfThenElse(x < 0.0F, x, x + 1.0F); }),
      Made(call("expf", loop::Effect::kPure)),
      Made(call("logf", loop::Effect::kPure)),
      Made(call("expf", loop::Effect::kAny)),
  };
  std::set<std::string> keys;
  for (const loop::Function& function : functions) keys.insert(KeyOf(function));
  EXPECT_EQ(keys.size(), functions.size());
}

TEST(ObjectKeyTest, TellsWhichOfTwoVariablesOfOneNameIsUsed) {
  const auto made = [](bool inner) {
    const loop::Buffer b = loop::Buffer::Make("B", Int64, {4});
    const loop::Var i("i"), j("i");
    const loop::Stmt store = loop::Store(b, inner ? j : i, {i});
    return loop::Function{
        "f",
        {b},
        {},
        For(i, 0, 4, loop::ForKind::kSerial, For(j, 0, 4, loop::ForKind::kSerial, store))};
  };
  EXPECT_NE(KeyOf(made(true)), KeyOf(made(false)));
}

TEST(ObjectKeyTest, DependsOnTheShapesAndTypesOfBuffers) {
  const auto made = [](DataType type, std::int64_t extent, loop::Memory memory) {
    const loop::Buffer b = loop::Buffer::Make("B", type, {extent}, memory);
    return loop::Function{"f", {b}, {}, loop::Store(b, loop::Constant(type, 1), {Expr(0)})};
  };
  const std::set<std::string> keys = {KeyOf(made(Float32, 4, loop::Memory::kAutomatic)),
                                      KeyOf(made(Float64, 4, loop::Memory::kAutomatic)),
                                      KeyOf(made(Float32, 5, loop::Memory::kAutomatic)),
                                      KeyOf(made(Float32, 4, loop::Memory::kStack))};
  EXPECT_EQ(keys.size(), 4U);
}

TEST(ObjectKeyTest, DependsOnAllThatMakesTheCode) {
  const loop::Function function = Made(PlusOne);
  const KeyContext host{.generator = "g", .llvm_version = "19.1.7", .cpu_features = "+avx2"};
  std::set<std::string> keys = {KeyOf(function, host)};
  const auto with = [&](const auto& change) {
    KeyContext context = host;
    change(context);
    keys.insert(KeyOf(function, context));
  };
  with([](KeyContext& c) { c.generator = "h"; });
  with([](KeyContext& c) { c.llvm_version = "19.1.8"; });
  with([](KeyContext& c) { c.machine = "znver4 16"; });
  with([](KeyContext& c) { c.cpu_features = "+avx2,+fma"; });
  with([](KeyContext& c) { c.codegen.vector_bits = 256; });
  with([](KeyContext& c) { c.codegen.native_bfloat16 = true; });
  with([](KeyContext& c) { c.codegen.reassociate_reductions = false; });
  with([](KeyContext& c) { c.codegen.math_by_table = true; });
  with([](KeyContext& c) { c.codegen.byte_dots = true; });
  with([](KeyContext& c) { c.codegen.bfloat_dots = true; });
  with([](KeyContext& c) { c.codegen.narrow_dots = true; });
  with([](KeyContext& c) { c.codegen.check_bounds = true; });
  with([](KeyContext& c) { c.codegen.runs_once = true; });
  // Neighbouring texts are not run together.
  with([](KeyContext& c) { c.llvm_version = "19.1.7+", c.cpu_features = "avx2"; });
  EXPECT_EQ(keys.size(), 15U);
}

TEST(OriginKeyTest, AFunctionOfUnknownOriginHasNone) {
  EXPECT_EQ(OriginKey(Made(PlusOne), {}), std::nullopt);
}

TEST(OriginKeyTest, IsMadeWithoutTheBody) {
  loop::Function function = Made(PlusOne);
  function.origin = "B[i] = A[i] + 1";
  const auto key = OriginKey(function, {});
  ASSERT_TRUE(key.has_value()) << "this program has no build ID";
  EXPECT_THAT(*key, ::testing::MatchesRegex("[0-9a-f]{64}"));
  EXPECT_NE(*key, KeyOf(function));
  function.body = loop::Body([]() -> loop::Stmt { throw std::runtime_error("is asked for"); });
  EXPECT_EQ(OriginKey(function, {}), key);
}

TEST(OriginKeyTest, DependsOnTheNameTheSignatureTheOriginAndAllThatMakesTheCode) {
  loop::Function function = Made(PlusOne);
  function.origin = "o";
  std::set<std::optional<std::string>> keys = {OriginKey(function, {})};
  const auto with = [&](const auto& change) {
    loop::Function changed = function;
    KeyContext context;
    change(changed, context);
    keys.insert(OriginKey(changed, context));
  };
  with([](loop::Function& f, KeyContext&) { f.origin = "p"; });
  with([](loop::Function& f, KeyContext&) { f.name = "g"; });
  with([](loop::Function& f, KeyContext&) { f.buffers.pop_back(); });
  with([](loop::Function& f, KeyContext&) { f.scalars.emplace_back("n"); });
  with([](loop::Function&, KeyContext& c) { c.generator = "h"; });
  with([](loop::Function&, KeyContext& c) { c.machine = "znver4 16"; });
  with([](loop::Function&, KeyContext& c) { c.cpu_features = "+avx2"; });
  with([](loop::Function&, KeyContext& c) { c.codegen.vector_bits = 256; });
  EXPECT_EQ(keys.size(), 9U);
}

// Whatever is linked into a program changes its build ID, and with it every key.
TEST(ObjectKeyTest, TheGeneratorIsWhatIsLinked) {
  const std::string own = BuildIdOf(reinterpret_cast<const void*>(&ObjectKey));
  ASSERT_FALSE(own.empty());
  EXPECT_THAT(KeyContext().generator, ::testing::StartsWith(own));
  EXPECT_GT(KeyContext().generator.size(), own.size()) << "LLVM's build ID follows";
  EXPECT_THAT(LlvmVersion(), ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+.*"));
}

}  // namespace
}  // namespace tenon::jit
