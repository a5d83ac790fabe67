// Calls of intrinsics and of external functions.
#include <algorithm>

#include "tenon/loop/check_given.h"
#include "tenon/loop/constants.h"
#include "tenon/loop/expr.h"
#include "tenon/loop/make_node.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

bool IsDot(Intrinsic i) { return i == Intrinsic::kDotU8S8 || i == Intrinsic::kDotBF16; }

std::size_t ArgumentCount(Intrinsic i) {
  if (i == Intrinsic::kFma || IsDot(i)) return 3;
  return i == Intrinsic::kPow || i == Intrinsic::kFmod || i == Intrinsic::kAtan2 ? 2 : 1;
}

bool IsPredicate(Intrinsic i) {
  return i == Intrinsic::kIsNan || i == Intrinsic::kIsInf || i == Intrinsic::kIsFinite ||
         IsPrefetch(i);
}

// A dot product within lanes.
Expr DotCall(Intrinsic intrinsic, std::vector<Expr> args) {
  const bool bytes = intrinsic == Intrinsic::kDotU8S8;
  const int lanes = args[0].dtype().lanes(), wide = (bytes ? 4 : 2) * lanes;
  const DataType wanted[] = {(bytes ? Int32 : Float32).WithLanes(lanes),
                             (bytes ? UInt8 : BFloat16).WithLanes(wide),
                             (bytes ? Int8 : BFloat16).WithLanes(wide)};
  for (std::size_t i = 0; i < 3; ++i) {
    if (args[i].dtype() == wanted[i]) continue;
    if (i == 1 && args[i].dtype() == Int32.WithLanes(lanes)) continue;
    throw InvalidArgument(StrCat("argument ", i, " of ", ToString(intrinsic), " is ",
                                 args[i].dtype().ToString(), "; it must be ",
                                 wanted[i].ToString()));
  }
  return MakeNode<CallNode>(wanted[0], intrinsic, std::move(args));
}

}  // namespace

Expr Call(Intrinsic intrinsic, std::vector<Expr> args) {
  if (intrinsic == Intrinsic::kReinterpret)
    throw InvalidArgument("reinterpret needs the type of its result; call Reinterpret instead");
  if (const std::size_t wanted = ArgumentCount(intrinsic); args.size() != wanted) {
    throw InvalidArgument(StrCat(ToString(intrinsic), " takes ", wanted,
                                 wanted == 1 ? " argument; " : " arguments; ", args.size(),
                                 args.size() == 1 ? " is given" : " are given"));
  }
  for (const Expr& arg : args) RequireDefined(arg);
  if (IsDot(intrinsic)) return DotCall(intrinsic, std::move(args));
  const DataType type = args[0].dtype();
  if (IsPrefetch(intrinsic) && args[0].kind() != ExprKind::kLoad)
    throw InvalidArgument(
        StrCat(ToString(intrinsic), " takes an element of a buffer, that is a load"));
  const bool any_type = IsPrefetch(intrinsic) || intrinsic == Intrinsic::kAbs ||
                        intrinsic == Intrinsic::kSign || intrinsic == Intrinsic::kFloor ||
                        intrinsic == Intrinsic::kCeil || intrinsic == Intrinsic::kRound ||
                        intrinsic == Intrinsic::kTrunc || intrinsic == Intrinsic::kNearbyint;
  if (intrinsic == Intrinsic::kOpaque && type.lanes() > 1)
    throw InvalidArgument(StrCat("opaque does not take ", type.ToString(), "; it needs one lane"));
  const bool integers = intrinsic == Intrinsic::kPopcount || intrinsic == Intrinsic::kOpaque;
  if (integers ? !type.is_integral() : (!type.is_float() && !any_type)) {
    throw InvalidArgument(StrCat(ToString(intrinsic), " does not take ", type.ToString(),
                                 "; it needs ", integers ? "an integer" : "a floating type"));
  }
  for (const Expr& arg : args) {
    if (arg.dtype() != type) {
      throw InvalidArgument(StrCat("the arguments of ", ToString(intrinsic), " have the types ",
                                   type.ToString(), " and ", arg.dtype().ToString()));
    }
  }
  return MakeNode<CallNode>(IsPredicate(intrinsic) ? Bool.WithLanes(type.lanes()) : type, intrinsic,
                            std::move(args));
}
Expr Reinterpret(DataType type, const Expr& value) {
  RequireDefined(value);
  const DataType from = value.dtype();
  const DataType to = type.WithLanes(from.lanes());
  if (to == from) return value;
  if (to.bits() != from.bits() || to.is_bool() || from.is_bool()) {
    throw InvalidArgument(StrCat("the bits of ", from.ToString(), " are not those of ",
                                 to.ToString(), "; both must have one width and not be bool"));
  }
  return MakeNode<CallNode>(to, Intrinsic::kReinterpret, std::vector<Expr>{value});
}
Expr WithArguments(const CallNode& call, std::vector<Expr> args) {
  if (call.intrinsic == Intrinsic::kReinterpret) return Reinterpret(call.type.element(), args[0]);
  return Call(call.intrinsic, std::move(args));
}
Expr ExternCall(const ExternFunction& callee, std::vector<Expr> args) {
  if (callee->has_signature && args.size() != callee->parameters.size()) {
    throw InvalidArgument(StrCat("the external function ", callee->symbol, " takes ",
                                 callee->parameters.size(), " arguments; ", args.size(),
                                 args.size() == 1 ? " is given" : " are given"));
  }
  int lanes = 1;
  for (std::size_t i = 0; i < args.size(); ++i) {
    RequireDefined(args[i]);
    lanes = std::max(lanes, args[i].dtype().lanes());
    if (!callee->has_signature) continue;
    const ExternFunctionNode::Parameter& parameter = callee->parameters[i];
    // A constant takes the parameter's type, as in arithmetic.
    if (parameter.type != Handle && !parameter.type.is_bool()) {
      if (const auto constant = ConstantAs(parameter.type, args[i])) args[i] = *constant;
    }
    if (args[i].dtype().element() != parameter.type) {
      throw InvalidArgument(StrCat("argument ", i, " of the external function ", callee->symbol,
                                   " is ", args[i].dtype().ToString(), "; it must be ",
                                   parameter.type.ToString()));
    }
    const auto* address = args[i].As<AddressNode>();
    if (address != nullptr && !parameter.pointee.is_void() &&
        address->buffer->dtype != parameter.pointee) {
      throw InvalidArgument(StrCat("argument ", i, " of the external function ", callee->symbol,
                                   " points to ", address->buffer->dtype.ToString(), " (",
                                   address->buffer->name, "); it must point to ",
                                   parameter.pointee.ToString()));
    }
  }
  for (Expr& arg : args) arg = Broadcast(arg, lanes);
  return MakeNode<ExternCallNode>(callee, lanes, std::move(args));
}
Expr ExternCall(DataType type, std::string symbol, std::vector<Expr> args) {
  return ExternCall(ExternFunction::Untyped(std::move(symbol), type), std::move(args));
}

}  // namespace tenon::loop
