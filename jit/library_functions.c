/* What generated code calls rather than spells out: functions whose steps depend on values, such as
   sorting. Kernels of this process call them here; exported C holds a copy of this file, and
   exported machine code is linked with one. Nothing is kept between calls, and all memory comes
   from the caller, so they may run on many threads at once. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef TENON_LIBRARY
#define TENON_LIBRARY
#endif

/* The indices of the first `limit` of each of `rows` rows of `n` keys, float64 or int64, in their
   order; equal keys stay in order, NaN is greater than every number. `indices` takes rows x limit,
   `scratch` holds 4 * n numbers of 64 bits. Few of many are selected by their leading digits;
   sorting is by digits from the last one (Knuth, The Art of Computer Programming, volume 3, section
   5.2.5), or by insertion where there are few. */
TENON_LIBRARY void tenon_lib_argsort(const void* keys, void* indices, void* scratch, int64_t rows,
                                     int64_t n, int64_t limit, int64_t is_float, int64_t descends);
/* The places of `n` slices of `width` keys in their order: that of the first keys that differ.
   Equal slices stay in order. Keys as above; `scratch` holds n numbers of 64 bits. By merging
   (Knuth, section 5.2.4). */
TENON_LIBRARY void tenon_lib_argsort_slices(const void* keys, void* indices, void* scratch,
                                            int64_t n, int64_t width, int64_t is_float);
/* The determinants of `count` matrices of n x n float64 by Gaussian elimination with row exchanges.
   `scratch` holds n x n numbers. */
TENON_LIBRARY void tenon_lib_determinant(const void* matrices, void* out, void* scratch,
                                         int64_t count, int64_t n);
/* A copy of `size` elements of `data`, in which slice k of `count` slices of `row` elements in
   `updates` is written at element offsets[k] * row (mode 0) or joined with what is there: added,
   multiplied, the lesser, the greater (1 to 4). Updates run in order; a negative offset drops one.
   `type`: bytes of an element for mode 0, else 0 float32, 1 float64, 2 int32, 3 int64. */
TENON_LIBRARY void tenon_lib_scatter(const void* data, const void* offsets, const void* updates,
                                     void* out, int64_t size, int64_t count, int64_t row,
                                     int64_t type, int64_t mode);
/* Pooling of regions of interest (He et al., "Mask R-CNN", ICCV 2017) as ONNX's RoiAlign has it.
   data: images x channels x height x width; rois: batch index, x1, y1, x2, y2 each. A sample_ratio
   of 0 or less takes as many samples of a bin as it has pixels. */
TENON_LIBRARY void tenon_lib_roi_align(const void* data, const void* rois, void* out,
                                       int64_t images, int64_t channels, int64_t height,
                                       int64_t width, int64_t count, int64_t pooled_height,
                                       int64_t pooled_width, double spatial_scale,
                                       int64_t sample_ratio, int64_t takes_max, int64_t aligned);
/* The greatest element of each bin of regions of interest (Girshick, "Fast R-CNN", ICCV 2015): the
   corners are rounded to elements, a region has one at least, bins share those that lie on their
   borders, and an empty one is 0. `data` and `rois` as above. */
TENON_LIBRARY void tenon_lib_roi_pool(const void* data, const void* rois, void* out, int64_t images,
                                      int64_t channels, int64_t height, int64_t width,
                                      int64_t count, int64_t pooled_height, int64_t pooled_width,
                                      double spatial_scale);
/* Non-maximum suppression of each class of each image (Neubeck and Van Gool, ICPR 2006) as ONNX has
   it. boxes: images x spatial x 4 corners y1, x1, y2, x2 in any order of corners; scores: images x
   classes x spatial. `selected` takes image, class and box of each in order of image, class and
   falling score, then zeros; `found` their number. `scratch` holds 4 * spatial numbers of
   64 bits. */
TENON_LIBRARY void tenon_lib_suppress(const void* boxes, const void* scores, const void* most,
                                      const void* overlap, const void* threshold, void* selected,
                                      void* found, void* scratch, int64_t images, int64_t classes,
                                      int64_t spatial);

/* Sparse matrices in compressed rows: entry k stands in column indices[k] of the row r with
   starts[r] <= k < starts[r + 1]. Starts are read as within 0 and `count`, the number of entries,
   and one below those before it as the greatest of these; so no entry is in two rows. */

/* The row of each entry, or -1 where no row has it or its column is none of `columns`. */
TENON_LIBRARY void tenon_lib_sparse_rows(const void* indices, const void* starts, void* row,
                                         int64_t rows, int64_t columns, int64_t count);
/* Entries by column, those of a column in order: source[k] is the entry at place k, -1 after the
   last that has a row; starts[c] is where those of column c begin. */
