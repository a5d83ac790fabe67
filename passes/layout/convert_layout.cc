#include "tenon/passes/layout/convert_layout.h"

#include <algorithm>
#include <unordered_map>

#include "tenon/ops/conv_attrs.h"
#include "tenon/ops/image_attrs.h"
#include "tenon/ops/layout.h"
#include "tenon/ops/nn_attrs.h"
#include "tenon/ops/pool_attrs.h"
#include "tenon/ops/registry.h"
#include "tenon/ops/upsampling_attrs.h"
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

template <typename AttrsType>
std::optional<LayoutAlteration> Convolution(const CallNode& call, const Wish& wish) {
  auto attrs = call.attrs.As<AttrsType>();
  attrs.data_layout = wish.data;
  attrs.kernel_layout = wish.kernel;
  attrs.out_layout.clear();
  return LayoutAlteration{call.callee,
                          {{wish.data, wish.kernel}, wish.data, attrs::Attrs::Make(attrs)}};
}

template <typename AttrsType>
std::optional<LayoutAlteration> Image(const CallNode& call, const Wish& wish) {
  auto attrs = call.attrs.As<AttrsType>();
  attrs.layout = wish.data;
  if constexpr (requires { attrs.out_layout; }) attrs.out_layout.clear();
  return LayoutAlteration{call.callee, {{wish.data}, wish.data, attrs::Attrs::Make(attrs)}};
}

// A convolution with channels last has those of its kernel last, too.
std::string DefaultKernel(const std::string& data, const std::string& own) {
  if (data.back() != 'C') return own;
  std::string spatial;
  for (const char letter : own) {
    if (letter != 'O' && letter != 'I') spatial += letter;
  }
  return spatial + "IO";
}

class Rule {
 public:
  using Alter = std::optional<LayoutAlteration> (*)(const CallNode& call, const Wish& wish);

  template <typename AttrsType>
  static Rule OfConvolution() {
    return Rule(AttrsType{}.data_layout, AttrsType{}.kernel_layout, Convolution<AttrsType>);
  }
  template <typename AttrsType>
  static Rule OfImage() {
    return Rule(AttrsType{}.layout, "", Image<AttrsType>);
  }

  Wish Read(const std::string& op, const std::vector<std::string>& layouts) const {
    const std::size_t max_layouts = kernel_.empty() ? 1 : 2;
    if (layouts.empty() || layouts.size() > max_layouts)
      throw InvalidArgument(StrCat("ConvertLayout: ", op, " takes ",
                                   max_layouts == 1 ? "one layout" : "one or two layouts",
                                   "; there are ", layouts.size()));
    Wish wish{layouts[0] == kDefault ? data_ : layouts[0], kernel_};
    const bool is_given = layouts.size() == 2 && layouts[1] != kDefault;
    if (IsBlocked(op, wish.data)) {
      if (is_given)
        throw InvalidArgument(StrCat("ConvertLayout: ", op, " in the layout \"", wish.data,
                                     "\" has a kernel layout of its own; leave it out"));
      return wish;
    }
    RequireOrder(op, wish.data, data_);
    if (kernel_.empty()) return wish;
    wish.kernel = is_given ? layouts[1] : DefaultKernel(wish.data, kernel_);
    RequireOrder(op, wish.kernel, kernel_);
    return wish;
  }
  Alter alter() const { return alter_; }

 private:
  Rule(std::string data, std::string kernel, Alter alter)
      : data_(std::move(data)), kernel_(std::move(kernel)), alter_(alter) {}

  static bool IsBlocked(const std::string& op, const std::string& data) {
    if (op != "nn.conv2d") return false;
    const ops::Layout layout = ops::Layout::Parse(data, "layout");
    return layout.IsCut('C') && data == StrCat("NCHW", layout.BlockOf('C'), "c");
  }

  std::string data_, kernel_;
  Alter alter_;
};

std::optional<LayoutAlteration> Conv2D(const CallNode& call, const Wish& wish) {
  if (ops::HasBlocks(call.attrs.As<ops::Conv2DAttrs>())) return std::nullopt;
  if (const std::int64_t block = ops::Layout::Parse(wish.data, "layout").BlockOf('C');
      wish.data == StrCat("NCHW", block, "c"))
    return BlockedConv2D(call, {block, block});
  return Convolution<ops::Conv2DAttrs>(call, wish);
}

std::map<std::string, Rule> Rules() {
  return {{"image.resize1d", Rule::OfImage<ops::Resize1DAttrs>()},
          {"image.resize2d", Rule::OfImage<ops::Resize2DAttrs>()},
          {"image.resize3d", Rule::OfImage<ops::Resize3DAttrs>()},
          {"nn.avg_pool2d", Rule::OfImage<ops::AvgPool2DAttrs>()},
          {"nn.conv1d", Rule::OfConvolution<ops::Conv1DAttrs>()},
          {"nn.conv2d", Rule::OfConvolution<ops::Conv2DAttrs>()},
          {"nn.conv2d_transpose", Rule::OfConvolution<ops::Conv2DTransposeAttrs>()},
          {"nn.conv3d", Rule::OfConvolution<ops::Conv3DAttrs>()},
          {"nn.conv3d_transpose", Rule::OfConvolution<ops::Conv3DTransposeAttrs>()},
          {"nn.global_avg_pool2d", Rule::OfImage<ops::GlobalPool2DAttrs>()},
          {"nn.global_max_pool2d", Rule::OfImage<ops::GlobalPool2DAttrs>()},
          {"nn.max_pool2d", Rule::OfImage<ops::MaxPool2DAttrs>()},
          {"nn.upsampling", Rule::OfImage<ops::UpSamplingAttrs>()}};
}

struct Chosen {
  Wish wish;
  Rule::Alter alter;
};

}  // namespace

ir::Module ConvertLayout(const ir::Module& module, const DesiredLayouts& desired) {
  const std::map<std::string, Rule> rules = Rules();
  std::unordered_map<ir::Expr, Chosen, ir::ExprHash> chosen;
  for (const auto& [op, layouts] : desired) {
    const ir::Expr& callee = ops::OpRegistry::Global().Get(op);
    const auto rule = rules.find(op);
    if (rule == rules.end())
      throw InvalidArgument(StrCat("ConvertLayout: ", op, " has no layout to choose; these have: ",
                                   StrJoin(rules, ", ", [](std::string* text, const auto& r) {
                                     StrAppend(text, r.first);
                                   })));
    chosen.emplace(callee, Chosen{rule->second.Read(op, layouts),
                                  op == "nn.conv2d" ? Conv2D : rule->second.alter()});
  }
  return RewriteLayouts(module, [&](const CallNode& call) -> std::optional<LayoutAlteration> {
    const auto found = chosen.find(call.callee);
    if (found == chosen.end() || !ir::IsStaticTensor(call.checked_type)) return std::nullopt;
    for (const ir::Expr& arg : call.args) {
      if (!ir::IsStaticTensor(arg.checked_type())) return std::nullopt;
    }
    return found->second.alter(call, found->second.wish);
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
