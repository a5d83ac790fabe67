// What a module that speaks MPI offers: messages between the processes that mpirun has started.
//
// The program does not link MPI. It loads the module when mpirun has started it, and only then; so
// every other start costs nothing, and a program that was built with MPI runs where there is none.
// Functions that answer an int answer 0, or an error number of MPI. All are for one thread.
#ifndef TENON_TUNE_MPI_MODULE_H_
#define TENON_TUNE_MPI_MODULE_H_

extern "C" {

struct TenonMpiModule {
  int (*start)(int* rank, int* size);
  // Takes a copy, and does not wait until it has arrived.
  int (*send)(int to, const char* bytes, int size);
  // The size of the next message and who sent it; -1: there is none.
  int (*probe)(int* from);
  int (*receive)(int from, char* bytes, int size);
  // Waits for all that are alive, for a minute at most; then it ends the process.
  void (*finish)();
};

// The one function of the module. Another layout of the struct has another name.
const TenonMpiModule* TenonMpiModule1();
}

#endif  // TENON_TUNE_MPI_MODULE_H_
