// Layout: magic "\x93NUMPY", two version bytes, a little-endian header length (2 bytes in version
// 1, 4 later), a header that is a Python dictionary literal with the keys descr, fortran_order and
// shape, then the elements. Source: NumPy Enhancement Proposal 1 and numpy.lib.format.
#include "tenon/runtime/npy.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

#include <sys/stat.h>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/support/write_file.h"

namespace tenon::runtime {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct ElementType {
  std::string_view descr;  // without the byte-order character
  DataType dtype;
};
constexpr ElementType kElementTypes[] = {{"b1", Bool},    {"i1", Int8},    {"i2", Int16},
                                         {"i4", Int32},   {"i8", Int64},   {"u1", UInt8},
                                         {"u2", UInt16},  {"u4", UInt32},  {"u8", UInt64},
                                         {"f2", Float16}, {"f4", Float32}, {"f8", Float64}};

struct Header {
  DataType dtype;
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
};

// A cursor over the dictionary literal.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Header Parse() {
    Header header;
    bool has_descr = false, has_order = false, has_shape = false;
    Expect('{');
    while (!TryTake('}')) {
      const std::string key = TakeString();
      Expect(':');
      if (key == "descr") {
        ParseDescr(&header);
        has_descr = true;
      } else if (key == "fortran_order") {
        header.fortran_order = TakeBool();
        has_order = true;
      } else if (key == "shape") {
        header.shape = TakeShape();
        has_shape = true;
      } else {
        throw InvalidArgument(StrCat("the header has the unknown key '", key, "'"));
      }
      TryTake(',');
    }
    if (!has_descr || !has_order || !has_shape) {
      throw InvalidArgument("the header lacks one of the keys descr, fortran_order and shape");
    }
    return header;
  }

 private:
  void SkipSpace() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) {
      ++position_;
    }
  }
  bool TryTake(char wanted) {
    SkipSpace();
    if (position_ >= text_.size() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }
  void Expect(char wanted) {
    if (!TryTake(wanted)) {
      throw InvalidArgument(StrCat("the header is malformed: expected '", std::string(1, wanted),
                                   "' at byte ", position_));
    }
  }
  std::string TakeString() {
    SkipSpace();
    const char quote = position_ < text_.size() ? text_[position_] : '\0';
    if (quote != '\'' && quote != '"') {
      throw InvalidArgument(
          "the header is malformed: expected a string (structured element types are not "
          "supported)");
    }
    const std::size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) throw InvalidArgument("the header has an unclosed string");
    std::string value(text_.substr(position_ + 1, end - position_ - 1));
    position_ = end + 1;
    return value;
  }
  bool TakeBool() {
    SkipSpace();
    for (const auto& [word, value] :
         {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (text_.substr(position_).starts_with(word)) {
        position_ += word.size();
        return value;
      }
    }
    throw InvalidArgument("the header's fortran_order is neither True nor False");
  }
  Shape TakeShape() {
    Shape shape;
    Expect('(');
    while (!TryTake(')')) {
      SkipSpace();
      const std::size_t end = std::min(text_.find_first_of(",) ", position_), text_.size());
      const std::optional<std::int64_t> extent =
          ParseNumber<std::int64_t>(text_.substr(position_, end - position_));
      if (!extent) throw InvalidArgument("the header's shape is not a tuple of integers");
      shape.push_back(*extent);
      position_ = end;
      TryTake(',');
    }
    return shape;
  }
  void ParseDescr(Header* header) {
    const std::string descr = TakeString();
    const std::string_view kind = std::string_view(descr).substr(descr.empty() ? 0 : 1);
    for (const ElementType& type : kElementTypes) {
      if (type.descr == kind && std::string_view("<>|=").find(descr[0]) != std::string_view::npos) {
        header->dtype = type.dtype;
        header->big_endian = descr[0] == '>';
        return;
      }
    }
    throw InvalidArgument(StrCat("the element type '", descr,
                                 "' is not supported; allowed are bool, ",
                                 "int8 to int64, uint8 to uint64, float16, float32 and float64"));
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

void ReadExactly(std::istream& in, void* into, std::size_t bytes, std::string_view what) {
  in.read(static_cast<char*>(into), static_cast<std::streamsize>(bytes));
  if (static_cast<std::size_t>(in.gcount()) != bytes) {
    throw DataLoss(StrCat("the file ends in its ", what, ": ", bytes, " bytes are expected, ",
                          in.gcount(), " are there"));
  }
}

void SwapBytes(const NDArray& array) {
  const std::size_t width = array.dtype().bytes();
  char* bytes = static_cast<char*>(array.raw());
  for (std::int64_t i = 0; i < array.size(); ++i)
    std::reverse(bytes + i * width, bytes + (i + 1) * width);
}

// Copies elements stored with the first index fastest to row-major order.
NDArray FromFortranOrder(const NDArray& stored, const Shape& shape) {
  NDArray array = NDArray::Empty(shape, stored.dtype());
  const std::size_t width = stored.dtype().bytes();
  const char* from = static_cast<const char*>(stored.raw());
  char* to = static_cast<char*>(array.raw());
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) offset = offset * shape[d] + index[d];
    std::memcpy(to + offset * width, from + i * width, width);
    for (std::size_t d = 0; d < shape.size() && ++index[d] == shape[d]; ++d) index[d] = 0;
  }
  return array;
}

