#include "tenon/verify/draw/random_layout.h"

#include <array>
#include <utility>

#include "tenon/support/strings.h"

namespace tenon::verify {
namespace {

std::string ChannelsLast(const std::string& letters) {
  if (letters == "NCHW") return "NHWC";
  return letters == "OIHW" ? "HWIO" : letters;
}

}  // namespace

std::string RandomOrder(const std::string& letters, Random& random) {
  if (random.Chance(40)) return letters;
  if (random.Chance(50)) return ChannelsLast(letters);
  std::string order = letters;
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1],
              order[static_cast<std::size_t>(random.Below(static_cast<std::int64_t>(i)))]);
  return order;
}

Shape InOrder(const Shape& extents, const std::string& letters, const std::string& layout) {
  Shape ordered;
  for (const char letter : layout) ordered.push_back(extents.at(letters.find(letter)));
  return ordered;
}

std::string RandomWish(Random& random) {
  constexpr std::array kImages = {"nn.avg_pool2d", "nn.global_avg_pool2d", "nn.global_max_pool2d",
                                  "nn.max_pool2d", "nn.upsampling"};
  if (random.Chance(25))
    return StrCat(kImages[static_cast<std::size_t>(random.Below(kImages.size()))], "=",
                  RandomOrder("NCHW", random));
  if (random.Chance(40))
    return StrCat("nn.conv2d=NCHW", std::int64_t{1} << (1 + random.Below(4)), "c");
  const std::string data = RandomOrder("NCHW", random);
  const std::string kernel = random.Chance(50) ? "default" : RandomOrder("OIHW", random);
  return StrCat("nn.conv2d=", data, ":", kernel);
}

}  // namespace tenon::verify
