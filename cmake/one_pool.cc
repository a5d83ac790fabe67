// Run by the configure step: whether oneDNN's code runs in the threads of this program's OpenMP.
// Ends with 0 when it does, with 2 when it starts threads of its own, with 3 when it was built for
// no OpenMP.
#include <cstdio>
#include <vector>

#include <dirent.h>
#include <dnnl.h>
#include <omp.h>

namespace {

int RunningThreads() {
  int count = 0;
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return 0;
  while (const dirent* entry = readdir(tasks)) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

}  // namespace

int main() {
  if (DNNL_CPU_THREADING_RUNTIME != DNNL_RUNTIME_OMP) {
    std::printf("DNNL_CPU_THREADING_RUNTIME is %u in dnnl_config.h; OpenMP is %u\n",
                DNNL_CPU_THREADING_RUNTIME, DNNL_RUNTIME_OMP);
    return 3;
  }
  omp_set_dynamic(0);
  omp_set_num_threads(3);
  int team = 0;
#pragma omp parallel
#pragma omp atomic
  ++team;
  const int before = RunningThreads();
  constexpr dnnl_dim_t kSize = 512;
  const std::vector<float> a(kSize * kSize, 1.0F);
  std::vector<float> c(kSize * kSize);
  const dnnl_status_t status = dnnl_sgemm('N', 'N', kSize, kSize, kSize, 1.0F, a.data(), kSize,
                                          a.data(), kSize, 0.0F, c.data(), kSize);
  const int after = RunningThreads();
  std::printf("A team of %d: %d threads before a matrix product of oneDNN, %d after it\n", team,
              before, after);
  if (status != dnnl_success || c[0] != kSize) return 4;
  return after > before ? 2 : 0;
}
