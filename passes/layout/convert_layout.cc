#include "tenon/passes/layout/convert_layout.h"

#include <algorithm>
#include <unordered_map>

#include "tenon/ops/known_ops.h"
#include "tenon/ops/layout/layout.h"
#include "tenon/ops/layout/layout_choice.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/layout/blocked_conv.h"
#include "tenon/passes/layout/rewrite_layouts.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;

constexpr char kDefault[] = "default";

struct Wish {
  std::string data, kernel;  // kernel: empty when there is none
};

std::string Sorted(std::string letters) {
  std::sort(letters.begin(), letters.end());
  return letters;
}

void RequireOrder(const std::string& op, const std::string& layout, const std::string& letters) {
  if (Sorted(layout) != Sorted(letters))
    throw InvalidArgument(StrCat("ConvertLayout: ", op, " in the layout \"", layout,
                                 "\"; it must be an order of ", letters));
}

// The kernel's layout for a data layout. If the data has its channels last, so has the kernel.
std::string DefaultKernel(const std::string& data, const std::string& own) {
  if (data.back() != 'C') return own;
  std::string spatial;
  for (const char letter : own) {
    if (letter != 'O' && letter != 'I') spatial += letter;
  }
  return spatial + "IO";
}

bool IsBlocked(const ops::LayoutChoice& choice, const std::string& data) {
  if (!choice.takes_blocks) return false;
  const ops::Layout layout = ops::Layout::Parse(data, "layout");
  return layout.IsCut('C') && data == StrCat(choice.data, layout.BlockOf('C'), "c");
}

Wish ReadWish(const std::string& op, const ops::LayoutChoice& choice,
              const std::vector<std::string>& layouts) {
  const std::size_t max_layouts = choice.kernel.empty() ? 1 : 2;
  if (layouts.empty() || layouts.size() > max_layouts)
    throw InvalidArgument(StrCat("ConvertLayout: ", op, " takes ",
                                 max_layouts == 1 ? "one layout" : "one or two layouts",
                                 "; there are ", layouts.size()));
  Wish wish{layouts[0] == kDefault ? choice.data : layouts[0], choice.kernel};
  const bool is_given = layouts.size() == 2 && layouts[1] != kDefault;
  if (IsBlocked(choice, wish.data)) {
    if (is_given)
      throw InvalidArgument(StrCat("ConvertLayout: ", op, " in the layout \"", wish.data,
                                   "\" has a kernel layout of its own; leave it out"));
    return wish;
  }
  RequireOrder(op, wish.data, choice.data);
  if (choice.kernel.empty()) return wish;
  wish.kernel = is_given ? layouts[1] : DefaultKernel(wish.data, choice.kernel);
  RequireOrder(op, wish.kernel, choice.kernel);
  return wish;
}

struct Chosen {
  const ops::LayoutChoice& choice;
  Wish wish;
};

std::optional<LayoutAlteration> Alter(const CallNode& call, const Chosen& chosen) {
  const auto& [choice, wish] = chosen;
  if (IsBlocked(choice, wish.data)) {
    const std::int64_t block = ops::Layout::Parse(wish.data, "layout").BlockOf('C');
    return BlockedConvolution(call, {block, block});
  }
  return LayoutAlteration{call.callee, choice.answer(call.attrs, wish.data, wish.kernel)};
}

std::vector<std::string> OperatorsWithChoice() {
  std::vector<std::string> names;
  for (const std::string& name : ops::OpRegistry::Global().Names()) {
    if (ops::OpOf(ops::OpRegistry::Global().Get(name))->Column<ops::LayoutChoice>() != nullptr)
      names.push_back(name);
  }
  return names;
}

}  // namespace

DesiredLayouts ImagesOf(const std::string& data, const std::string& kernel) {
  return {{ops::OpOf(ops::Known().conv2d)->name, {data, kernel}}};
}

ir::Module ConvertLayout(const ir::Module& module, const DesiredLayouts& desired) {
  std::unordered_map<ir::Expr, Chosen, ir::ExprHash> chosen;
  for (const auto& [op, layouts] : desired) {
    const ir::Expr& callee = ops::OpRegistry::Global().Get(op);
    const auto* choice = ops::OpOf(callee)->Column<ops::LayoutChoice>();
    if (choice == nullptr)
      throw InvalidArgument(StrCat("ConvertLayout: ", op, " has no layout to choose; these have: ",
                                   StrJoin(OperatorsWithChoice(), ", ")));
    chosen.emplace(callee, Chosen{*choice, ReadWish(op, *choice, layouts)});
  }
  return RewriteLayouts(module, [&](const CallNode& call) -> std::optional<LayoutAlteration> {
    const auto found = chosen.find(call.callee);
    if (found == chosen.end() || !ir::IsStaticTensor(call.checked_type)) return std::nullopt;
    for (const ir::Expr& arg : call.args) {
      if (!ir::IsStaticTensor(arg.checked_type())) return std::nullopt;
    }
    return Alter(call, found->second);
  });
}

void AddDesiredLayout(const std::string& text, DesiredLayouts* desired) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw InvalidArgument(
        StrCat("the layout \"", text, "\" must be OPERATOR=DATA or OPERATOR=DATA:KERNEL"));
  std::vector<std::string> layouts;
  std::size_t begin = equals + 1;
  for (std::size_t colon = text.find(':', begin); colon != std::string::npos;
       colon = text.find(':', begin)) {
    layouts.push_back(text.substr(begin, colon - begin));
    begin = colon + 1;
  }
  layouts.push_back(text.substr(begin));
  (*desired)[text.substr(0, equals)] = std::move(layouts);
}

}  // namespace tenon::passes
