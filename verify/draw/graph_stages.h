// Adds a random stage to a graph. Only verify/draw/random_graph.cc and verify/draw_*_stages.cc
// include this header.
//
//   AddReduction(draft);
#ifndef TENON_VERIFY_DRAW_GRAPH_STAGES_H_
#define TENON_VERIFY_DRAW_GRAPH_STAGES_H_

#include "tenon/verify/draw/graph_draft.h"

namespace tenon::verify {

void AddElementwise(GraphDraft& draft);
void AddExtern(GraphDraft& draft);
void AddPattern(GraphDraft& draft);
void AddReduction(GraphDraft& draft);
// A reduction, and rows that read it at their own leading indices.
void AddRows(GraphDraft& draft);
// Whether there is an extent for one.
bool AddScan(GraphDraft& draft);
// Sums into computed places, of which the first dimension may be the terms' own.
void AddUpdate(GraphDraft& draft);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_GRAPH_STAGES_H_
