// Draws a node of each operator that can be imported, mostly a valid one.
#ifndef TENON_VERIFY_DRAW_ONNX_DRAWERS_H_
#define TENON_VERIFY_DRAW_ONNX_DRAWERS_H_

#include <functional>
#include <map>
#include <string>

#include "tenon/verify/draw/onnx_draft.h"

namespace tenon::verify {

using Drawer = std::function<NodeDraft(Draft& draft)>;
// By the operator's name as SupportedOnnxOps gives it: "Relu", "com.microsoft.Gelu".
using DrawerTable = std::map<std::string, Drawer>;

void AddAttentionDrawers(DrawerTable* table);
void AddControlDrawers(DrawerTable* table);
void AddElementwiseDrawers(DrawerTable* table);
void AddIndexDrawers(DrawerTable* table);
void AddListDrawers(DrawerTable* table);
void AddMicrosoftDrawers(DrawerTable* table);
void AddNnDrawers(DrawerTable* table);
void AddQuantizeDrawers(DrawerTable* table);
void AddSampleDrawers(DrawerTable* table);
void AddSequenceDrawers(DrawerTable* table);
void AddShapeDrawers(DrawerTable* table);

// All of them.
const DrawerTable& Drawers();

// The operators that make a sequence or an optional value, each with one that reads a tensor of it.
const std::map<std::string, std::string>& ReadersOfLists();

// Draws strides, dilations, and pads or auto_pad of a window over this many axes.
void DrawWindow(Draft& draft, std::int64_t dims, NodeDraft* node);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_ONNX_DRAWERS_H_
