#include "tenon/onnx/register_onnx.h"

#include <map>
#include <utility>

#include "tenon/onnx/export.h"
#include "tenon/onnx/user_conversions.h"
#include "tenon/ops/author_code.h"
#include "tenon/ops/registry.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

using ops::AuthorSite;
using ops::RunAuthorCode;

struct Conversions {
  std::map<std::pair<std::string, std::string>, onnx_import::Converter> converters;
  std::map<std::string, OnnxExporter> exporters;

  static Conversions& Global() {
    static auto& conversions = *new Conversions;
    return conversions;
  }
};

OnnxNode ReadNode(onnx_import::Node& node) {
  return {.opset = node.opset(),
          .inputs = node.inputs(),
          .attributes = node.AllAttributes(),
          .num_outputs = node.num_outputs()};
}

}  // namespace

bool RegisterOnnxConverter(const std::string& domain, const std::string& type,
                           OnnxConverter converter, std::source_location where,
                           std::uint64_t headers) {
  const AuthorSite site{StrCat("the ONNX converter of ", domain, domain.empty() ? "" : ".", type),
                        where};
  if (!ops::Admits(site, headers)) return false;
  const auto refuse = [&](const char* message) {
    ops::Refuse(site, message);
    return false;
  };
  if (type.empty()) return refuse("it needs the type of a node");
  if (converter == nullptr) return refuse("it needs a function that converts");
  if (onnx_import::FindConverter(domain, type) != nullptr)
    return refuse("nodes of that domain and type have a converter already");
  Conversions::Global().converters[{domain, type}] =
      [site, converter = std::move(converter)](onnx_import::Node& node) {
        return RunAuthorCode(site, "the function", [&] {
          std::vector<ir::Expr> outputs = converter(ReadNode(node));
          for (ir::Expr& output : outputs) {
            if (!output) throw InvalidArgument("an output of the converter is null");
            output = node.Typed(output);
          }
          return outputs;
        });
      };
  return true;
}

bool RegisterOnnxExporter(const std::string& op, OnnxExporter exporter, std::source_location where,
                          std::uint64_t headers) {
  const AuthorSite site{StrCat("the ONNX exporter of ", op), where};
  if (!ops::Admits(site, headers)) return false;
  const auto refuse = [&](const std::string& message) {
    ops::Refuse(site, message);
    return false;
  };
  if (exporter == nullptr) return refuse("it needs a function that gives the node");
  const absl::Status known = CatchErrors([&] { ops::OpRegistry::Global().Get(op); });
  if (!known.ok()) return refuse(std::string(known.message()));
  if (onnx_export::IsExportable(op)) return refuse("the operator can be written as ONNX already");
  Conversions::Global().exporters[op] = [site,
                                         exporter = std::move(exporter)](const ir::CallNode& call) {
    return RunAuthorCode(site, "the function", [&] {
      OnnxNodeToWrite node = exporter(call);
      if (node.type.empty()) throw InvalidArgument("the node that it gives has no type");
      return node;
    });
  };
  return true;
}

const onnx_import::Converter* FindUserConverter(const std::string& domain,
                                                const std::string& type) {
  const auto& converters = Conversions::Global().converters;
  const auto found = converters.find({domain, type});
  return found == converters.end() ? nullptr : &found->second;
}

const OnnxExporter* FindUserExporter(const std::string& op) {
  const auto& exporters = Conversions::Global().exporters;
  const auto found = exporters.find(op);
  return found == exporters.end() ? nullptr : &found->second;
}

}  // namespace tenon
