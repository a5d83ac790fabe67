// Records of races as JSON: an array of objects with the columns of docs/tuning.md and the text of
// the content.
//
//   WriteFile("records.json", {RecordsToJson(records, records.Find().value())});
//   absl::Status status = records.Add(RecordsOfJson("records.json"));
#ifndef TENON_TOOLS_RECORDS_JSON_H_
#define TENON_TOOLS_RECORDS_JSON_H_

#include <string>
#include <vector>

#include "tenon/tune/records.h"

namespace tenon::tools {

// `records` are some of `file`.
std::string RecordsToJson(const tune::Records& file, const std::vector<tune::Record>& records);

// The records of a JSON file. Throws InvalidArgument for a file that holds something else, or a
// value that no race gives, naming the record and the column.
std::vector<tune::RecordWithText> RecordsOfJson(const std::string& path);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_RECORDS_JSON_H_