TENON_LIBRARY void tenon_lib_sparse_transpose(const void* indices, const void* row, void* source,
                                              void* starts, int64_t columns, int64_t count);
/* The products of a sparse matrix and `batch` dense ones of depth x columns. The entries are blocks
   of block_rows x block_columns elements; those beyond the depth are skipped. `type`: 0 float32,
   1 float64, 2 int32, 3 int64. */
TENON_LIBRARY void tenon_lib_sparse_multiply(const void* data, const void* indices,
                                             const void* starts, const void* dense, void* out,
                                             int64_t batch, int64_t rows, int64_t count,
                                             int64_t block_rows, int64_t block_columns,
                                             int64_t depth, int64_t columns, int64_t type);

/* --- sorting */

#define TENON_SIGN ((uint64_t)1 << 63)

/* Unsigned numbers in the order of the keys: all NaN are one, and so are both zeros. */
static uint64_t tenon_rank_of_int(int64_t key) { return (uint64_t)key ^ TENON_SIGN; }
static uint64_t tenon_rank_of_float(double key) {
  uint64_t bits;
  if (key != key) return ~(uint64_t)0;
  if (key == 0) return TENON_SIGN;
  memcpy(&bits, &key, sizeof(bits));
  return (bits & TENON_SIGN) != 0 ? ~bits : bits | TENON_SIGN;
}

static void tenon_insertion_sort(uint64_t* ranks, int64_t* at, int64_t n) {
  int64_t i, j;
  for (i = 1; i < n; ++i) {
    const uint64_t rank = ranks[i];
    const int64_t place = at[i];
    for (j = i; j > 0 && ranks[j - 1] > rank; --j) {
      ranks[j] = ranks[j - 1];
      at[j] = at[j - 1];
    }
    ranks[j] = rank;
    at[j] = place;
  }
}

/* Orders `at` by `ranks`; the others are as long. */
static void tenon_sort_by_rank(uint64_t* ranks, int64_t* at, uint64_t* other_ranks,
                               int64_t* other_at, int64_t n) {
  int64_t counts[8][256];
  uint64_t *from = ranks, *to = other_ranks;
  int64_t *from_at = at, *to_at = other_at;
  int64_t i;
  int digit;
  if (n < 64) {
    tenon_insertion_sort(ranks, at, n);
    return;
  }
  memset(counts, 0, sizeof(counts));
  for (i = 0; i < n; ++i) {
    for (digit = 0; digit < 8; ++digit) ++counts[digit][ranks[i] >> 8 * digit & 255];
  }
  for (digit = 0; digit < 8; ++digit) {
    const int shift = 8 * digit;
    int64_t* begin = counts[digit];
    int64_t sum = 0;
    uint64_t* swap = from;
    int64_t* swap_at = from_at;
    if (begin[from[0] >> shift & 255] == n) continue; /* all have the same */
    for (i = 0; i < 256; ++i) {
      const int64_t count = begin[i];
      begin[i] = sum;
      sum += count;
    }
    for (i = 0; i < n; ++i) {
      const int64_t place = begin[from[i] >> shift & 255]++;
      to[place] = from[i];
      to_at[place] = from_at[i];
    }
    from = to;
    from_at = to_at;
    to = swap;
    to_at = swap_at;
  }
  if (from_at != at) memcpy(at, from_at, (size_t)n * sizeof(int64_t));
}

/* Moves those that may be among the `limit` first to the front, in order; returns how many. */
static int64_t tenon_select(uint64_t* ranks, int64_t* at, int64_t n, int64_t limit) {
  uint64_t prefix = 0, mask = 0;
  int64_t missing = limit, candidates, kept = 0, i;
  int shift = 64;
  do {
    int64_t counts[256] = {0};
    uint64_t digit = 0;
    shift -= 8;
    for (i = 0; i < n; ++i) counts[ranks[i] >> shift & 255] += (ranks[i] & mask) == prefix;
    while (missing > counts[digit]) missing -= counts[digit++];
    candidates = limit - missing + counts[digit];
    prefix |= digit << shift;
    mask |= (uint64_t)255 << shift;
  } while (candidates > 2 * limit + 32 && shift > 0);
  for (i = 0; i < n; ++i) {
    ranks[kept] = ranks[i];
    at[kept] = at[i];
    kept += (ranks[i] & mask) <= prefix;
  }
  return kept;
}

