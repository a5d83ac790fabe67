/* The runtime of exported machine code: the counterpart of jit/parallel_runtime in C, linked into
   every exported object and library. Its names get the export's prefix when it is compiled
   (-Dtenon_parallel_for=model_parallel_for ...), so that several exports fit into one program.

   Parallel loops use the OpenMP pool of the program; the number of threads is what
   omp_set_num_threads or OMP_NUM_THREADS say. Chunks are contiguous, so the number of threads
   changes no result. */
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

typedef void (*tenon_body)(void* closure, int64_t begin, int64_t end);

void tenon_parallel_for(tenon_body body, void* closure, int64_t extent);
void* tenon_take_memory(int64_t bytes);
void tenon_give_memory(void* memory);

void tenon_parallel_for(tenon_body body, void* closure, int64_t extent) {
  int threads = omp_get_max_threads();
  if (extent <= 0) return;
  if (extent < threads) threads = (int)extent;
  if (threads == 1 || omp_in_parallel()) {
    body(closure, 0, extent);
    return;
  }
#pragma omp parallel num_threads(threads)
  {
    const int64_t count = omp_get_num_threads(), thread = omp_get_thread_num();
    const int64_t share = extent / count, longer = extent % count;
    const int64_t begin = thread * share + (thread < longer ? thread : longer);
#if defined(__SSE2__)
    const unsigned state = _mm_getcsr();
    _mm_setcsr(state | 0x8040u); /* denormals count as zero */
#endif
    body(closure, begin, begin + share + (thread < longer ? 1 : 0));
#if defined(__SSE2__)
    _mm_setcsr(state);
#endif
  }
}

void* tenon_take_memory(int64_t bytes) {
  const size_t wanted = bytes > 0 ? (size_t)bytes : 1;
  return aligned_alloc(64, (wanted + 63) / 64 * 64);
}

void tenon_give_memory(void* memory) { free(memory); }
