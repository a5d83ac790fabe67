// The tables of docs/performance/ that need nothing but Tenon, oneDNN and hand-written loops.
#ifndef TENON_BENCHMARKS_FAMILIES_H_
#define TENON_BENCHMARKS_FAMILIES_H_

#include <vector>

#include "tenon/benchmarks/race.h"

namespace tenon::benchmarks {

void AddBFloats(std::vector<Race>& races);
void AddBytes(std::vector<Race>& races);
void AddChoices(std::vector<Race>& races);
void AddConvolutions(std::vector<Race>& races);
void AddElementwise(std::vector<Race>& races);
void AddFusions(std::vector<Race>& races);
void AddHandSchedules(std::vector<Race>& races);
void AddLayoutChanges(std::vector<Race>& races);
void AddMatmuls(std::vector<Race>& races);
void AddOverheads(std::vector<Race>& races);
void AddReductions(std::vector<Race>& races);
void AddResizes(std::vector<Race>& races);
void AddVectorMath(std::vector<Race>& races);

}  // namespace tenon::benchmarks

#endif  // TENON_BENCHMARKS_FAMILIES_H_