TENON_LIBRARY void tenon_lib_argsort(const void* keys, void* indices, void* scratch, int64_t rows,
                                     int64_t n, int64_t limit, int64_t is_float, int64_t descends) {
  uint64_t* ranks = (uint64_t*)scratch;
  int64_t* at = (int64_t*)(ranks + n);
  int64_t row, i;
  for (row = 0; row < rows; ++row) {
    const double* floats = (const double*)keys + row * n;
    const int64_t* ints = (const int64_t*)keys + row * n;
    const uint64_t turned = descends ? ~(uint64_t)0 : 0;
    int64_t count = n;
    for (i = 0; i < n; ++i) at[i] = i;
    if (is_float) {
      for (i = 0; i < n; ++i) ranks[i] = tenon_rank_of_float(floats[i]) ^ turned;
    } else {
      for (i = 0; i < n; ++i) ranks[i] = tenon_rank_of_int(ints[i]) ^ turned;
    }
    if (limit < n / 4) count = tenon_select(ranks, at, n, limit);
    tenon_sort_by_rank(ranks, at, ranks + 2 * n, at + 2 * n, count);
    memcpy((int64_t*)indices + row * limit, at, (size_t)limit * sizeof(int64_t));
  }
}

/* Whether slice `a` comes before slice `b`. */
static int tenon_slice_is_less(const void* keys, int64_t a, int64_t b, int64_t width,
                               int64_t is_float) {
  int64_t i;
  if (!is_float) {
    const int64_t *x = (const int64_t*)keys + a * width, *y = (const int64_t*)keys + b * width;
    for (i = 0; i < width; ++i) {
      if (x[i] != y[i]) return x[i] < y[i];
    }
  } else {
    const double *x = (const double*)keys + a * width, *y = (const double*)keys + b * width;
    for (i = 0; i < width; ++i) {
      const uint64_t x_rank = tenon_rank_of_float(x[i]), y_rank = tenon_rank_of_float(y[i]);
      if (x_rank != y_rank) return x_rank < y_rank;
    }
  }
  return 0;
}

TENON_LIBRARY void tenon_lib_argsort_slices(const void* keys, void* indices, void* scratch,
                                            int64_t n, int64_t width, int64_t is_float) {
  int64_t *from = (int64_t*)indices, *to = (int64_t*)scratch;
  int64_t run, i;
  for (i = 0; i < n; ++i) from[i] = i;
  for (run = 1; run < n; run *= 2) {
    int64_t begin, *swap = from;
    for (begin = 0; begin < n; begin += 2 * run) {
      const int64_t middle = n - begin < run ? n : begin + run;
      const int64_t end = n - middle < run ? n : middle + run;
      int64_t left = begin, right = middle;
      for (i = begin; i < end; ++i) {
        const int takes_right =
            left == middle ||
            (right < end && tenon_slice_is_less(keys, from[right], from[left], width, is_float));
        to[i] = takes_right ? from[right++] : from[left++];
      }
    }
    from = to;
    to = swap;
  }
  if (from != (int64_t*)indices) memcpy(indices, from, (size_t)n * sizeof(int64_t));
}

/* --- matrices */

TENON_LIBRARY void tenon_lib_determinant(const void* matrices, void* out, void* scratch,
                                         int64_t count, int64_t n) {
  double* a = (double*)scratch;
  int64_t matrix, column, row, i;
  for (matrix = 0; matrix < count; ++matrix) {
    double determinant = 1;
    memcpy(a, (const double*)matrices + matrix * n * n, (size_t)(n * n) * sizeof(double));
    for (column = 0; column < n; ++column) {
      int64_t best = column;
      double pivot;
      for (row = column + 1; row < n; ++row) {
        if (fabs(a[row * n + column]) > fabs(a[best * n + column])) best = row;
      }
      if (best != column) {
        determinant = -determinant;
        for (i = column; i < n; ++i) {
          const double swap = a[best * n + i];
          a[best * n + i] = a[column * n + i];
          a[column * n + i] = swap;
        }
      }
      pivot = a[column * n + column];
      determinant *= pivot;
      if (pivot == 0) continue; /* the column has nothing else, but others may have NaN */
      for (row = column + 1; row < n; ++row) {
        const double factor = a[row * n + column] / pivot;
        for (i = column + 1; i < n; ++i) a[row * n + i] -= factor * a[column * n + i];
      }
    }
    ((double*)out)[matrix] = determinant;
  }
}

/* --- scattering */

#define TENON_SCATTER(NAME, TYPE, ADD, MULTIPLY)                                \
  static void NAME(const TYPE* updates, TYPE* out, int64_t row, int64_t mode) { \
    int64_t i;                                                                  \
    for (i = 0; i < row; ++i) {                                                 \
      const TYPE a = out[i], b = updates[i];                                    \
      switch (mode) {                                                           \
        case 1:                                                                 \
          out[i] = ADD;                                                         \
          break;                                                                \
        case 2:                                                                 \
          out[i] = MULTIPLY;                                                    \
          break;                                                                \
        case 3:                                                                 \
          out[i] = (a < b || a != a) ? a : b;                                   \
          break;                                                                \
        default:                                                                \
          out[i] = (a > b || a != a) ? a : b;                                   \
          break;                                                                \
      }                                                                         \
    }                                                                           \
  }
