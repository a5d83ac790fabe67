// Files that are there whole or not at all.
//
// The bytes go to a new file beside the one that is asked for, which takes its place at the end. A
// device or a pipe is written as it is. Any number of threads and processes may write one path: the
// last one's bytes stay.
//
//   WriteFile("y.npy", {header, elements});
#ifndef TENON_SUPPORT_WRITE_FILE_H_
#define TENON_SUPPORT_WRITE_FILE_H_

#include <initializer_list>
#include <string>
#include <string_view>

namespace tenon {

// Takes the place of what is there; where that is a link, of the file it leads to. Throws NotFound
// with the system's reason when the file cannot be written; what was there then stays.
void WriteFile(const std::string& path, std::initializer_list<std::string_view> parts);

// Throws NotFound where WriteFile is bound to fail: a folder that is not there or may not be
// written, or a folder of that name. For errors before long work.
void RequireWritable(const std::string& path);

}  // namespace tenon

#endif  // TENON_SUPPORT_WRITE_FILE_H_
