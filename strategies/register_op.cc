#include "tenon/strategies/register_op.h"

#include <algorithm>

#include "tenon/strategies/author/author_rows.h"
#include "tenon/strategies/author/check_compute.h"
#include "tenon/strategies/author/pending_patterns.h"
#include "tenon/strategies/tensor_function.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {
using ops::OpPattern;
using ops::RunAuthorCode;

OpRegistration::OpRegistration(const std::string& name, std::source_location where,
                               std::uint64_t headers)
    : site_{name, where} {
  // The chained setters need something to set.
  op_ = MakeRef<ops::OpDef>(name, where);
  if (!ops::Admits(site_, headers)) return;
  try {
    op_ = Ref<ops::OpDef>(&ops::OpRegistry::Global().Register(name, where).op());
  } catch (const Error& error) {
    ops::OpRegistry::Global().AddStartupError(error.message());
  }
}

void OpRegistration::Refuse(const std::string& message) { ops::Refuse(site_, message); }

OpRegistration& OpRegistration::Describe(std::string text) {
  op_->description = std::move(text);
  return *this;
}
OpRegistration& OpRegistration::Argument(std::string name, std::string type, std::string help) {
  if (name.empty()) Refuse("an argument needs a name");
  if (std::ranges::find(op_->arguments, name, &ops::ArgumentDoc::name) != op_->arguments.end())
    Refuse(StrCat("two arguments are called ", name));
  op_->arguments.push_back({std::move(name), std::move(type), std::move(help)});
  return *this;
}
OpRegistration& OpRegistration::Level(int level) {
  op_->support_level = level;
  return *this;
}
OpRegistration& OpRegistration::AttrsOf(const attrs::Schema& schema, std::uint64_t fingerprint) {
  // The linker and the loader keep one schema for each name of a struct.
  if (schema.fingerprint != fingerprint) {
    Refuse(
        "its attribute struct has the name of another one with other fields; put it into a "
        "namespace of its own");
    return *this;
  }
  op_->schema = &schema;
  return *this;
}
OpRegistration& OpRegistration::TypeRelation(ops::TypeRelation relation, std::string name) {
  if (relation == nullptr) {
    Refuse("its type relation is no function");
    return *this;
  }
  op_->type_relation = relation;
  if (ops::HasKnownConditions(*op_)) KnownConditions();
  op_->type_relation = [site = site_, relation = std::move(relation)](ops::TypeCall& call) {
    RunAuthorCode(site, "its type relation", [&] { relation(call); });
  };
  op_->relation_name = std::move(name);
  return *this;
}
OpRegistration& OpRegistration::KnownConditions() {
  op_->SetColumn(ops::KnownConditions());
  return *this;
}
OpRegistration& OpRegistration::Pattern(OpPattern pattern) {
  const bool is_open = DeclarePattern(*op_);
  if (!is_open && *op_->pattern != pattern)
    Refuse(StrCat("the pattern ", ops::ToString(pattern), " contradicts ",
                  ops::ToString(*op_->pattern), ", which the compute shows"));
  op_->pattern = pattern;
  return *this;
}

OpRegistration& OpRegistration::Variadic() {
  op_->variadic = true;
  return *this;
}
OpRegistration& OpRegistration::Stateful() {
  op_->stateful = true;
  return *this;
}
OpRegistration& OpRegistration::ReshapeOnly() {
  op_->reshape_only = true;
  return *this;
}
OpRegistration& OpRegistration::Layout(
    std::function<ops::LayoutAnswer(const ops::LayoutQuestion&)> infer) {
  if (infer == nullptr) {
    Refuse("its layout rule is no function");
    return *this;
  }
  op_->SetColumn(ops::LayoutInference{
      [site = site_, infer = std::move(infer)](const ops::LayoutQuestion& question) {
        return RunAuthorCode(site, "its layout rule", [&] { return infer(question); });
      }});
  return *this;
}

OpRegistration& OpRegistration::AlterLayout(
    std::function<std::optional<ops::LayoutAlteration>(const ir::CallNode& call)> alter) {
  if (alter == nullptr) {
    Refuse("its change of layouts is no function");
    return *this;
  }
  if (op_->Column<ops::LayoutInference>() == nullptr) {
    Refuse("it has no rule of layouts that would name its axes; call .AlterLayout after .Layout");
    return *this;
  }
  op_->SetColumn(ops::AlterLayout{
      .choose = nullptr,
      .alter = [site = site_, alter = std::move(alter)](const ir::CallNode& call) {
        return RunAuthorCode(site, "its change of layouts", [&] { return alter(call); });
      }});
  return *this;
}

OpRegistration& OpRegistration::LayoutChoice(ops::LayoutChoice choice) {
  if (choice.answer == nullptr) {
    Refuse("its answer to a choice of layouts is no function");
    return *this;
  }
  choice.answer = [site = site_, answer = std::move(choice.answer)](const attrs::Attrs& attrs,
                                                                    const std::string& data,
                                                                    const std::string& kernel) {
    return RunAuthorCode(site, "its answer to a choice of layouts",
                         [&] { return answer(attrs, data, kernel); });
  };
  // Only the built-in convolutions have forms over blocks.
  choice.takes_blocks = false;
  op_->SetColumn(std::move(choice));
  return *this;
}

