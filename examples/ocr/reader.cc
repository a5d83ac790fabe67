#include "tenon/examples/ocr/reader.h"

#include <chrono>
#include <future>
#include <optional>

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

// A compile has steps that run on one core only; those of another fill it.
Reader::Networks Reader::Compiled(const std::string& folder, const tenon::CompileOptions& options) {
  const auto start = [&](const char* name, const char* file,
                         const std::optional<tenon::Shape>& shape = std::nullopt) {
    return std::async(std::launch::async, [name, path = folder + "/" + file, &options, shape] {
      return Network(name, path, options, shape);
    });
  };
  auto detector = start("detector", "ch_PP-OCRv4_det_infer.onnx");
  auto recogniser = start("recogniser", "ch_PP-OCRv4_rec_infer.onnx");
  auto classifier = start("classifier", "ch_ppocr_mobile_v2.0_cls_infer.onnx", ClassifierShape());
  return {
      .detector = detector.get(), .classifier = classifier.get(), .recogniser = recogniser.get()};
}

Reader::Reader(const std::string& folder, const tenon::CompileOptions& options)
    : networks_(Compiled(folder, options)), keys_(LoadKeys(folder + "/ppocr_keys_v1.txt")) {}

std::vector<Line> Reader::Read(const Picture& picture, const Observer& observer,
                               Times* times) const {
  Times unused;
  Times& spent = times != nullptr ? *times : unused;
  std::vector<Box> boxes;
  {
    const Timer timer(&spent.detect);
    boxes = DetectLines(networks_.detector, picture, observer);
  }
  std::vector<Line> lines;
  for (const Box& box : boxes) {
    Line line;
    {
      const Timer timer(&spent.turn);
      line.box = TurnUpright(networks_.classifier, picture, box, observer);
    }
    const Timer timer(&spent.recognise);
    line.text = Recognize(networks_.recogniser, keys_, picture, line.box, observer);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace ocr