TENON_SCATTER(tenon_scatter_f32, float, a + b, a* b)
TENON_SCATTER(tenon_scatter_f64, double, a + b, a* b)
TENON_SCATTER(tenon_scatter_i32, int32_t, (int32_t)((uint32_t)a + (uint32_t)b),
              (int32_t)((uint32_t)a*(uint32_t)b))
TENON_SCATTER(tenon_scatter_i64, int64_t, (int64_t)((uint64_t)a + (uint64_t)b),
              (int64_t)((uint64_t)a*(uint64_t)b))
#undef TENON_SCATTER

TENON_LIBRARY void tenon_lib_scatter(const void* data, const void* offsets, const void* updates,
                                     void* out, int64_t size, int64_t count, int64_t row,
                                     int64_t type, int64_t mode) {
  const int64_t bytes = mode == 0 ? type : type % 2 == 0 ? 4 : 8;
  int64_t k;
  memcpy(out, data, (size_t)(size * bytes));
  /* Types 0 and 2 have four bytes, 1 and 3 eight. */
  for (k = 0; k < count; ++k) {
    const int64_t at = ((const int64_t*)offsets)[k] * row;
    const char* from = (const char*)updates + k * row * bytes;
    char* to = (char*)out + at * bytes;
    if (at < 0) continue;
    if (mode == 0) {
      memcpy(to, from, (size_t)(row * bytes));
    } else if (type == 0) {
      tenon_scatter_f32((const float*)from, (float*)to, row, mode);
    } else if (type == 1) {
      tenon_scatter_f64((const double*)from, (double*)to, row, mode);
    } else if (type == 2) {
      tenon_scatter_i32((const int32_t*)from, (int32_t*)to, row, mode);
    } else {
      tenon_scatter_i64((const int64_t*)from, (int64_t*)to, row, mode);
    }
  }
}

/* --- regions */

typedef struct {
  int64_t low, high;
  float below, above; /* weights of the two */
  int outside;
} tenon_sample;

static tenon_sample tenon_sample_at(float at, int64_t extent) {
  tenon_sample s = {0, 0, 0.0F, 0.0F, 0};
  s.outside = !(at >= -1.0F && at <= (float)extent);
  if (s.outside) return s;
  if (at < 0.0F) at = 0.0F;
  s.low = (int64_t)at;
  if (s.low >= extent - 1) {
    s.low = s.high = extent - 1;
    at = (float)s.low;
  } else {
    s.high = s.low + 1;
  }
  s.above = at - (float)s.low;
  s.below = 1.0F - s.above;
  return s;
}

static float tenon_greater(float a, float b) { return (a > b || a != a) ? a : b; }

static int64_t tenon_samples(float bin, int64_t wanted) {
  /* As many as pixels, no more than 4096: no image that is worth pooling needs more. */
  int64_t samples = 1;
  if (wanted > 0) return wanted;
  if (!(bin > 1.0F)) return bin > 0.0F ? 1 : 0;
  if (bin >= 4096.0F) return 4096;
  samples = (int64_t)bin;
  return (float)samples < bin ? samples + 1 : samples;
}

/* The image that a region names, the first or last one instead of one beyond. No float of images or
   more is cast: it may not fit. */
static int64_t tenon_image_of(float index, int64_t images) {
  if (!(index > 0.0F)) return 0;
  return index < (float)images - 1.0F ? (int64_t)index : images - 1;
}

/* Samples of an axis whose places are computed once for all channels. */
enum { TENON_MOST_SAMPLES = 256 };

/* Those of a bin of `size` that begins at `start`. */
static void tenon_place_samples(float start, float size, int64_t first, int64_t count,
                                int64_t samples, int64_t extent, tenon_sample* to) {
  int64_t i;
  for (i = 0; i < count; ++i)
    to[i] = tenon_sample_at(start + ((float)(first + i) + 0.5F) * size / (float)samples, extent);
}

/* Adds the samples at rows `y` and columns `x` to `sum`, or takes the greatest of all. */
static float tenon_pool(float sum, const float* image, int64_t width, const tenon_sample* y,
                        int64_t rows, const tenon_sample* x, int64_t columns, int64_t takes_max) {
  int64_t i, j;
  for (i = 0; i < rows; ++i) {
    const float* low = image + y[i].low * width;
    const float* high = image + y[i].high * width;
    for (j = 0; j < columns; ++j) {
      float a = 0.0F, b = 0.0F, c = 0.0F, d = 0.0F;
      if (!y[i].outside && !x[j].outside) {
        a = y[i].below * x[j].below * low[x[j].low];
        b = y[i].below * x[j].above * low[x[j].high];
        c = y[i].above * x[j].below * high[x[j].low];
        d = y[i].above * x[j].above * high[x[j].high];
      }
      if (takes_max) {
        sum = tenon_greater(sum, tenon_greater(tenon_greater(a, b), tenon_greater(c, d)));
      } else {
        sum += a + b + c + d;
      }
    }
  }
  return sum;
}

