/* load LIBRARY: loads it and looks whether anything of the process has changed: the environment,
 * signals, how floating-point numbers are computed, threads, the locale, the folder, open files.
 * Gives the number of changes. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xmmintrin.h>

extern char** environ;

enum { kSignals = 64 };

struct State {
  char* environment;
  struct sigaction actions[kSignals + 1];
  sigset_t blocked;
  int rounding;
  int exceptions_that_trap;
  unsigned mxcsr;
  int threads;
  int files;
  char locale[256];
  char folder[4096];
  mode_t mask;
  struct rlimit stack;
};

static int Entries(const char* path) {
  int count = 0;
  DIR* folder = opendir(path);
  if (folder == NULL) return -1;
  for (const struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder))
    count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

static char* Environment(void) {
  size_t size = 1;
  for (char** entry = environ; *entry != NULL; ++entry) size += strlen(*entry) + 1;
  char* text = calloc(size, 1);
  for (char** entry = environ; *entry != NULL; ++entry) {
    strcat(text, *entry);
    strcat(text, "\n");
  }
  return text;
}

static struct State Now(void) {
  struct State state;
  memset(&state, 0, sizeof state);
  state.environment = Environment();
  for (int i = 1; i <= kSignals; ++i) sigaction(i, NULL, &state.actions[i]);
  sigprocmask(SIG_BLOCK, NULL, &state.blocked);
  state.rounding = fegetround();
  state.exceptions_that_trap = fegetexcept();
  /* Without the bits of exceptions that have happened. */
  state.mxcsr = _mm_getcsr() & ~0x3FU;
  state.threads = Entries("/proc/self/task");
  state.files = Entries("/proc/self/fd");
  strncpy(state.locale, setlocale(LC_ALL, NULL), sizeof state.locale - 1);
  if (getcwd(state.folder, sizeof state.folder) == NULL) state.folder[0] = '\0';
  state.mask = umask(0);
  umask(state.mask);
  getrlimit(RLIMIT_STACK, &state.stack);
  return state;
}

static int Compare(const char* what, int equal) {
  if (!equal) fprintf(stderr, "loading the library changes %s\n", what);
  return !equal;
}

int main(int count, char** arguments) {
  if (count != 2) return 99;
  setlocale(LC_ALL, "C");
  const struct State before = Now();
  if (dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 98;
  }
  const struct State after = Now();
  int changes = Compare("the environment", strcmp(before.environment, after.environment) == 0);
  for (int i = 1; i <= kSignals; ++i) {
    char what[64];
    snprintf(what, sizeof what, "what signal %d does", i);
    changes += Compare(what, before.actions[i].sa_handler == after.actions[i].sa_handler &&
                                 before.actions[i].sa_flags == after.actions[i].sa_flags);
  }
  changes += Compare("which signals are blocked",
                     memcmp(&before.blocked, &after.blocked, sizeof before.blocked) == 0);
  changes += Compare("rounding", before.rounding == after.rounding);
  changes += Compare("the exceptions that trap",
                     before.exceptions_that_trap == after.exceptions_that_trap);
  changes += Compare("the mode of SSE", before.mxcsr == after.mxcsr);
  changes += Compare("the number of threads", before.threads == after.threads);
  changes += Compare("the open files", before.files == after.files);
  changes += Compare("the locale", strcmp(before.locale, after.locale) == 0);
  changes += Compare("the folder", strcmp(before.folder, after.folder) == 0);
  changes += Compare("the mask of new files", before.mask == after.mask);
  changes += Compare("the limit of the stack",
                     memcmp(&before.stack, &after.stack, sizeof before.stack) == 0);
  free(before.environment);
  free(after.environment);
  return changes;
}
