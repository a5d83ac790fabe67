// Both networks take lines of 48 pixels' height with bytes mapped to [-1, 1]. The classifier takes
// 192 pixels of width, the rest is cut off or padded; the recogniser takes any width.
#include "tenon/examples/ocr/recognize.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace ocr {
namespace {

constexpr int kHeight = 48;
constexpr int kClassifierWidth = 192;
// Widths are padded to multiples of it, so that lines of nearly one length share compiled code.
constexpr int kWidthStep = 32;
constexpr float kSureOfTurn = 0.9F;
constexpr double kUprightAspect = 1.5;

int WidthOf(const Box& box) {
  return std::max(1, static_cast<int>(std::ceil(kHeight * box.width / box.height)));
}

}  // namespace

tenon::Shape ClassifierShape() { return {1, 3, kHeight, kClassifierWidth}; }

std::vector<std::string> LoadKeys(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw tenon::NotFound(tenon::StrCat("the key file ", path, " cannot be opened"));
  std::vector<std::string> keys = {""};
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    keys.push_back(line);
  }
  keys.emplace_back(" ");
  return keys;
}

Text DecodeCtc(const tenon::NDArray& probabilities, const std::vector<std::string>& keys) {
  const tenon::Shape& shape = probabilities.shape();
  if (shape.size() != 3 || shape[0] != 1 || shape[2] != static_cast<std::int64_t>(keys.size()))
    throw tenon::InvalidArgument(tenon::StrCat("the recogniser gives the shape ",
                                               tenon::ShapeToString(shape), "; (1, steps, ",
                                               keys.size(), ") is expected for these keys"));
  Text result;
  double sum = 0;
  int characters = 0;
  std::int64_t last = 0;
  for (std::int64_t step = 0; step < shape[1]; ++step) {
    const float* first = probabilities.data<float>() + step * shape[2];
    const float* best = std::max_element(first, first + shape[2]);
    const std::int64_t key = best - first;
    if (key != 0 && key != last) {
      result.text += keys[static_cast<std::size_t>(key)];
      sum += *best;
      ++characters;
    }
    last = key;
  }
  if (characters > 0) result.confidence = sum / characters;
  return result;
}

Box TurnUpright(const Network& classifier, const Picture& picture, const Box& box,
                const Observer& observer) {
  const Box line = box.height >= kUprightAspect * box.width ? box.Turned(3) : box;
  const int width = std::min(WidthOf(line), kClassifierWidth);
  const tenon::NDArray y =
      classifier(Cut(picture, line, kHeight, width, kClassifierWidth, {}), observer);
  if (y.shape() != tenon::Shape{1, 2})
    throw tenon::InvalidArgument(
        tenon::StrCat("the classifier gives the shape ", tenon::ShapeToString(y.shape()),
                      "; probabilities of 0 and 180 degrees are expected"));
  return y.data<float>()[1] > kSureOfTurn ? line.Turned(2) : line;
}

Text Recognize(const Network& recogniser, const std::vector<std::string>& keys,
               const Picture& picture, const Box& box, const Observer& observer) {
  const int width = WidthOf(box);
  const int padded = (width + kWidthStep - 1) / kWidthStep * kWidthStep;
  return DecodeCtc(recogniser(Cut(picture, box, kHeight, width, padded, {}), observer), keys);
}

}  // namespace ocr
