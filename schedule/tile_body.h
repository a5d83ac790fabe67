// What the author of an intrinsic makes of tiles. Only files inside schedule/ include this header.
#ifndef TENON_SCHEDULE_TILE_BODY_H_
#define TENON_SCHEDULE_TILE_BODY_H_

#include <string_view>
#include <vector>

#include "tenon/loop/stmt.h"
#include "tenon/te/tensor_intrinsic.h"

namespace tenon::schedule {

// Runs one of the intrinsic's bodies, which `part` names ("body"). Throws InvalidArgument, naming
// both, for a body that throws, gives no statement, uses a variable or memory that is not there, or
// stores to anything except its outputs.
loop::Stmt RunTileBody(const te::TensorIntrinsicNode& intrinsic, std::string_view part,
                       const te::TileBody& body, const std::vector<te::Tile>& inputs,
                       const std::vector<te::Tile>& outputs);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_TILE_BODY_H_
