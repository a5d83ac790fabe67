// How each of Tenon's operators is expressed in ONNX: the table that the files export_*.cc fill,
// one file per family.
#ifndef TENON_ONNX_WRITE_EXPORTERS_H_
#define TENON_ONNX_WRITE_EXPORTERS_H_

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/onnx/write/graph_writer.h"

namespace tenon::onnx_export {

using Names = std::vector<std::string>;

// A typed call of an operator that is being written into a graph.
class CallToWrite {
 public:
  // `inputs` gives for each argument the name of its value, or the names of a tuple's fields.
  // `only_reader` says whether nodes of its first argument make that value for this call alone.
  CallToWrite(const ir::CallNode& call, std::vector<Names> inputs, bool only_reader,
              GraphWriter* graph)
      : graph(*graph), call_(call), inputs_(std::move(inputs)), only_reader_(only_reader) {}

  const std::string& op() const { return call_.op()->name; }
  template <typename T>
  const T& attrs() const {
    return call_.attrs.As<T>();
  }
  std::size_t num_args() const { return call_.args.size(); }
  const ir::Expr& arg(std::size_t i) const { return call_.args[i]; }
  const std::string& input(std::size_t i) const { return inputs_[i].at(0); }
  const Names& fields(std::size_t i) const { return inputs_[i]; }
  // With the fields of tuples in their places.
  Names AllInputs() const;
  std::size_t num_results() const;
  bool only_reader() const { return only_reader_; }

  Shape shape(std::size_t i) const { return ir::StaticShape(arg(i).checked_type(), "an argument"); }
  std::size_t rank(std::size_t i) const { return shape(i).size(); }
  DataType dtype(std::size_t i) const;
  // The shape of the result of a call that gives one tensor.
  Shape result_shape() const { return ir::StaticShape(call_.checked_type, "the result"); }
  DataType result_dtype() const;
  // `axis` of the first argument, counted from 0.
  std::int64_t Axis(std::int64_t axis) const;

  // Throw Unimplemented: "nn.conv2d: " followed by what has no counterpart.
  [[noreturn]] void Refuse(const std::string& what) const;
  void Require(bool condition, const std::string& what) const;

  GraphWriter& graph;

 private:
  const ir::CallNode& call_;
  std::vector<Names> inputs_;
  bool only_reader_;
};

// Returns the name of the call's value, or the names of a tuple's fields. The name of a field that
// ONNX does not have is empty.
using Exporter = std::function<Names(CallToWrite& call)>;
using ExporterTable = std::unordered_map<ir::Expr, Exporter, ir::ExprHash>;  // by callee

void AddConvExporters(ExporterTable* table);
void AddElementwiseExporters(ExporterTable* table);
void AddImageExporters(ExporterTable* table);
void AddNnExporters(ExporterTable* table);
void AddQuantizeExporters(ExporterTable* table);
void AddRecurrentExporters(ExporterTable* table);
void AddReduceExporters(ExporterTable* table);
void AddShapeExporters(ExporterTable* table);

}  // namespace tenon::onnx_export

#endif  // TENON_ONNX_WRITE_EXPORTERS_H_
