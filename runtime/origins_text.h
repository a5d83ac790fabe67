// The places of a model that a step computes, in words.
//
//   OriginsText(node.origins);  // "conv1 (Conv), relu1 (Relu)"
#ifndef TENON_RUNTIME_ORIGINS_TEXT_H_
#define TENON_RUNTIME_ORIGINS_TEXT_H_

#include <string>
#include <vector>

namespace tenon::runtime {

// Of long lists, the first. Empty where the model does not say.
std::string OriginsText(const std::vector<std::string>& origins);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_ORIGINS_TEXT_H_
