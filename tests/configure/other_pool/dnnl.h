// The installed header, as a oneDNN that was built for TBB would have it.
#include_next <dnnl.h>

#undef DNNL_CPU_THREADING_RUNTIME
#define DNNL_CPU_THREADING_RUNTIME DNNL_RUNTIME_TBB