/* A region in one image. `out` takes channels x bins. */
typedef struct {
  float top, left, bin_height, bin_width;
  int64_t rows, columns; /* samples of a bin */
} tenon_region;

static void tenon_pool_few(const float* image, int64_t channels, int64_t height, int64_t width,
                           tenon_region r, int64_t pooled_height, int64_t pooled_width,
                           int64_t takes_max, float* out) {
  tenon_sample ys[TENON_MOST_SAMPLES], xs[TENON_MOST_SAMPLES];
  const int64_t count = r.rows * r.columns;
  const float start = takes_max && count > 0 ? -INFINITY : 0.0F;
  int64_t c, y, x;
  for (y = 0; y < pooled_height; ++y)
    tenon_place_samples(r.top + (float)y * r.bin_height, r.bin_height, 0, r.rows, r.rows, height,
                        ys + y * r.rows);
  for (x = 0; x < pooled_width; ++x)
    tenon_place_samples(r.left + (float)x * r.bin_width, r.bin_width, 0, r.columns, r.columns,
                        width, xs + x * r.columns);
  for (c = 0; c < channels; ++c) {
    const float* plane = image + c * height * width;
    for (y = 0; y < pooled_height; ++y) {
      for (x = 0; x < pooled_width; ++x) {
        const float sum = tenon_pool(start, plane, width, ys + y * r.rows, r.rows,
                                     xs + x * r.columns, r.columns, takes_max);
        *out++ = takes_max ? sum : sum / (float)(count > 0 ? count : 1);
      }
    }
  }
}

static void tenon_pool_many(const float* image, int64_t channels, int64_t height, int64_t width,
                            tenon_region r, int64_t pooled_height, int64_t pooled_width,
                            int64_t takes_max, float* out) {
  tenon_sample ys[1], xs[TENON_MOST_SAMPLES];
  const int64_t count = r.rows * r.columns;
  int64_t c, y, x, i, j;
  for (c = 0; c < channels; ++c) {
    const float* plane = image + c * height * width;
    for (y = 0; y < pooled_height; ++y) {
      for (x = 0; x < pooled_width; ++x) {
        float sum = takes_max && count > 0 ? -INFINITY : 0.0F;
        for (i = 0; i < r.rows; ++i) {
          tenon_place_samples(r.top + (float)y * r.bin_height, r.bin_height, i, 1, r.rows, height,
                              ys);
          for (j = 0; j < r.columns; j += TENON_MOST_SAMPLES) {
            const int64_t left = r.columns - j, most = TENON_MOST_SAMPLES;
            const int64_t some = left < most ? left : most;
            tenon_place_samples(r.left + (float)x * r.bin_width, r.bin_width, j, some, r.columns,
                                width, xs);
            sum = tenon_pool(sum, plane, width, ys, 1, xs, some, takes_max);
          }
        }
        *out++ = takes_max ? sum : sum / (float)(count > 0 ? count : 1);
      }
    }
  }
}

TENON_LIBRARY void tenon_lib_roi_align(const void* data, const void* rois, void* out,
                                       int64_t images, int64_t channels, int64_t height,
                                       int64_t width, int64_t count, int64_t pooled_height,
                                       int64_t pooled_width, double spatial_scale,
                                       int64_t sample_ratio, int64_t takes_max, int64_t aligned) {
  const float scale = (float)spatial_scale, offset = aligned ? 0.5F : 0.0F;
  int64_t i;
  for (i = 0; i < count; ++i) {
    const float* roi = (const float*)rois + i * 5;
    const float* image =
        (const float*)data + tenon_image_of(roi[0], images) * channels * height * width;
    float* result = (float*)out + i * channels * pooled_height * pooled_width;
    tenon_region r;
    float roi_width, roi_height;
    r.left = roi[1] * scale - offset;
    r.top = roi[2] * scale - offset;
    roi_width = roi[3] * scale - offset - r.left;
    roi_height = roi[4] * scale - offset - r.top;
    if (!aligned) {
      roi_width = tenon_greater(roi_width, 1.0F);
      roi_height = tenon_greater(roi_height, 1.0F);
    }
    r.bin_height = roi_height / (float)pooled_height;
    r.bin_width = roi_width / (float)pooled_width;
    r.rows = tenon_samples(r.bin_height, sample_ratio);
    r.columns = tenon_samples(r.bin_width, sample_ratio);
    if (r.rows <= TENON_MOST_SAMPLES / pooled_height &&
        r.columns <= TENON_MOST_SAMPLES / pooled_width) {
      tenon_pool_few(image, channels, height, width, r, pooled_height, pooled_width, takes_max,
                     result);
    } else {
      tenon_pool_many(image, channels, height, width, r, pooled_height, pooled_width, takes_max,
                      result);
    }
  }
}

