// The only file that uses MPI.
//
// A rank that has died must not end the others. So errors are returned, nothing waits for another
// rank, and the end has a limit of time.
#include "tenon/tune/mpi_module.h"

#include <csignal>
#include <list>
#include <string>

#include <mpi.h>
#include <unistd.h>

namespace {

constexpr int kTag = 36;
constexpr unsigned kFinishSeconds = 60;

// Messages that may not have arrived. The list belongs to the library of MPI, which has one state a
// process.
struct Sent {
  std::string bytes;
  MPI_Request request;
};
std::list<Sent>& Outbox() {
  static std::list<Sent> outbox;
  return outbox;
}

void ForgetArrived() {
  Outbox().remove_if([](Sent& sent) {
    int done = 0;
    return MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
  });
}

int Start(int* rank, int* size) {
  if (const int error = MPI_Init(nullptr, nullptr); error != MPI_SUCCESS) return error;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  return MPI_Comm_size(MPI_COMM_WORLD, size);
}

int Send(int to, const char* bytes, int size) {
  ForgetArrived();
  Sent& sent = Outbox().emplace_back(
      Sent{.bytes = std::string(bytes, static_cast<std::size_t>(size)), .request = {}});
  const int error =
      MPI_Isend(sent.bytes.data(), size, MPI_BYTE, to, kTag, MPI_COMM_WORLD, &sent.request);
  if (error != MPI_SUCCESS) Outbox().pop_back();
  return error;
}

int Probe(int* from) {
  ForgetArrived();
  int there = 0, size = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS ||
      there == 0)
    return -1;
  MPI_Get_count(&status, MPI_BYTE, &size);
  *from = status.MPI_SOURCE;
  return size;
}

int Receive(int from, char* bytes, int size) {
  return MPI_Recv(bytes, size, MPI_BYTE, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void Finish() {
  std::signal(SIGALRM, [](int) { _exit(0); });
  alarm(kFinishSeconds);
  MPI_Finalize();
  alarm(0);
}

constexpr TenonMpiModule kModule = {Start, Send, Probe, Receive, Finish};

}  // namespace

extern "C" __attribute__((visibility("default"))) const TenonMpiModule* TenonMpiModule1() {
  return &kModule;
}