// How far the elements reach is compared with the file before memory is taken for them, so the file
// must be one that has a size.
std::uintmax_t SizeOfRegularFile(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0)
    throw NotFound(StrCat("the file cannot be opened: ", std::strerror(errno)));
  if (S_ISDIR(status.st_mode)) throw InvalidArgument("this is a folder, not a .npy file");
  if (!S_ISREG(status.st_mode))
    throw InvalidArgument("this is a pipe or a device; arrays are read from files");
  return static_cast<std::uintmax_t>(status.st_size);
}

NDArray Read(const std::string& path) {
  const std::uintmax_t file_bytes = SizeOfRegularFile(path);
  std::ifstream in(path, std::ios::binary);
  if (!in) throw NotFound(StrCat("the file cannot be opened: ", std::strerror(errno)));
  return ReadNpyFrom(in, file_bytes);
}

std::string MakeHeader(const NDArray& array) {
  std::string_view descr;
  for (const ElementType& type : kElementTypes) {
    if (type.dtype == array.dtype()) descr = type.descr;
  }
  if (descr.empty()) {
    throw InvalidArgument(StrCat("NumPy has no element type ", array.dtype().ToString()));
  }
  std::string text =
      StrCat("{'descr': '", array.dtype().bytes() == 1 ? "|" : "<", descr,
             "', 'fortran_order': False, 'shape': ", ShapeToString(array.shape()), ", }");
  // The elements start at a multiple of 64 bytes. Ten bytes precede the header, which ends in a
  // newline.
  const std::size_t unpadded = kMagic.size() + 4 + text.size() + 1;
  text.append((64 - unpadded % 64) % 64, ' ');
  text += '\n';
  return text;
}

// All bytes before the elements.
std::string MakePreamble(const NDArray& array) {
  const std::string header = MakeHeader(array);
  std::string bytes(kMagic);
  bytes += '\x01';
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header;
}

}  // namespace

NDArray ReadNpyFrom(std::istream& in, std::uintmax_t file_bytes) {
  char start[8];
  ReadExactly(in, start, sizeof(start), "magic string");
  if (std::string_view(start, 6) != kMagic) {
    throw InvalidArgument("this is not a .npy file: it does not start with the NumPy magic string");
  }
  const int major = start[6];
  if (major < 1 || major > 3) {
    throw InvalidArgument(
        StrCat("format version ", major, " is unknown; versions 1 to 3 are supported"));
  }
  std::uint8_t length_bytes[4] = {0, 0, 0, 0};
  ReadExactly(in, length_bytes, major == 1 ? 2 : 4, "header length");
  const std::uint32_t length = length_bytes[0] | length_bytes[1] << 8 | length_bytes[2] << 16 |
                               static_cast<std::uint32_t>(length_bytes[3]) << 24;
  if (length > file_bytes) throw DataLoss("the file ends in its header");
  std::string text(length, '\0');
  ReadExactly(in, text.data(), length, "header");
  const Header header = HeaderParser(text).Parse();
  // The shape is compared with the file before memory is allocated: a broken header must not cause
  // an unbounded allocation.
  const auto wanted = static_cast<std::uintmax_t>(NumElements(header.shape));
  const auto before = static_cast<std::uintmax_t>(in.tellg());
  const std::uintmax_t present = file_bytes - std::min(before, file_bytes);
  if (wanted > present / header.dtype.bytes()) {
    throw DataLoss(StrCat("the file ends in its elements: shape ", ShapeToString(header.shape),
                          " of ", header.dtype.ToString(), " needs more than the ", present,
                          " bytes there"));
  }
  NDArray array = NDArray::Empty(header.shape, header.dtype);
  ReadExactly(in, array.raw(), array.bytes(), "elements");
  if (header.big_endian) SwapBytes(array);
  NormalizeBools(array);
  return header.fortran_order ? FromFortranOrder(array, header.shape) : array;
}

absl::StatusOr<NDArray> ReadNpy(const std::string& path) {
  return CatchErrors([&] {
    try {
      return Read(path);
    } catch (Error& error) {
      throw error.At({.source = path});
    }
  });
}

absl::Status WriteNpy(const std::string& path, const NDArray& array) {
  return CatchErrors([&] {
    std::string preamble;
    try {
      if (!array.defined()) throw InvalidArgument("there is no array to write");
      preamble = MakePreamble(array);
    } catch (Error& error) {
      throw error.At({.source = path});
    }
    WriteFile(path, {preamble, {static_cast<const char*>(array.raw()), array.bytes()}});
  });
}

}  // namespace tenon::runtime