/* Of a number of any size: those that are beyond every image stay so. */
static int64_t tenon_round(float x) {
  if (!(x > -1.0e9F)) return -1000000000;
  if (x > 1.0e9F) return 1000000000;
  return (int64_t)(x < 0.0F ? x - 0.5F : x + 0.5F);
}
static int64_t tenon_within(int64_t x, int64_t extent) {
  return x < 0 ? 0 : x < extent ? x : extent;
}
/* Where a bin begins and ends, for sizes that are not negative. */
static int64_t tenon_first(int64_t bin, float size) {
  return (int64_t)((float)bin * size + 0.00001F);
}
static int64_t tenon_end(int64_t bin, float size) {
  const float end = (float)(bin + 1) * size - 0.00001F;
  return end > (float)(int64_t)end ? (int64_t)end + 1 : (int64_t)end;
}

TENON_LIBRARY void tenon_lib_roi_pool(const void* data, const void* rois, void* out, int64_t images,
                                      int64_t channels, int64_t height, int64_t width,
                                      int64_t count, int64_t pooled_height, int64_t pooled_width,
                                      double spatial_scale) {
  const float scale = (float)spatial_scale;
  float* result = (float*)out;
  int64_t r, c, y, x, i, j;
  for (r = 0; r < count; ++r) {
    const float* roi = (const float*)rois + r * 5;
    const int64_t left = tenon_round(roi[1] * scale), top = tenon_round(roi[2] * scale);
    const int64_t across = tenon_round(roi[3] * scale) - left + 1;
    const int64_t down = tenon_round(roi[4] * scale) - top + 1;
    const float bin_height = (float)(down > 1 ? down : 1) / (float)pooled_height;
    const float bin_width = (float)(across > 1 ? across : 1) / (float)pooled_width;
    const int64_t image = tenon_image_of(roi[0], images);
    for (c = 0; c < channels; ++c) {
      const float* plane = (const float*)data + (image * channels + c) * height * width;
      for (y = 0; y < pooled_height; ++y) {
        const int64_t first_row = tenon_within(top + tenon_first(y, bin_height), height);
        const int64_t end_row = tenon_within(top + tenon_end(y, bin_height), height);
        for (x = 0; x < pooled_width; ++x) {
          const int64_t first = tenon_within(left + tenon_first(x, bin_width), width);
          const int64_t end = tenon_within(left + tenon_end(x, bin_width), width);
          float best = first_row < end_row && first < end ? plane[first_row * width + first] : 0.0F;
          for (i = first_row; i < end_row; ++i) {
            for (j = first; j < end; ++j) best = tenon_greater(best, plane[i * width + j]);
          }
          *result++ = best;
        }
      }
    }
  }
}

/* --- sparse matrices */

/* Where row `r` begins, when the one before it does at `least`. */
static int64_t tenon_row_start(const void* starts, int64_t r, int64_t least, int64_t count) {
  const int64_t at = tenon_within(((const int64_t*)starts)[r], count);
  return at > least ? at : least;
}

TENON_LIBRARY void tenon_lib_sparse_rows(const void* indices, const void* starts, void* row,
                                         int64_t rows, int64_t columns, int64_t count) {
  const int64_t* column = (const int64_t*)indices;
  int64_t* result = (int64_t*)row;
  int64_t r, k, end = tenon_row_start(starts, 0, 0, count);
  for (k = 0; k < end; ++k) result[k] = -1;
  for (r = 0; r < rows; ++r) {
    end = tenon_row_start(starts, r + 1, end, count);
    for (; k < end; ++k) result[k] = column[k] >= 0 && column[k] < columns ? r : -1;
  }
  for (; k < count; ++k) result[k] = -1;
}

TENON_LIBRARY void tenon_lib_sparse_transpose(const void* indices, const void* row, void* source,
                                              void* starts, int64_t columns, int64_t count) {
  const int64_t *column = (const int64_t*)indices, *of = (const int64_t*)row;
  int64_t *from = (int64_t*)source, *next = (int64_t*)starts, k, c;
  for (c = 0; c <= columns; ++c) next[c] = 0;
  for (k = 0; k < count; ++k) {
    from[k] = -1;
    if (of[k] >= 0) ++next[column[k] + 1];
  }
  for (c = 0; c < columns; ++c) next[c + 1] += next[c];
  for (k = 0; k < count; ++k) {
    if (of[k] >= 0) from[next[column[k]]++] = k;
  }
  /* Each column has moved on to its end, which is where the next one begins. */
  for (c = columns; c > 0; --c) next[c] = next[c - 1];
  next[0] = 0;
}

