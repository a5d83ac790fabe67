// What a line of text says, and which side of it is up.
#ifndef TENON_EXAMPLES_OCR_RECOGNIZE_H_
#define TENON_EXAMPLES_OCR_RECOGNIZE_H_

#include <string>
#include <vector>

#include "tenon/examples/ocr/network.h"
#include "tenon/examples/ocr/picture.h"

namespace ocr {

// The characters that a recogniser knows, by class: first the blank of CTC (empty), then those of
// the file, one per line, then the space. Throws NotFound.
std::vector<std::string> LoadKeys(const std::string& path);

struct Text {
  std::string text;       // UTF-8
  double confidence = 0;  // mean probability of the characters; 0 without any
};

// Greedy decoding of connectionist temporal classification (Graves et al., ICML 2006): the most
// probable class at each step, repetitions merged, blanks dropped. `probabilities` is float32
// (1, steps, classes). Throws InvalidArgument when the classes are not those of the keys.
Text DecodeCtc(const tenon::NDArray& probabilities, const std::vector<std::string>& keys);

// Of the only pictures that the classifier takes.
tenon::Shape ClassifierShape();

// The box with the side up from which the text reads upright. Lines much higher than wide are taken
// to run from top to bottom.
Box TurnUpright(const Network& classifier, const Picture& picture, const Box& box,
                const Observer& observer = {});
Text Recognize(const Network& recogniser, const std::vector<std::string>& keys,
               const Picture& picture, const Box& box, const Observer& observer = {});

}  // namespace ocr

#endif  // TENON_EXAMPLES_OCR_RECOGNIZE_H_
