// Modules from Relax text for tests.
#ifndef TENON_TESTS_RELAX_RELAX_TEXT_H_
#define TENON_TESTS_RELAX_RELAX_TEXT_H_

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/relax/text_format.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::relax {

inline ir::Module Read(std::string_view text) { return ValueOrThrow(ParseRelax(text, "test.py")); }

// The words of the refusal; empty where the text is read.
inline std::string RefusalOf(std::string_view text) {
  const auto module = ParseRelax(text, "test.py");
  return module.ok() ? "" : std::string(module.status().message());
}

// The module of one function, whose body is indented by four blanks.
inline std::string Main(std::string_view params, std::string_view body) {
  return StrCat("@R.function\ndef main(", params, "):\n", body);
}

// The value of @main that `expr` is, with these parameters.
inline ir::Expr ReadExpr(std::string_view params, std::string_view expr) {
  return Read(Main(params, StrCat("    return ", expr, "\n"))).Main().body;
}

// Printing and reading gives an equal module, and printing that the same text.
inline void ExpectRoundTrip(const ir::Module& module) {
  const std::string text = PrintRelax(module);
  const auto again = ParseRelax(text, "printed.py");
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << text;
  EXPECT_TRUE(ir::StructuralEqual(module, *again)) << text;
  EXPECT_EQ(PrintRelax(*again), text);
}

}  // namespace tenon::relax

#endif  // TENON_TESTS_RELAX_RELAX_TEXT_H_
