// The metadata section of a text: the things that it names as meta[kind][number]. The section is a
// JSON graph in the form of the reference system.
//
// The graph is a list of nodes {type_key, attrs, keys, data, repr_str} that name each other by
// index; the root is a map from kinds to arrays. A list beside the nodes (b64ndarrays) holds the
// elements of constants: base64 of a header and the bytes. The header is little-endian: magic and
// reserved (8 bytes each); device type, device and rank (4 each); element type as code, bits and
// lanes (4 together); extents and number of bytes (8 each).
//
//   Metadata data = ReadMetadata(WriteMetadata({constant}));
//   data.constants[0].shape() == constant.shape();
#ifndef TENON_IR_METADATA_H_
#define TENON_IR_METADATA_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/attrs/value.h"
#include "tenon/support/device.h"
#include "tenon/support/ndarray.h"

namespace tenon::ir {

// The kinds of constants in Relay text and in Relax text.
inline constexpr const char* kRelayConstants = "relay.Constant";
inline constexpr const char* kRelaxConstants = "relax.expr.Constant";

struct Metadata {
  std::vector<NDArray> constants;  // of the kind that the reader asks for
  // The entries of every other kind as attribute values: boxed numbers and strings, and for
  // meta[VirtualDevice] the device as text (empty for any device). Nothing for an entry that is
  // none of these.
  std::map<std::string, std::vector<std::optional<attrs::Value>>, std::less<>> values;
};

// `devices` are meta[VirtualDevice].
std::string WriteMetadata(const std::vector<NDArray>& constants,
                          const std::vector<Device>& devices = {},
                          const std::string& kind_of_constants = kRelayConstants);
// Throws InvalidArgument for text that is not such a graph, DataLoss for damaged data of a
// constant.
Metadata ReadMetadata(std::string_view json,
                      const std::string& kind_of_constants = kRelayConstants);

}  // namespace tenon::ir

#endif  // TENON_IR_METADATA_H_
