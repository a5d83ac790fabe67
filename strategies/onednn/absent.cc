// Takes the place of all other files of this folder where Tenon is built with -DTENON_ONEDNN=OFF.
// No operator has an implementation of oneDNN then.
#include "tenon/strategies/onednn/adapter.h"
#include "tenon/strategies/onednn/strategy.h"

namespace tenon::strategies::onednn {

void AttachStrategies(ops::OpRegistry&) {}

bool IsPresent() { return false; }

std::string LibraryVersion() { return "absent"; }

}  // namespace tenon::strategies::onednn
