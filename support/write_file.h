// Writes files that are either complete or not there at all.
//
// The bytes go to a new file next to the requested one, which takes its place at the end. A device
// or a pipe is written directly. Any number of threads and processes may write one path: the bytes
// of the last one stay.
//
//   WriteFile("y.npy", {header, elements});
#ifndef TENON_SUPPORT_WRITE_FILE_H_
#define TENON_SUPPORT_WRITE_FILE_H_

#include <initializer_list>
#include <string>
#include <string_view>

namespace tenon {

// Replaces what is there; if that is a link, the file it leads to. Throws NotFound with the
// system's reason when the file cannot be written; the old file then stays.
void WriteFile(const std::string& path, std::initializer_list<std::string_view> parts);

// Throws NotFound where WriteFile is bound to fail: when the folder does not exist or may not be
// written, or when the path is a folder. Meant to report errors before long work.
void RequireWritable(const std::string& path);

}  // namespace tenon

#endif  // TENON_SUPPORT_WRITE_FILE_H_
