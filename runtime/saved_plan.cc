#include "tenon/runtime/saved_plan.h"

#include <optional>
#include <set>
#include <utility>

#include "tenon/runtime/json_reader.h"
#include "tenon/runtime/saved_extents.h"
#include "tenon/runtime/verify_plan.h"
#include "tenon/support/error.h"
#include "tenon/support/hash.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

using Reader = JsonReader;

constexpr std::int64_t kFormat = 2;

// The kinds of nodes as the manifest calls them.
struct KindName {
  NodeKind kind;
  const char* name;
};
constexpr KindName kKindNames[] = {{NodeKind::kInput, "input"},   {NodeKind::kConstant, "constant"},
                                   {NodeKind::kKernel, "kernel"}, {NodeKind::kView, "view"},
                                   {NodeKind::kJoin, "join"},     {NodeKind::kCopy, "copy"}};

Json MarkJson(const FileMark& mark) {
  return {{"bytes", mark.bytes}, {"hash", HashText(mark.hash)}};
}

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

FileMark ReadMark(const Reader& json) {
  return {static_cast<std::size_t>(json["bytes"].Integer()), json["hash"].Hex()};
}

Json Parsed(const std::string& text, const char* file) {
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
          StrCat("has ", kinds.size(), " nodes and ", kGraphFile, " has ", nodes.size()));
    for (std::size_t n = 0; n < nodes.size(); ++n) ReadNode(n, nodes[n], kinds[n]);
    plan_.heads = graph_["heads"].List(ReadRef);
    plan_.symbols = extents_.symbols();
    plan_.conditions = extents_.conditions();
    plan_.extents = manifest_["extents"].List([](const Reader& json) {
      return RunTimeExtent{.result = static_cast<std::size_t>(json["result"].Integer()),
                           .axis = static_cast<std::size_t>(json["axis"].Integer()),
                           .count = static_cast<std::size_t>(json["count"].Integer())};
    });
    return std::move(plan_);
  }

 private:
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
    const Reader rows = graph_["node_row_ptr"];
    const auto begin = static_cast<std::size_t>(rows[n].Integer());
    const auto end = static_cast<std::size_t>(rows[n + 1].Integer());
    for (std::size_t entry = begin; entry < end; ++entry)
      node.outputs.push_back(ReadEntry(entry, device));
    plan_.nodes.push_back(std::move(node));
  }

  Entry ReadEntry(std::size_t entry, const Device& device) const {
    // Each list comes after its tag.
    const Reader attrs = graph_["attrs"];
    const Reader type = attrs["dltype"][1][entry];
    const std::optional<DataType> dtype = DataType::Parse(type.String());
    if (!dtype) type.Refuse("is no type of elements");
    Entry read{.dtype = *dtype, .device = device};
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

// A run reads the values of variables off its inputs.
void RequireShownVariables(const Plan& plan) {
  std::set<std::string> shown;
  for (const Node& node : plan.nodes) {
    if (node.kind != NodeKind::kInput) continue;
    // The plan has not been verified yet.
    for (const Entry& output : node.outputs) {
      for (const Dim& extent : output.extents) {
        if (const auto name = extent.symbol()) shown.insert(*name);
      }
    }
  }
  for (const std::string& symbol : plan.symbols) {
    if (!shown.contains(symbol))
      throw DataLoss(StrCat(kManifestFile, ": no input has the extent ", symbol, " alone"));
  }
}

}  // namespace

FileMark FileMark::Of(std::string_view bytes) { return {bytes.size(), HashBytes(bytes)}; }

SavedTexts ToTexts(const SavedPlan& saved) {
  Json json;
  json["format"] = kFormat;
  json["threads"] = saved.threads;
  SavedTexts texts{.graph = ToGraphJson(saved.plan), .manifest = {}};
  json["files"] = {{kGraphFile, MarkJson(FileMark::Of(texts.graph))},
                   {kParamsFile, MarkJson(saved.params)},
                   {kKernelsFile, MarkJson(saved.kernels_file)}};
  json["kernels"] = saved.kernels;
  json["constants_at"] = saved.constants_at;
  json["results"] = saved.result_names;
  json["extents"] = Json::array();
  for (const RunTimeExtent& extent : saved.plan.extents)
    json["extents"].push_back(
        {{"result", extent.result}, {"axis", extent.axis}, {"count", extent.count}});
  ExtentTexts extents(saved.plan);
  json["nodes"] = Json::array();
  for (const Node& node : saved.plan.nodes) json["nodes"].push_back(NodeJson(node, &extents));
  json["variables"] = extents.ToJson();
  texts.manifest = json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
  return texts;
}

SavedPlan ParseSavedPlan(const SavedTexts& texts) {
  const Json manifest_json = Parsed(texts.manifest, kManifestFile);
  const Reader manifest(manifest_json, kManifestFile);
  if (const std::int64_t format = manifest["format"].Integer(); format != kFormat)
    throw Unimplemented(StrCat(kManifestFile, " has format ", format,
                               "; this version of Tenon reads format ", kFormat));
  const Reader files = manifest["files"];
  if (ReadMark(files[kGraphFile]) != FileMark::Of(texts.graph))
    throw DataLoss(StrCat(kGraphFile, " is not the file that was saved"));
  const Json graph_json = Parsed(texts.graph, kGraphFile);
  const Reader graph(graph_json, kGraphFile);
  const auto string = [](const Reader& json) { return json.String(); };
  SavedPlan saved{.plan = PlanReader(graph, manifest).Read(),
                  .kernels = manifest["kernels"].List(string),
                  .constants_at = manifest["constants_at"].List(
                      [](const Reader& at) { return static_cast<std::size_t>(at.Integer()); }),
                  .result_names = manifest["results"].List(string),
                  .threads = manifest["threads"].Int(),
                  .params = ReadMark(files[kParamsFile]),
                  .kernels_file = ReadMark(files[kKernelsFile])};
  RequireShownVariables(saved.plan);
  VerifyPlan(saved.plan, saved.kernels.size(), saved.constants_at.size());
  for (const Node& node : saved.plan.nodes) {
    if (node.kind != NodeKind::kConstant) continue;
    const std::size_t at = saved.constants_at[static_cast<std::size_t>(node.constant)];
    if (at > saved.params.bytes || node.outputs[0].bytes() > saved.params.bytes - at)
      throw DataLoss(StrCat(kManifestFile, ": the constant ", node.name, " ends after ",
                            kParamsFile, ", which has ", saved.params.bytes, " bytes"));
    if (at % node.outputs[0].dtype.bytes() != 0)
      throw DataLoss(StrCat(kManifestFile, ": the constant ", node.name,
                            " begins inside an element of ", kParamsFile));
  }
  AssignStorage(&saved.plan);
  return saved;
}

}  // namespace tenon::runtime