/* WIDTH columns of a block row: their sums stay in registers. */
#define TENON_SPARSE_SUMS(NAME, TYPE, WIDTH)                                                     \
  static void NAME(const TYPE* data, const int64_t* indices, int64_t begin, int64_t end,         \
                   int64_t block_rows, int64_t block_columns, int64_t blocks, const TYPE* dense, \
                   TYPE* out, int64_t columns) {                                                 \
    int64_t i, k, j;                                                                             \
    int c;                                                                                       \
    for (i = 0; i < block_rows; ++i) {                                                           \
      TYPE sums[WIDTH];                                                                          \
      for (c = 0; c < WIDTH; ++c) sums[c] = 0;                                                   \
      for (k = begin; k < end; ++k) {                                                            \
        const TYPE* block = data + (k * block_rows + i) * block_columns;                         \
        const TYPE* from;                                                                        \
        if (indices[k] < 0 || indices[k] >= blocks) continue;                                    \
        from = dense + indices[k] * block_columns * columns;                                     \
        for (j = 0; j < block_columns; ++j, from += columns) {                                   \
          for (c = 0; c < WIDTH; ++c) sums[c] += block[j] * from[c];                             \
        }                                                                                        \
      }                                                                                          \
      for (c = 0; c < WIDTH; ++c) out[i * columns + c] = sums[c];                                \
    }                                                                                            \
  }
#define TENON_SPARSE_MULTIPLY(NAME, TYPE)                                                         \
  TENON_SPARSE_SUMS(NAME##_32, TYPE, 32)                                                          \
  TENON_SPARSE_SUMS(NAME##_8, TYPE, 8)                                                            \
  TENON_SPARSE_SUMS(NAME##_1, TYPE, 1)                                                            \
  static void NAME(const TYPE* data, const int64_t* indices, const void* starts,                  \
                   const TYPE* dense, TYPE* out, int64_t rows, int64_t count, int64_t block_rows, \
                   int64_t block_columns, int64_t depth, int64_t columns) {                       \
    const int64_t blocks = depth / block_columns;                                                 \
    int64_t first = 0, width, r;                                                                  \
    for (; first < columns; first += width) {                                                     \
      int64_t begin, end = tenon_row_start(starts, 0, 0, count);                                  \
      width = columns - first >= 32 ? 32 : columns - first >= 8 ? 8 : 1;                          \
      for (r = 0; r < rows; ++r) {                                                                \
        TYPE* to = out + r * block_rows * columns + first;                                        \
        begin = end;                                                                              \
        end = tenon_row_start(starts, r + 1, begin, count);                                       \
        if (width == 32) {                                                                        \
          NAME##_32(data, indices, begin, end, block_rows, block_columns, blocks, dense + first,  \
                    to, columns);                                                                 \
        } else if (width == 8) {                                                                  \
          NAME##_8(data, indices, begin, end, block_rows, block_columns, blocks, dense + first,   \
                   to, columns);                                                                  \
        } else {                                                                                  \
          NAME##_1(data, indices, begin, end, block_rows, block_columns, blocks, dense + first,   \
                   to, columns);                                                                  \
        }                                                                                         \
      }                                                                                           \
    }                                                                                             \
  }
/* Integers wrap, which only those without a sign may. */
TENON_SPARSE_MULTIPLY(tenon_sparse_f32, float)
TENON_SPARSE_MULTIPLY(tenon_sparse_f64, double)
TENON_SPARSE_MULTIPLY(tenon_sparse_i32, uint32_t)
TENON_SPARSE_MULTIPLY(tenon_sparse_i64, uint64_t)
#undef TENON_SPARSE_MULTIPLY
#undef TENON_SPARSE_SUMS

TENON_LIBRARY void tenon_lib_sparse_multiply(const void* data, const void* indices,
                                             const void* starts, const void* dense, void* out,
                                             int64_t batch, int64_t rows, int64_t count,
                                             int64_t block_rows, int64_t block_columns,
                                             int64_t depth, int64_t columns, int64_t type) {
  const int64_t* at = (const int64_t*)indices;
  int64_t b;
  for (b = 0; b < batch; ++b) {
    const int64_t from = b * depth * columns, to = b * rows * block_rows * columns;
    if (type == 0) {
      tenon_sparse_f32((const float*)data, at, starts, (const float*)dense + from, (float*)out + to,
                       rows, count, block_rows, block_columns, depth, columns);
    } else if (type == 1) {
      tenon_sparse_f64((const double*)data, at, starts, (const double*)dense + from,
                       (double*)out + to, rows, count, block_rows, block_columns, depth, columns);
    } else if (type == 2) {
      tenon_sparse_i32((const uint32_t*)data, at, starts, (const uint32_t*)dense + from,
                       (uint32_t*)out + to, rows, count, block_rows, block_columns, depth, columns);
    } else {
      tenon_sparse_i64((const uint64_t*)data, at, starts, (const uint64_t*)dense + from,
                       (uint64_t*)out + to, rows, count, block_rows, block_columns, depth, columns);
    }
  }
}

