#include "tenon/benchmarks/fusion_snippets.h"

namespace tenon::benchmarks {
namespace {

const std::vector<Snippet> kSnippets = {
    {"chain of eight", R"(def @main(%x: Tensor[(1024, 1024), float32]) {
  %0 = add(%x, 1f); %1 = multiply(%0, 0.5f); %2 = nn.relu(%1); %3 = subtract(%2, 0.25f);
  %4 = maximum(%3, 0f); %5 = multiply(%4, %4); %6 = add(%5, 0.125f); negative(%6)
})"},
    {"diamond", R"(def @main(%x: Tensor[(1024, 1024), float32]) {
  %0 = add(%x, 1f); %1 = nn.relu(%0); %2 = multiply(%0, 0.5f); add(%1, %2)
})"},
    {"gelu by erf", R"(def @main(%x: Tensor[(512, 3072), float32]) {
  %0 = multiply(%x, 0.70710678f); %1 = erf(%0); %2 = add(%1, 1f); %3 = multiply(%x, %2);
  multiply(%3, 0.5f)
})"},
    {"gelu by tanh", R"(def @main(%x: Tensor[(512, 3072), float32]) {
  %0 = multiply(%x, %x); %1 = multiply(%0, %x); %2 = multiply(%1, 0.044715f); %3 = add(%x, %2);
  %4 = multiply(%3, 0.7978845608f); %5 = tanh(%4); %6 = add(%5, 1f); %7 = multiply(%x, %6);
  multiply(%7, 0.5f)
})"},
    {"swish", R"(def @main(%x: Tensor[(512, 3072), float32]) { multiply(%x, sigmoid(%x)) })"},
    {"softmax written out", R"(def @main(%x: Tensor[(2048, 1000), float32]) {
  %0 = max(%x, axis=[-1], keepdims=True); %1 = exp(subtract(%x, %0));
  %2 = sum(%1, axis=[-1], keepdims=True); divide(%1, %2)
})"},
    {"softmax without kept axes", R"(def @main(%x: Tensor[(2048, 1000), float32]) {
  %0 = max(%x, axis=[-1]); %1 = exp(subtract(%x, expand_dims(%0, axis=1)));
  %2 = sum(%1, axis=[-1]); divide(%1, expand_dims(%2, axis=1))
})"},
    {"log softmax written out", R"(def @main(%x: Tensor[(2048, 1000), float32]) {
  %0 = max(%x, axis=[-1], keepdims=True); %1 = subtract(%x, %0);
  %2 = sum(exp(%1), axis=[-1], keepdims=True); subtract(%1, log(%2))
})"},
    {"log of a sum of exponentials", R"(def @main(%x: Tensor[(2048, 1000), float32]) {
  %0 = max(%x, axis=[-1], keepdims=True);
  %1 = sum(exp(subtract(%x, %0)), axis=[-1], keepdims=True); add(log(%1), %0)
})"},
    {"layer norm written out",
     R"(def @main(%x: Tensor[(2048, 768), float32], %g: Tensor[(768), float32], %b: Tensor[(768), float32]) {
  %0 = mean(%x, axis=[-1], keepdims=True); %1 = subtract(%x, %0);
  %2 = mean(multiply(%1, %1), axis=[-1], keepdims=True); %3 = sqrt(add(%2, 1e-5f));
  add(multiply(divide(%1, %3), %g), %b)
})"},
    {"layer norm of a sum",
     R"(def @main(%x: Tensor[(2048, 768), float32], %y: Tensor[(2048, 768), float32], %g: Tensor[(768), float32], %b: Tensor[(768), float32]) {
  nn.layer_norm(add(%x, %y), %g, %b)
})"},
    {"layer norm of a sum that is kept",
     R"(def @main(%x: Tensor[(2048, 768), float32], %y: Tensor[(2048, 768), float32], %g: Tensor[(768), float32], %b: Tensor[(768), float32]) {
  %0 = add(%x, %y); (nn.layer_norm(%0, %g, %b), %0)
})"},
    {"rms norm", R"(def @main(%x: Tensor[(2048, 768), float32], %g: Tensor[(768), float32]) {
  %0 = mean(multiply(%x, %x), axis=[-1], keepdims=True); %1 = rsqrt(add(%0, 1e-6f));
  multiply(multiply(%x, %1), %g)
})"},
    {"instance norm written out",
     R"(def @main(%x: Tensor[(4, 64, 56, 56), float32], %g: Tensor[(64, 1, 1), float32], %b: Tensor[(64, 1, 1), float32]) {
  %0 = mean(%x, axis=[2, 3], keepdims=True); %1 = subtract(%x, %0);
  %2 = mean(multiply(%1, %1), axis=[2, 3], keepdims=True);
  add(multiply(multiply(%1, rsqrt(add(%2, 1e-5f))), %g), %b)
})"},
    {"group norm written out",
     R"(def @main(%x: Tensor[(4, 64, 56, 56), float32], %g: Tensor[(64, 1, 1), float32], %b: Tensor[(64, 1, 1), float32]) {
  %0 = reshape(%x, newshape=[4, 8, 8, 56, 56]); %1 = mean(%0, axis=[2, 3, 4], keepdims=True);
  %2 = subtract(%0, %1); %3 = mean(multiply(%2, %2), axis=[2, 3, 4], keepdims=True);
  %4 = multiply(%2, rsqrt(add(%3, 1e-5f))); %5 = reshape(%4, newshape=[4, 64, 56, 56]);
  add(multiply(%5, %g), %b)
})"},
    {"variance", R"(def @main(%x: Tensor[(2048, 1000), float32]) {
  %0 = subtract(%x, mean(%x, axis=[-1], keepdims=True)); mean(multiply(%0, %0), axis=[-1])
})"},
    {"mean and variance", R"(def @main(%x: Tensor[(2048, 1000), float32]) {
  %0 = mean(%x, axis=[-1], keepdims=True); %1 = subtract(%x, %0);
  (%0, mean(multiply(%1, %1), axis=[-1], keepdims=True))
})"},
    {"rows less their maximum, which is kept", R"(def @main(%x: Tensor[(2048, 1000), float32]) {
  %0 = max(%x, axis=[-1], keepdims=True); (subtract(%x, %0), %0)
})"},
    {"layer norm beside its mean and deviation",
     R"(def @main(%x: Tensor[(2048, 768), float32], %g: Tensor[(768), float32], %b: Tensor[(768), float32]) {
  %0 = mean(%x, axis=[-1], keepdims=True); %1 = subtract(%x, %0);
  %2 = mean(multiply(%1, %1), axis=[-1], keepdims=True); %3 = rsqrt(add(%2, 1e-5f));
  (add(multiply(multiply(%1, %3), %g), %b), %0, %3)
})"},
    {"argmax of softmax", R"(def @main(%x: Tensor[(2048, 1000), float32]) {
  cast(argmax(nn.softmax(%x), axis=[-1]), dtype="float32")
})"},
    {"normalised rows", R"(def @main(%x: Tensor[(2048, 512), float32]) {
  divide(%x, sqrt(add(sum(multiply(%x, %x), axis=[-1], keepdims=True), 1e-12f)))
})"},
    {"cosine of rows",
     R"(def @main(%x: Tensor[(2048, 512), float32], %y: Tensor[(2048, 512), float32]) {
  %0 = sum(multiply(%x, %y), axis=[-1]); %1 = sum(multiply(%x, %x), axis=[-1]);
  %2 = sum(multiply(%y, %y), axis=[-1]); divide(%0, add(sqrt(multiply(%1, %2)), 1e-8f))
})"},
    {"cross entropy of rows",
     R"(def @main(%x: Tensor[(2048, 1000), float32], %t: Tensor[(2048, 1000), float32]) {
  negative(mean(multiply(nn.log_softmax(%x), %t), axis=[-1]))
})"},
    {"attention score with a mask",
     R"(def @main(%q: Tensor[(12, 256, 64), float32], %k: Tensor[(12, 256, 64), float32], %m: Tensor[(1, 256, 256), float32]) {
  %0 = nn.batch_matmul(%q, %k, transpose_b=True); %1 = add(divide(%0, 8f), %m); nn.softmax(%1)
})"},
    {"dense, bias and softmax",
     R"(def @main(%x: Tensor[(128, 512), float32], %w: Tensor[(1000, 512), float32], %b: Tensor[(1000), float32]) {
  nn.softmax(nn.bias_add(nn.dense(%x, %w), %b))
})"},
    {"convolution, scale, shift, relu",
     R"(def @main(%x: Tensor[(1, 64, 56, 56), float32], %w: Tensor[(64, 64, 3, 3), float32], %s: Tensor[(64, 1, 1), float32], %t: Tensor[(64, 1, 1), float32]) {
  nn.relu(add(multiply(nn.conv2d(%x, %w, padding=[1, 1, 1, 1]), %s), %t))
})"},
    {"convolution and residual",
     R"(def @main(%x: Tensor[(1, 64, 56, 56), float32], %w: Tensor[(64, 64, 3, 3), float32], %b: Tensor[(64), float32]) {
  nn.relu(add(nn.bias_add(nn.conv2d(%x, %w, padding=[1, 1, 1, 1]), %b), %x))
})"},
    {"squeeze and excite",
     R"(def @main(%x: Tensor[(1, 64, 56, 56), float32], %w: Tensor[(16, 64, 1, 1), float32], %v: Tensor[(64, 16, 1, 1), float32]) {
  %0 = mean(%x, axis=[2, 3], keepdims=True); %1 = nn.relu(nn.conv2d(%0, %w));
  multiply(%x, sigmoid(nn.conv2d(%1, %v)))
})"},
    {"pooled means, scaled", R"(def @main(%x: Tensor[(4, 256, 28, 28), float32]) {
  tanh(multiply(mean(nn.relu(%x), axis=[2, 3]), 2f))
})"},
    {"concatenation of activations",
     R"(def @main(%x: Tensor[(1, 64, 56, 56), float32], %y: Tensor[(1, 64, 56, 56), float32]) {
  %0 = (nn.relu(%x), sigmoid(%y)); concatenate(%0, axis=1)
})"},
    {"gated linear unit", R"(def @main(%x: Tensor[(512, 3072), float32]) {
  %0 = split(%x, indices_or_sections=2, axis=1); %1 = %0.0; %2 = %0.1; multiply(%1, sigmoid(%2))
})"},
    {"activation that is kept", R"(def @main(%x: Tensor[(1024, 1024), float32]) {
  %0 = nn.relu(add(%x, 0.5f)); (%0, multiply(%0, 2f))
})"},
};

}  // namespace

const std::vector<Snippet>& FusionSnippets() { return kSnippets; }

}  // namespace tenon::benchmarks
