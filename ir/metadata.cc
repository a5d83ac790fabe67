#include "tenon/ir/metadata.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "absl/strings/escaping.h"
#include "nlohmann/json.hpp"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::ir {
namespace {

using nlohmann::json;

constexpr const char* kDevices = "VirtualDevice";
constexpr int kAnyDevice = -1;             // the device kind of an unconstrained virtual device
constexpr const char* kFormOf = "0.18.0";  // the version whose form the section has
constexpr std::uint64_t kMagic = 0xDD5E40F096B4A13F;
constexpr std::int32_t kCpu = 1;  // DLPack's number

// --- elements of constants

template <typename T>
void Append(T value, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// DLPack's element types: a bool is an unsigned integer of one bit.
std::string ArrayBytes(const NDArray& array) {
  const DataType t = array.dtype();
  std::string bytes;
  Append(kMagic, &bytes);
  Append(std::uint64_t{0}, &bytes);
  Append(kCpu, &bytes);
  Append(std::int32_t{0}, &bytes);
  Append(static_cast<std::int32_t>(array.shape().size()), &bytes);
  Append(static_cast<std::uint8_t>(t.is_bool() ? TypeCode::kUInt : t.code()), &bytes);
  Append(static_cast<std::uint8_t>(t.is_bool() ? 1 : t.bits()), &bytes);
  Append(std::uint16_t{1}, &bytes);
  for (const std::int64_t extent : array.shape()) Append(extent, &bytes);
  Append(static_cast<std::int64_t>(array.bytes()), &bytes);
  bytes.append(static_cast<const char*>(array.raw()), array.bytes());
  return bytes;
}

// Reads values from the front of a byte string.
class Reader {
 public:
  Reader(std::string_view bytes, const std::string& what) : bytes_(bytes), what_(what) {}

  template <typename T>
  T Take() {
    if (bytes_.size() < sizeof(T)) throw DataLoss(StrCat(what_, " ends within its header"));
    T value;
    bytes_.copy(reinterpret_cast<char*>(&value), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return value;
  }
  std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
  const std::string& what_;
};

DataType ElementType(int code, int bits, int lanes, const std::string& what) {
  if (lanes == 1) {
    if (code == static_cast<int>(TypeCode::kUInt) && bits == 1) return Bool;
    for (const DataType t : {Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16,
                             Float32, Float64, BFloat16, Bool}) {
      if (code == static_cast<int>(t.code()) && bits == t.bits()) return t;
    }
  }
  throw InvalidArgument(StrCat(what, " has an element type that is not known (code ", code, ", ",
                               bits, " bits, ", lanes, " lanes)"));
}

NDArray ReadArray(const std::string& text, const std::string& what) {
  std::string bytes;
  if (!absl::Base64Unescape(absl::string_view(text.data(), text.size()), &bytes))
    throw DataLoss(StrCat("the data of ", what, " is not base64"));
  Reader reader(bytes, what);
  if (reader.Take<std::uint64_t>() != kMagic)
    throw DataLoss(StrCat(what, " does not begin with the mark of an array"));
  reader.Take<std::uint64_t>();  // reserved
  reader.Take<std::uint64_t>();  // the device: data in a text is on the host
  const auto rank = reader.Take<std::int32_t>();
  if (rank < 0 || rank > kMaxAxes)  // before a damaged header makes us read that many extents
    throw DataLoss(StrCat(what, " has rank ", rank, "; ranks are 0 to ", kMaxAxes));
  const int code = reader.Take<std::uint8_t>();
  const int bits = reader.Take<std::uint8_t>();
  const DataType dtype = ElementType(code, bits, reader.Take<std::uint16_t>(), what);
  Shape shape;
  for (int axis = 0; axis < rank; ++axis) shape.push_back(reader.Take<std::int64_t>());
  reader.Take<std::int64_t>();  // the number of bytes, which shape and type give, too
  const std::size_t wanted = NumBytes(shape, dtype);
  if (reader.rest().size() != wanted)
    throw DataLoss(StrCat(what, " has ", reader.rest().size(), " bytes; its type ",
                          dtype.ToString(), " ", ShapeToString(shape), " needs ", wanted));
  NDArray array = NDArray::Empty(shape, dtype);
  if (wanted > 0) std::memcpy(array.raw(), reader.rest().data(), wanted);
  NormalizeBools(array);
  return array;
}

// --- nodes

// JSON numbers may be signed or real; without this check they would be converted silently.
std::size_t IndexOf(const json& number) {
  if (!number.is_number_unsigned())
    throw InvalidArgument(StrCat("the metadata section has ",
                                 number.dump(-1, ' ', false, json::error_handler_t::replace),
                                 " for the index of a node"));
  return number.get<std::size_t>();
}

const json& At(const json& list, std::size_t index, const char* what) {
  if (index >= list.size())
    throw InvalidArgument(
        StrCat("the metadata section refers to ", what, " ", index, " of ", list.size()));
  return list[index];
}

// The arrays by index. Nodes may share one, and each is decoded once.
class Arrays {
 public:
  explicit Arrays(const json& root) : root_(root) {}

  NDArray Of(const json& node, std::size_t number) {
    const auto& text = node.at("attrs").at("data").get_ref<const std::string&>();
    const auto index = ParseNumber<std::size_t>(text);
    if (!index) throw InvalidArgument(StrCat("'", text, "' is not an index of an array"));
    const json& data = At(root_.at("b64ndarrays"), *index, "array");
    const auto [array, is_new] = decoded_.try_emplace(*index);
    if (is_new)
      array->second = ReadArray(data.get_ref<const std::string&>(),
                                StrCat("constant ", number, " of the metadata section"));
    return array->second;
  }

 private:
  const json& root_;
  std::map<std::size_t, NDArray> decoded_;
};

// The device's kind and number as text. The code it runs (target) and the kind of memory have no
// meaning here.
attrs::Value ReadDevice(const json& node) {
  const json& fields = node.at("attrs");
  const auto number = [&](const char* field) {
    const auto& text = fields.at(field).get_ref<const std::string&>();
    const auto value = ParseNumber<int>(text);
    if (!value)
      throw InvalidArgument(StrCat("the ", field, " of a device of the metadata section is '", text,
                                   "', not a number"));
    return *value;
  };
  const int type = number("device_type_int"), index = number("virtual_device_id");
  if (type == kAnyDevice) return attrs::Value(std::string());
  const std::optional<Device> device = Device::FromNumbers(type, std::max(index, 0));
  if (!device)
    throw InvalidArgument(
        StrCat("the metadata section has a device of kind ", type,
               "; known kinds are -1 (any), 1 (cpu), 2 (cuda), 4 (opencl), 7 (vulkan), 8 (metal) "
               "and 10 (rocm)"));
  return attrs::Value(device->ToString());
}

// Boxed numbers and strings are text; immediates have attributes.
std::optional<attrs::Value> ReadValue(const json& node) {
  const std::string kind = node.at("type_key").get<std::string>();
  const std::string text =
      node.contains("repr_str") ? node.at("repr_str").get<std::string>() : std::string();
  if (kind == kDevices) return ReadDevice(node);
  if (kind == "runtime.String") return attrs::Value(text);
  if (kind == "runtime.BoxBool") return attrs::Value(text == "true");
  const bool immediate = kind == "IntImm" || kind == "FloatImm";
  const std::string number = immediate ? node.at("attrs").at("value").get<std::string>() : text;
  if (kind == "runtime.BoxInt" || kind == "IntImm") {
    if (const auto value = ParseNumber<std::int64_t>(number)) return attrs::Value(*value);
  } else if (kind == "runtime.BoxFloat" || kind == "FloatImm") {
    if (const auto value = ParseNumber<double>(number)) return attrs::Value(*value);
  }
  return std::nullopt;
}

Metadata ReadGraph(const json& root, const std::string& kind_of_constants) {
  Metadata metadata;
  Arrays arrays(root);
  const json& nodes = root.at("nodes");
  const json& map = At(nodes, IndexOf(root.at("root")), "node");
  const json none = json::array();
  const json& kinds = map.contains("keys") ? map.at("keys") : none;
  std::size_t num_entries = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto kind = kinds[i].get<std::string>();
    const json& list = At(nodes, IndexOf(At(map.at("data"), i, "entry")), "node");
    const json& entries = list.contains("data") ? list.at("data") : none;
    // Each entry has a node of its own. Lists that several kinds name would let a small text ask
    // for much memory.
    num_entries += entries.size();
    if (num_entries > nodes.size())
      throw InvalidArgument(StrCat("the metadata section lists ", num_entries,
                                   " entries and has only ", nodes.size(), " nodes"));
    for (const json& entry : entries) {
      const json& node = At(nodes, IndexOf(entry), "node");
      if (kind == kind_of_constants) {
        metadata.constants.push_back(arrays.Of(node, metadata.constants.size()));
      } else {
        metadata.values[kind].push_back(ReadValue(node));
      }
    }
  }
  return metadata;
}

}  // namespace

std::string WriteMetadata(const std::vector<NDArray>& constants, const std::vector<Device>& devices,
                          const std::string& kind_of_constants) {
  json nodes =
      json::array({{{"type_key", ""}},
                   {{"type_key", "Map"}, {"keys", json::array()}, {"data", json::array()}}});
  const auto add = [&](json node) {
    nodes.push_back(std::move(node));
    return nodes.size() - 1;
  };
  // The lists come first, each with the numbers of its entries.
  const auto add_list = [&](const std::string& kind) {
    const std::size_t list = add({{"type_key", "Array"}, {"data", json::array()}});
    nodes[1]["keys"].push_back(kind);
    nodes[1]["data"].push_back(list);
    return list;
  };
  const std::size_t of_constants = constants.empty() ? 0 : add_list(kind_of_constants);
  const std::size_t of_devices = devices.empty() ? 0 : add_list(kDevices);
  json arrays = json::array();
  for (std::size_t i = 0; i < constants.size(); ++i) {
    json fields = {{"_checked_type_", "0"}, {"data", StrCat(i)}, {"span", "0"}};
    // Node 0 is null.
    fields[kind_of_constants == kRelaxConstants ? "struct_info_" : "virtual_device_"] = "0";
    const std::size_t entry = add({{"type_key", kind_of_constants}, {"attrs", std::move(fields)}});
    nodes[of_constants]["data"].push_back(entry);
    const std::string bytes = ArrayBytes(constants[i]);
    std::string text;
    absl::Base64Escape(absl::string_view(bytes.data(), bytes.size()), &text);
    arrays.push_back(std::move(text));
  }
  for (const Device& device : devices) {
    // An empty text has no field.
    const std::size_t scope = add({{"type_key", "runtime.String"}});
    const std::size_t entry = add({{"type_key", kDevices},
                                   {"attrs",
                                    {{"device_type_int", StrCat(static_cast<int>(device.type))},
                                     {"memory_scope", StrCat(scope)},
                                     {"target", "0"},
                                     {"virtual_device_id", StrCat(device.index)}}}});
    nodes[of_devices]["data"].push_back(entry);
  }
  return json{{"root", 1},
              {"nodes", std::move(nodes)},
              {"b64ndarrays", std::move(arrays)},
              {"attrs", {{"tvm_version", kFormOf}}}}
      .dump();
}

Metadata ReadMetadata(std::string_view text, const std::string& kind_of_constants) {
  try {
    return ReadGraph(json::parse(text), kind_of_constants);
  } catch (const json::exception& e) {
    throw InvalidArgument(StrCat("the metadata section cannot be read: ", e.what()))
        .AddNote(
            "it must be a graph {root, nodes, b64ndarrays} whose root node is a map from kinds"
            " to arrays of nodes");
  }
}

}  // namespace tenon::ir
