/* What the kernels of a saved executable export: a C interface, since a C compiler makes it.

   const struct TenonSavedLibrary* TenonSavedLibrary2(const struct TenonSavedRuntime* runtime);

   The "2" is the version of these structs. Called once, before any kernel. It runs on every CPU of
   the architecture. */
#ifndef TENON_RUNTIME_SAVED_LIBRARY_H_
#define TENON_RUNTIME_SAVED_LIBRARY_H_

#include <stdint.h>

/* Data pointers, inputs first, and the values of the extents that are variables; 0, or 1 when
   memory is out. */
typedef int32_t TenonSavedCode(void* const* buffers, const int64_t* extents);

struct TenonSavedKernel {
  const char* name;
  TenonSavedCode* code;
  int32_t num_buffers;
  int32_t num_extents;
  void (*bytes)(const int64_t* extents, int64_t* bytes); /* of each buffer, for these extents */
};

/* What kernels call. */
struct TenonSavedRuntime {
  void (*parallel_for)(void (*body)(void* closure, int64_t begin, int64_t end), void* closure,
                       int64_t extent);
  void* (*take_memory)(int64_t bytes);
  void (*give_memory)(void* memory);
};

struct TenonSavedLibrary {
  const char* missing_feature; /* of this CPU, or null */
  int32_t num_kernels;
  const struct TenonSavedKernel* kernels;
};

#endif  // TENON_RUNTIME_SAVED_LIBRARY_H_