/* --- suppression */

/* Boxes by corners in order, in `room` places for each number. */
typedef struct {
  float *y1, *x1, *y2, *x2, *area;
} tenon_boxes;

static tenon_boxes tenon_boxes_in(void* memory, int64_t room) {
  tenon_boxes b;
  b.y1 = (float*)memory;
  b.x1 = b.y1 + room;
  b.y2 = b.x1 + room;
  b.x2 = b.y2 + room;
  b.area = b.x2 + room;
  return b;
}

static void tenon_put_box(tenon_boxes b, int64_t at, const float* box) {
  b.y1[at] = box[0] < box[2] ? box[0] : box[2];
  b.y2[at] = box[0] < box[2] ? box[2] : box[0];
  b.x1[at] = box[1] < box[3] ? box[1] : box[3];
  b.x2[at] = box[1] < box[3] ? box[3] : box[1];
  b.area[at] = (b.y2[at] - b.y1[at]) * (b.x2[at] - b.x1[at]);
}

/* Whether box `at` overlaps one of the first `at` boxes by more than `most`, as a part of their
   union. Blocks without branches become vectors. */
static int tenon_overlaps(tenon_boxes b, int64_t at, float most) {
  const float y1 = b.y1[at], x1 = b.x1[at], y2 = b.y2[at], x2 = b.x2[at], area = b.area[at];
  const int zero_is_more = 0.0F > most; /* boxes that do not meet overlap by 0 */
  int64_t begin, j;
  for (begin = 0; begin < at; begin += 64) {
    const int64_t end = at - begin < 64 ? at : begin + 64;
    int any = 0;
    for (j = begin; j < end; ++j) {
      const float height = (y2 < b.y2[j] ? y2 : b.y2[j]) - (y1 > b.y1[j] ? y1 : b.y1[j]);
      const float width = (x2 < b.x2[j] ? x2 : b.x2[j]) - (x1 > b.x1[j] ? x1 : b.x1[j]);
      const float both = height * width, part = both / (area + b.area[j] - both);
      const int meet = (height > 0.0F) & (width > 0.0F) & (area > 0.0F) & (b.area[j] > 0.0F);
      any |= (meet & (part > most)) | ((meet ^ 1) & zero_is_more);
    }
    if (any) return 1;
  }
  return 0;
}

/* Indices of the scores above the threshold in falling order, at the start of `order`, after which
   there is room for three times as many. */
static int64_t tenon_candidates(const float* scores, float threshold, int64_t spatial,
                                int64_t* order) {
  uint64_t* ranks = (uint64_t*)(order + spatial);
  int64_t count = 0, i;
  for (i = 0; i < spatial; ++i) {
    if (!(scores[i] > threshold)) continue;
    ranks[count] = ~tenon_rank_of_float(scores[i]);
    order[count++] = i;
  }
  tenon_sort_by_rank(ranks, order, ranks + spatial, order + 3 * spatial, count);
  return count;
}

TENON_LIBRARY void tenon_lib_suppress(const void* boxes, const void* scores, const void* most,
                                      const void* overlap, const void* threshold, void* selected,
                                      void* found, void* scratch, int64_t images, int64_t classes,
                                      int64_t spatial) {
  const int64_t limit = *(const int64_t*)most;
  int64_t* next = (int64_t*)selected;
  int64_t* order = (int64_t*)scratch;
  /* In the memory of the sort, which is over then. */
  const tenon_boxes in_order = tenon_boxes_in(order + spatial, spatial);
  int64_t image, class_index, i, total = 0;
  for (image = 0; image < images; ++image) {
    const float* image_boxes = (const float*)boxes + image * spatial * 4;
    for (class_index = 0; class_index < classes; ++class_index) {
      const float* row = (const float*)scores + (image * classes + class_index) * spatial;
      const int64_t count = tenon_candidates(row, *(const float*)threshold, spatial, order);
      int64_t kept = 0;
      for (i = 0; i < count && kept < limit; ++i) {
        tenon_put_box(in_order, kept, image_boxes + order[i] * 4);
        if (tenon_overlaps(in_order, kept, *(const float*)overlap)) continue;
        ++kept;
        *next++ = image;
        *next++ = class_index;
        *next++ = order[i];
        ++total;
      }
    }
  }
  memset(next, 0, (size_t)((images * classes * spatial - total) * 3) * sizeof(int64_t));
  *(int64_t*)found = total;
}
