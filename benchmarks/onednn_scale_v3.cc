// That of the source stands for that of the results, which oneDNN 3 would divide by.
#include "tenon/benchmarks/onednn_scale.h"

namespace tenon::benchmarks {

void ScaleResults(float, dnnl::primitive_attr* attr) { attr->set_scales_mask(DNNL_ARG_SRC, 0); }

void AddScale(float scale, const dnnl::engine& engine,
              std::unordered_map<int, dnnl::memory>* arguments) {
  const dnnl::memory::desc one({1}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
  const dnnl::memory memory(one, engine);
  *static_cast<float*>(memory.get_data_handle()) = scale;
  arguments->emplace(DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, memory);
}

}  // namespace tenon::benchmarks
