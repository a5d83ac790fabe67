// A node is two objects in the same place of two lists: one of graph JSON and one of the rest.
#include "tenon/runtime/plan_json.h"

#include <optional>
#include <set>
#include <utility>

#include "tenon/runtime/saved_extents.h"
#include "tenon/support/error.h"
#include "tenon/support/linear_extent.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

using Reader = JsonReader;

// The kinds of nodes as the manifest calls them.
struct KindName {
  NodeKind kind;
  const char* name;
};
constexpr KindName kKindNames[] = {{NodeKind::kInput, "input"},   {NodeKind::kConstant, "constant"},
                                   {NodeKind::kKernel, "kernel"}, {NodeKind::kView, "view"},
                                   {NodeKind::kJoin, "join"},     {NodeKind::kCopy, "copy"}};

Json NodeJson(const Node& node, ExtentTexts* extents) {
  Json json;
  for (const KindName& known : kKindNames) {
    if (known.kind == node.kind) json["kind"] = known.name;
  }
  if (node.kind == NodeKind::kKernel) json["kernel"] = node.kernel;
  if (node.kind == NodeKind::kConstant) json["constant"] = node.constant;
  if (node.kind == NodeKind::kView) {
    // None stands for zeros.
    std::vector<std::size_t> offsets = node.offsets;
    offsets.resize(node.outputs.size(), 0);
    json["offsets"] = offsets;
  }
  if (!node.begins.empty()) json["begins"] = extents->Of(node.begins);
  if (!node.arguments.empty()) json["arguments"] = extents->Of(node.arguments);
  if (!node.outputs.empty() && node.outputs[0].device != Device())
    json["device"] = node.outputs[0].device.ToString();
  if (!node.origins.empty()) json["origins"] = node.origins;
  return json;
}

EntryRef ReadRef(const Reader& json) {
  // The third number is a version.
  return {json[std::size_t{0}].Int(), json[1].Int()};
}

class PlanReader {
 public:
  PlanReader(const Reader& graph, const Reader& manifest)
      : graph_(graph), manifest_(manifest), extents_(manifest["variables"]) {}

  Plan Read() {
    const Reader nodes = graph_["nodes"], kinds = manifest_["nodes"];
    if (kinds.size() != nodes.size())
      manifest_.Refuse(
          StrCat("has ", kinds.size(), " nodes and ", graph_.where(), " has ", nodes.size()));
    for (std::size_t n = 0; n < nodes.size(); ++n) ReadNode(n, nodes[n], kinds[n]);
    plan_.heads = graph_["heads"].List(ReadRef);
    plan_.symbols = extents_.symbols();
    RequireExamples();
    plan_.conditions = extents_.conditions();
    plan_.extents = ReadExtents(manifest_["extents"]);
    return std::move(plan_);
  }

 private:
  // What is written of an example is what the inputs say of it.
  void RequireExamples() const {
    const std::set<std::string> shown = ShownVariables(plan_);
    for (const std::string& symbol : plan_.symbols) {
      if (shown.contains(symbol) || extents_.InExample(Dim::Symbol(symbol)) == kExampleOfUnshown)
        continue;
      manifest_["variables"].Refuse(StrCat("has another example of ", symbol, " than ",
                                           kExampleOfUnshown, ", although no input has the extent ",
                                           symbol, " alone"));
    }
  }

