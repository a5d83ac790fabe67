// Where the lines of text are in a picture.
#ifndef TENON_EXAMPLES_OCR_DETECT_H_
#define TENON_EXAMPLES_OCR_DETECT_H_

#include <vector>

#include "tenon/examples/ocr/network.h"
#include "tenon/examples/ocr/picture.h"

namespace ocr {

// Boxes in the picture's pixels, in reading order.
std::vector<Box> DetectLines(const Network& detector, const Picture& picture,
                             const Observer& observer = {});

}  // namespace ocr

#endif  // TENON_EXAMPLES_OCR_DETECT_H_
