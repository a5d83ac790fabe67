// The page of tenon tune: HTML with its style, its script and its data inside.
#ifndef TENON_TOOLS_TUNE_PAGE_H_
#define TENON_TOOLS_TUNE_PAGE_H_

#include <string>
#include <vector>

#include "tenon/tune/tune.h"

namespace tenon::tools {

// One report for each kind of machine.
std::string TunePage(const std::string& model, const std::vector<tune::TuneReport>& reports);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_TUNE_PAGE_H_
