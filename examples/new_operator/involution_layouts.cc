// Step 3: layout inference. ConvertLayout asks it, so that no transpositions stand around a call.
#include "involution.h"

namespace involution {

tenon::ops::LayoutAnswer Layouts(const tenon::ops::LayoutQuestion& question) {
  Attrs attrs = question.attrs.As<Attrs>();
  const std::string& wanted = tenon::ops::WantedLayout(question, 0);
  if (wanted == "NCHW" || wanted == "NHWC") attrs.layout = wanted;
  return {{attrs.layout, attrs.layout}, attrs.layout, tenon::attrs::Attrs::Make(attrs)};
}

}  // namespace involution
