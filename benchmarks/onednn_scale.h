// The factor of results of bytes: fixed in a primitive of oneDNN 2, an argument of each call in
// oneDNN 3.
#ifndef TENON_BENCHMARKS_ONEDNN_SCALE_H_
#define TENON_BENCHMARKS_ONEDNN_SCALE_H_

#include <unordered_map>

#include <dnnl.hpp>

namespace tenon::benchmarks {

void ScaleResults(float scale, dnnl::primitive_attr* attr);
// Where the primitive made with `attr` takes the factor as an argument.
void AddScale(float scale, const dnnl::engine& engine,
              std::unordered_map<int, dnnl::memory>* arguments);

}  // namespace tenon::benchmarks

#endif  // TENON_BENCHMARKS_ONEDNN_SCALE_H_