  void ReadNode(std::size_t n, const Reader& json, const Reader& kind) {
    Node node{.kind = ReadKind(kind["kind"]),
              .name = json["name"].String(),
              .function_name = {},
              .inputs = json["inputs"].List(ReadRef),
              .outputs = {}};
    if (!IsGiven(node.kind)) {
      node.function_name = json["attrs"]["func_name"].String();
      node.hash = json["attrs"]["hash"].Hex();
    }
    if (node.kind == NodeKind::kKernel) node.kernel = kind["kernel"].Int();
    if (node.kind == NodeKind::kConstant) node.constant = kind["constant"].Int();
    if (node.kind == NodeKind::kView)
      node.offsets = kind["offsets"].List(
          [](const Reader& offset) { return static_cast<std::size_t>(offset.Integer()); });
    const auto dim = [&](const Reader& text) { return extents_.Of(text); };
    if (kind.Has("begins")) node.begins = kind["begins"].List(dim);
    if (kind.Has("arguments")) node.arguments = kind["arguments"].List(dim);
    if (kind.Has("origins"))
      node.origins = kind["origins"].List([](const Reader& origin) { return origin.String(); });
    Device device;
    if (kind.Has("device")) {
      const std::optional<Device> known = Device::Parse(kind["device"].String());
      if (!known) kind["device"].Refuse("is no device");
      device = *known;
    }
    // Rows follow one another, so that the file has as many entries as it makes.
    const Reader rows = graph_["node_row_ptr"];
    const std::int64_t begin = rows[n].Integer();
    const std::int64_t end = rows[n + 1].Integer(begin);
    for (std::int64_t entry = begin; entry < end; ++entry)
      node.outputs.push_back(ReadEntry(static_cast<std::size_t>(entry), device));
    plan_.nodes.push_back(std::move(node));
  }

  Entry ReadEntry(std::size_t entry, const Device& device) const {
    // Each list comes after its tag.
    const Reader attrs = graph_["attrs"];
    Entry read{.dtype = ReadDataType(attrs["dltype"][1][entry]), .device = device};
    const std::vector<Dim> extents =
        attrs["shape"][1][entry].List([&](const Reader& json) { return extents_.Of(json); });
    for (const Dim& extent : extents) {
      read.shape.push_back(extents_.InExample(extent));
      if (!extent.is_static()) read.extents = extents;
    }
    return read;
  }

  static NodeKind ReadKind(const Reader& json) {
    const std::string text = json.String();
    for (const KindName& known : kKindNames) {
      if (text == known.name) return known.kind;
    }
    json.Refuse(StrCat("is ", text, ", which is no kind of node"));
  }

  const Reader& graph_;
  const Reader& manifest_;
  const ExtentReader extents_;
  Plan plan_;
};

}  // namespace

Json ParsedJson(const std::string& text, const char* file) {
  // Anything deeper than these files are is refused before it is built.
  constexpr int kMaxDepth = 16;
  bool is_deep = false;
  Json json = Json::parse(
      text,
      [&](int depth, Json::parse_event_t, const Json&) {
        is_deep = is_deep || depth > kMaxDepth;
        return !is_deep;
      },
      /*allow_exceptions=*/false);
  if (json.is_discarded() || is_deep) throw DataLoss(StrCat(file, " is no JSON text"));
  return json;
}

Json ExtentsJson(const std::vector<RunTimeExtent>& extents) {
  Json json = Json::array();
  for (const RunTimeExtent& extent : extents)
    json.push_back({{"result", extent.result}, {"axis", extent.axis}, {"count", extent.count}});
  return json;
}

std::vector<RunTimeExtent> ReadExtents(const Reader& json) {
  return json.List([](const Reader& extent) {
    return RunTimeExtent{.result = static_cast<std::size_t>(extent["result"].Integer()),
                         .axis = static_cast<std::size_t>(extent["axis"].Integer()),
                         .count = static_cast<std::size_t>(extent["count"].Integer())};
  });
}

std::set<std::string> ShownVariables(const Plan& plan) {
  std::set<std::string> shown;
  for (const Node& node : plan.nodes) {
    if (node.kind != NodeKind::kInput) continue;
    for (const Entry& output : node.outputs) {
      for (const Dim& extent : output.extents) {
        if (const auto linear = AsLinear(extent)) shown.insert(linear->symbol);
      }
    }
  }
  return shown;
}

DataType ReadDataType(const Reader& json) {
  const std::optional<DataType> dtype = DataType::Parse(json.String());
  if (!dtype) json.Refuse("is no type of elements");
  return *dtype;
}

void AddPlanJson(const Plan& plan, Json* rest) {
  (*rest)["extents"] = ExtentsJson(plan.extents);
  ExtentTexts extents(plan);
  (*rest)["nodes"] = Json::array();
  for (const Node& node : plan.nodes) (*rest)["nodes"].push_back(NodeJson(node, &extents));
  (*rest)["variables"] = extents.ToJson();
}

Plan ReadPlan(const Reader& graph, const Reader& rest) { return PlanReader(graph, rest).Read(); }

}  // namespace tenon::runtime