OpRegistration& OpRegistration::Lower(std::function<ir::Expr(const ops::LoweringCall&)> lower) {
  if (lower == nullptr) {
    Refuse("its lowering is no function");
    return *this;
  }
  op_->SetColumn(
      ops::LoweringRule{[site = site_, lower = std::move(lower)](const ops::LoweringCall& call) {
        return RunAuthorCode(site, "its lowering", [&] { return lower(call); });
      }});
  return *this;
}
OpRegistration& OpRegistration::KeepsPositiveScale() {
  op_->SetColumn(ops::KeepsPositiveScale());
  return *this;
}
OpRegistration& OpRegistration::Channels(
    std::function<std::optional<ops::ChannelAxes>(const ir::CallNode& call)> axes) {
  if (axes == nullptr) {
    Refuse("its rule of channels is no function");
    return *this;
  }
  op_->SetColumn(ops::ChannelRule{[site = site_, axes = std::move(axes)](const ir::CallNode& call) {
    return RunAuthorCode(site, "its rule of channels", [&] { return axes(call); });
  }});
  return *this;
}
OpRegistration& OpRegistration::MixedPrecision(ops::PrecisionRule rule) {
  const bool has_sum = op_->schema != nullptr && op_->schema->Find("out_dtype") != nullptr;
  if (rule == ops::PrecisionRule::kAlways && !has_sum) {
    Refuse("it has no attribute out_dtype, by which mixed precision asks for sums in float32");
    return *this;
  }
  op_->SetColumn(rule);
  return *this;
}

OpRegistration& OpRegistration::SumsHalves(ops::HalfSums sums) {
  op_->SetColumn(sums);
  return *this;
}

void OpRegistration::SetCompute(TeMake make) {
  if (op_->Column<TeCompute>() != nullptr)
    Refuse("it has two computes; give it .Compute or .Elementwise, once");
  op_->SetColumn(TeCompute{[site = site_, make = std::move(make)](const TeCall& call) {
    return RunAuthorCode(site, "its compute", [&] { return make(call); });
  }});
}

OpRegistration& OpRegistration::Compute(
    std::function<std::vector<te::Tensor>(const TeCall& call)> make) {
  if (make == nullptr) {
    Refuse("its compute is no function");
    return *this;
  }
  // The definition lives as long as the process, and its pattern may still be set.
  SetCompute([op = op_.get(), make = std::move(make)](const TeCall& call) {
    std::vector<te::Tensor> results = make(call);
    RequireResults(op->name, call, results);
    RequireInputsAlone(op->name, call, results);
    if (const auto contradiction = ContradictionOf(*op->pattern, call.inputs, results))
      throw InvalidArgument(
          StrCat(op->name, ": ", ContradictionText(*op->pattern, *contradiction)));
    return results;
  });
  AwaitPattern(site_, op_);
  return *this;
}

OpRegistration& OpRegistration::ElementwiseOf(
    std::function<te::Expr(const attrs::Attrs& attrs, const te::Expr& x)> function) {
  if (op_->pattern && *op_->pattern != OpPattern::kElemWise)
    Refuse(StrCat("the pattern ", ops::ToString(*op_->pattern),
                  " contradicts the elementwise compute"));
  op_->pattern = OpPattern::kElemWise;
  op_->SetColumn(ops::IgnoresPlaces());
  SetCompute([function, name = site_.name](const TeCall& call) {
    if (call.inputs.size() != 1)
      throw InvalidArgument(StrCat(name, ": an elementwise compute takes one argument, not ",
                                   call.inputs.size(), "; use .Compute"));
    return std::vector<te::Tensor>{te::Compute(
        call.te_shape(),
        [&](const std::vector<te::Var>& i) {
          return function(call.attrs, call.input(0)[ToExprs(i)]);
        },
        name)};
  });
  return *this;
}

OpRegistration& OpRegistration::Tensors(const std::vector<te::Tensor>& inputs,
                                        const std::vector<te::Tensor>& results) {
  if (op_->Column<TeCompute>() != nullptr || !op_->arguments.empty()) {
    Refuse("it has arguments or a compute already; .Tensors gives both");
    return *this;
  }
  try {
    DefineByTensors(site_, inputs, results, op_.get());
  } catch (const Error& error) {
    Refuse(error.message());
  }
  return *this;
}

OpRegistration& OpRegistration::Form(TeForm form) {
  AddForm(site_, std::move(form), op_.get());
  return *this;
}
OpRegistration& OpRegistration::Schedule(ScheduleFunction schedule) {
  AddSchedule(site_, std::move(schedule), op_.get());
  return *this;
}
OpRegistration& OpRegistration::Implement(Implementation implementation) {
  AddImplementation(site_, std::move(implementation), op_.get());
  return *this;
}

OpExtension::OpExtension(const std::string& name, std::source_location where, std::uint64_t headers)
    : site_{name, where} {
  ops::OpRegistry& registry = ops::OpRegistry::Global();
  if (!ops::Admits(site_, headers)) return;
  try {
    // Built-in operators have their rows already when a user's are added.
    RegisterStrategies(registry);
    op_ = &registry.Definition(name);
  } catch (const Error& error) {
    ops::Refuse(site_, error.message());
  }
}

OpExtension& OpExtension::Form(TeForm form) {
  if (op_ != nullptr) AddForm(site_, std::move(form), op_);
  return *this;
}
OpExtension& OpExtension::Implement(Implementation implementation) {
  if (op_ != nullptr) AddImplementation(site_, std::move(implementation), op_);
  return *this;
}

}  // namespace tenon::strategies
