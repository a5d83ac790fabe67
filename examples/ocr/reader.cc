#include "tenon/examples/ocr/reader.h"

#include <chrono>

namespace ocr {
namespace {

// Adds the time until it goes out of scope.
class Timer {
 public:
  explicit Timer(double* sum) : sum_(sum) {}
  ~Timer() {
    using Milliseconds = std::chrono::duration<double, std::milli>;
    *sum_ += Milliseconds(std::chrono::steady_clock::now() - start_).count();
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  double* const sum_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Reader::Reader(const std::string& folder, const tenon::CompileOptions& options)
    : detector_("detector", folder + "/ch_PP-OCRv4_det_infer.onnx", options),
      classifier_("classifier", folder + "/ch_ppocr_mobile_v2.0_cls_infer.onnx", options,
                  ClassifierShape()),
      recogniser_("recogniser", folder + "/ch_PP-OCRv4_rec_infer.onnx", options),
      keys_(LoadKeys(folder + "/ppocr_keys_v1.txt")) {}

std::vector<Line> Reader::Read(const Picture& picture, const Observer& observer,
                               Times* times) const {
  Times unused;
  Times& spent = times != nullptr ? *times : unused;
  std::vector<Box> boxes;
  {
    const Timer timer(&spent.detect);
    boxes = DetectLines(detector_, picture, observer);
  }
  std::vector<Line> lines;
  for (const Box& box : boxes) {
    Line line;
    {
      const Timer timer(&spent.turn);
      line.box = TurnUpright(classifier_, picture, box, observer);
    }
    const Timer timer(&spent.recognise);
    line.text = Recognize(recogniser_, keys_, picture, line.box, observer);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace ocr
