// Records of races as JSON: an array of objects with the columns of docs/tuning.md and the text of
// the content.
//
//   WriteFile("records.json", {RecordsToJson(records, records.Find().value())});
//   ImportRecords("records.json", &records);
#ifndef TENON_TOOLS_RECORDS_JSON_H_
#define TENON_TOOLS_RECORDS_JSON_H_

#include <string>
#include <vector>

#include "tenon/tune/records.h"

namespace tenon::tools {

// `records` are some of `file`.
std::string RecordsToJson(const tune::Records& file, const std::vector<tune::Record>& records);

// Adds the records of a JSON file. Answers how many it has. Throws InvalidArgument for a file that
// holds something else, naming the record and the column; nothing is added then.
std::int64_t ImportRecords(const std::string& path, tune::Records* records);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_RECORDS_JSON_H_
