// Thirty pieces of models in Relay text, as people write and exporters spell them: what fusion is
// measured on.
#ifndef TENON_BENCHMARKS_FUSION_SNIPPETS_H_
#define TENON_BENCHMARKS_FUSION_SNIPPETS_H_

#include <vector>

namespace tenon::benchmarks {

struct Snippet {
  const char* name;
  const char* text;  // a module; all inputs and results are float32
};

const std::vector<Snippet>& FusionSnippets();

}  // namespace tenon::benchmarks

#endif  // TENON_BENCHMARKS_FUSION_SNIPPETS_H_
