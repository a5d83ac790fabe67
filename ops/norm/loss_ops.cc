// Losses: how far predictions are from what they should be.
#include "tenon/ops/builtin.h"
#include "tenon/ops/norm/loss_attrs.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;

void NllLoss(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* targets = call.tensor(1);
  const auto* weights = call.tensor(2);
  if (x == nullptr || targets == nullptr || weights == nullptr) return;
  const std::size_t rank = x->shape.size();
  if (rank == 0 || targets->shape.size() + 1 != rank)
    call.Refuse(StrCat("the predictions must have one axis more than the targets, whose rank is ",
                       targets->shape.size()));
  const std::size_t classes = rank == 1 ? 0 : 1;
  for (std::size_t d = 0; d + 1 < rank; ++d) {
    if (call.Differ(targets->shape[d], x->shape[d < classes ? d : d + 1]))
      call.Refuse(StrCat("the targets must have the shape of the predictions without axis ",
                         classes, ", that of the classes"));
  }
  if (weights->shape.size() != 1 || call.Differ(weights->shape[0], x->shape[classes]))
    call.Refuse(
        StrCat("the weights must be a vector of ", x->shape[classes].ToString(), ", one a class"));
  if (!x->dtype.is_float() || weights->dtype != x->dtype)
    call.Refuse(StrCat("predictions and weights must be of one floating type, not ",
                       x->dtype.ToString(), " and ", weights->dtype.ToString()));
  if (!targets->dtype.is_integral())
    call.Refuse(StrCat("the targets must be integers, not ", targets->dtype.ToString()));
  const bool is_list = call.attrs<NLLLossAttrs>().reduction == "none";
  call.LearnResult(ir::TensorType(is_list ? targets->shape : std::vector<Dim>{}, x->dtype));
}

void CrossEntropy(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* targets = call.tensor(1);
  if (x == nullptr || targets == nullptr) return;
  if (x->shape.size() != 2 || call.Differ(x->shape, targets->shape))
    call.Refuse("predictions and targets must have one shape (batch, classes)");
  if (!x->dtype.is_float() || targets->dtype != x->dtype)
    call.Refuse(StrCat("predictions and targets must be of one floating type, not ",
                       x->dtype.ToString(), " and ", targets->dtype.ToString()));
  call.LearnResult(ir::TensorType({}, x->dtype));
}

}  // namespace

void RegisterLossOps(OpRegistry& registry) {
  registry.Register("nn.nll_loss")
      .Describe(
          "the negative log likelihood of targets, times their weights; targets that are not a "
          "class have neither loss nor weight")
      .Argument("predictions", "Tensor", "logarithms of probabilities, classes on axis 1 (0 of 1)")
      .Argument("targets", "Tensor", "which class is right")
      .Argument("weights", "1D Tensor", "of each class")
      .Attrs<NLLLossAttrs>()
      .Level(10)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation(NllLoss, "NLLLoss");
  const auto entropy = [&](const char* name, const char* help, const char* predictions) {
    registry.Register(name)
        .Describe(help)
        .Argument("predictions", "2D Tensor", predictions)
        .Argument("targets", "2D Tensor", "the probabilities that are right")
        .Level(10)
        .Pattern(OpPattern::kOpaque)
        .TypeRelation(CrossEntropy, "CrossEntropy");
  };
  entropy("nn.cross_entropy", "-sum(targets * log(predictions)), by batch", "probabilities");
  entropy("nn.cross_entropy_with_logits", "-sum(targets * predictions), by batch",
          "logarithms of probabilities");
}

}  // namespace tenon::ops
