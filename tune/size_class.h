// Which records of a kernel of variable extents are about the same sizes.
//
// Extents are of one class where they lie between the same powers of two. A race over a range of
// extents has the classes of its least and its greatest.
//
//   SizeClassOf("d0=5..100, d1=64") == SizeClassOf("d0=4..127, d1=80")
#ifndef TENON_TUNE_SIZE_CLASS_H_
#define TENON_TUNE_SIZE_CLASS_H_

#include <string>

namespace tenon::tune {

// Of the extents of a record (Record::shapes): "d0=3..7, d1=7", the numbers of bits. What is no
// number stays itself.
std::string SizeClassOf(const std::string& shapes);

}  // namespace tenon::tune

#endif  // TENON_TUNE_SIZE_CLASS_H_
