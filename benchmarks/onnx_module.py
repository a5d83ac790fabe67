"""An ONNX graph as a PyTorch module, operator by operator.

    model = onnx.load("resnet18.onnx")
    module = OnnxModule(model, [x])          # x: an input; later inputs have its shape
    scripted = torch.jit.trace(module, [x])

The operators are those of the models of scripts/bench-models; another one raises UnsupportedError,
and so does a use of one (an attribute, an older meaning) that no such model has.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper
from torch import Tensor


class UnsupportedError(Exception):
    """Names the operator or the use of it that is missing here."""


class Node:
    """An operator's call. Its attributes are read by name; one without a default must be there."""

    def __init__(self, proto: onnx.NodeProto, opset: int):
        self.operator: str = proto.op_type
        self.inputs: list[str] = list(proto.input)
        self.outputs: list[str] = list(proto.output)
        self.opset = opset
        self.attributes = {a.name: onnx.helper.get_attribute_value(a) for a in proto.attribute}

    def get(self, name: str, default: Any = None) -> Any:
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def require(self, holds: bool, what: str) -> None:
        if not holds:
            raise UnsupportedError(f"{self.operator}: {what}")


# Computes a node from its inputs (None: an optional one that is left out); several results are a
# tuple or a list.
Operator = Callable[..., Any]
OPERATORS: dict[str, Operator] = {}


TYPES = {
    onnx.TensorProto.DOUBLE: torch.float64,
    onnx.TensorProto.FLOAT: torch.float32,
    onnx.TensorProto.INT32: torch.int32,
    onnx.TensorProto.INT64: torch.int64,
}


def operator(name: str) -> Callable[[Operator], Operator]:
    def add(function: Operator) -> Operator:
        OPERATORS[name] = function
        return function

    return add


def elementwise(function: Callable[..., Tensor]) -> Operator:
    return lambda node, *inputs: function(*inputs)


OPERATORS.update(
    {
        "Add": elementwise(torch.add),
        "Div": elementwise(torch.div),
        "Erf": elementwise(torch.erf),
        "Identity": elementwise(lambda x: x),
        "Mul": elementwise(torch.mul),
        "Pow": elementwise(lambda x, y: torch.pow(x, y).to(x.dtype)),
        "Relu": elementwise(F.relu),
        "Sigmoid": elementwise(torch.sigmoid),
        "Sqrt": elementwise(torch.sqrt),
        "Sub": elementwise(torch.sub),
        "Tanh": elementwise(torch.tanh),
    }
)


@operator("Constant")
def constant(node: Node) -> Tensor:
    node.require("value" in node.attributes, "only a tensor is known")
    return tensor_of(node.get("value"))


@operator("ConstantOfShape")
def constant_of_shape(node: Node, sizes: Tensor) -> Tensor:
    value = tensor_of(node.get("value")) if "value" in node.attributes else torch.zeros(1)
    return value.expand(sizes.tolist()).contiguous()


@operator("Shape")
def shape(node: Node, x: Tensor) -> Tensor:
    return torch.tensor(x.shape[node.get("start") : node.get("end")])


@operator("Cast")
def cast(node: Node, x: Tensor) -> Tensor:
    node.require(node.get("to") in TYPES, "another type")
    return x.to(TYPES[node.get("to")])


@operator("Clip")
def clip(node: Node, x: Tensor, *inputs: Optional[Tensor]) -> Tensor:
    low, high = node.get("min"), node.get("max")
    if node.opset >= 11:
        low, high = (None if bound is None else bound.item() for bound in (*inputs, None, None)[:2])
    node.require((low, high) != (None, None), "without a bound")
    # The first is the form that PyTorch's passes know.
    return F.relu6(x) if (low, high) == (0, 6) else torch.clamp(x, low, high)


@operator("HardSigmoid")
def hard_sigmoid(node: Node, x: Tensor) -> Tensor:
    return torch.clamp(x * node.get("alpha", 0.2) + node.get("beta", 0.5), 0.0, 1.0)


def padding(node: Node, x: Tensor, value: float) -> tuple[Tensor, list[int]]:
    """The input and the padding that a convolution or a pooling still has to do."""
    node.require(node.get("auto_pad", "NOTSET") == "NOTSET", "auto_pad")
    rank = x.dim() - 2
    pads = node.get("pads", [0] * 2 * rank)
    before, after = pads[:rank], pads[rank:]
    kernel = node.get("kernel_shape", pads)
    # PyTorch's poolings pad at most half a kernel.
    if before == after and all(2 * width <= size for width, size in zip(before, kernel)):
        return x, before
    # F.pad counts from the last dimension.
    widths = [width for pair in zip(reversed(before), reversed(after)) for width in pair]
    return F.pad(x, widths, value=value), [0] * rank


@operator("Conv")
def conv(node: Node, x: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    node.require(x.dim() == 4, "only two spatial dimensions are known")
    x, pads = padding(node, x, 0)
    strides, dilations = node.get("strides", 1), node.get("dilations", 1)
    return F.conv2d(x, weight, bias, strides, pads, dilations, node.get("group", 1))


@operator("ConvTranspose")
def conv_transpose(node: Node, x: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    node.require(x.dim() == 4, "only two spatial dimensions are known")
    node.require(node.get("auto_pad", "NOTSET") == "NOTSET", "auto_pad")
    node.require("output_shape" not in node.attributes, "output_shape")
    pads = node.get("pads", [0] * 4)
    node.require(pads[:2] == pads[2:], "padding that differs at both ends")
    return F.conv_transpose2d(
        x,
        weight,
        bias,
        stride=node.get("strides", 1),
        padding=pads[:2],
        output_padding=node.get("output_padding", 0),
        groups=node.get("group", 1),
        dilation=node.get("dilations", 1),
    )


@operator("MaxPool")
def max_pool(node: Node, x: Tensor) -> Tensor:
    node.require(x.dim() == 4, "only two spatial dimensions are known")
    node.require(len(node.outputs) == 1 and not node.get("storage_order", 0), "indices")
    x, pads = padding(node, x, float("-inf"))
    strides, dilations = node.get("strides", 1), node.get("dilations", 1)
    ceil = bool(node.get("ceil_mode", 0))
    return F.max_pool2d(x, node.get("kernel_shape"), strides, pads, dilations, ceil)


@operator("AveragePool")
def average_pool(node: Node, x: Tensor) -> Tensor:
    node.require(x.dim() == 4, "only two spatial dimensions are known")
    counts = bool(node.get("count_include_pad", 0))
    x, pads = padding(node, x, 0)
    node.require(counts or pads == node.get("pads", pads)[:2], "uneven padding that does not count")
    ceil = bool(node.get("ceil_mode", 0))
    return F.avg_pool2d(x, node.get("kernel_shape"), node.get("strides", 1), pads, ceil, counts)


@operator("GlobalAveragePool")
def global_average_pool(node: Node, x: Tensor) -> Tensor:
    node.require(x.dim() == 4, "only two spatial dimensions are known")
    return F.adaptive_avg_pool2d(x, 1)


@operator("BatchNormalization")
def batch_normalization(
    node: Node, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor
) -> Tensor:
    node.require(not node.get("training_mode", 0), "training")
    return F.batch_norm(x, mean, variance, scale, bias, eps=node.get("epsilon", 1e-5))


@operator("LayerNormalization")
def layer_normalization(
    node: Node, x: Tensor, scale: Tensor, bias: Optional[Tensor] = None
) -> Tensor:
    return F.layer_norm(x, x.shape[node.get("axis", -1) :], scale, bias, node.get("epsilon", 1e-5))


@operator("Softmax")
def softmax(node: Node, x: Tensor) -> Tensor:
    axis = node.get("axis", -1 if node.opset >= 13 else 1)
    node.require(node.opset >= 13 or axis % x.dim() == x.dim() - 1, "over several dimensions")
    return F.softmax(x, axis)


@operator("Gemm")
def gemm(node: Node, a: Tensor, b: Tensor, c: Optional[Tensor] = None) -> Tensor:
    node.require(node.get("alpha", 1.0) == 1 and node.get("beta", 1.0) == 1, "alpha and beta")
    a = a.t() if node.get("transA", 0) else a
    return F.linear(a, b if node.get("transB", 0) else b.t(), c)


@operator("MatMul")
def matmul(node: Node, a: Tensor, b: Tensor) -> Tensor:
    return torch.matmul(a, b)


@operator("ReduceMean")
def reduce_mean(node: Node, x: Tensor) -> Tensor:
    node.require(node.opset < 18, "axes as an input")
    return torch.mean(x, node.get("axes", list(range(x.dim()))), bool(node.get("keepdims", 1)))


@operator("Concat")
def concat(node: Node, *inputs: Tensor) -> Tensor:
    return torch.cat(inputs, node.get("axis"))


@operator("Split")
def split(node: Node, x: Tensor, sizes: Optional[Tensor] = None) -> Sequence[Tensor]:
    axis, parts = node.get("axis", 0), len(node.outputs)
    given = node.get("split") if sizes is None else sizes.tolist()
    return torch.split(x, given or x.shape[axis] // parts, axis)


@operator("Slice")
def slice_(node: Node, x: Tensor, *inputs: Tensor) -> Tensor:
    if node.opset < 10:
        given = [node.get("starts"), node.get("ends"), node.get("axes")]
    else:
        given = [values.tolist() for values in inputs]
    starts, ends, axes, steps = (given + [None, None])[:4]
    count = len(starts)
    for axis, start, end, step in zip(axes or range(count), starts, ends, steps or [1] * count):
        node.require(step > 0, "backwards")
        x = x[(slice(None),) * (axis % x.dim()) + (slice(start, end, step),)]
    return x


@operator("Reshape")
def reshape(node: Node, x: Tensor, sizes: Tensor) -> Tensor:
    copies = not node.get("allowzero", 0)
    return x.reshape([x.shape[i] if n == 0 and copies else n for i, n in enumerate(sizes.tolist())])


@operator("Transpose")
def transpose(node: Node, x: Tensor) -> Tensor:
    return x.permute(node.get("perm", list(reversed(range(x.dim())))))


@operator("Squeeze")
def squeeze(node: Node, x: Tensor, axes: Optional[Tensor] = None) -> Tensor:
    given = node.get("axes") if axes is None else axes.tolist()
    node.require(given is not None, "without axes")
    for axis in sorted((axis % x.dim() for axis in given), reverse=True):
        x = x.squeeze(axis)
    return x


@operator("Resize")
def resize(node: Node, x: Tensor, _: Optional[Tensor], scales: Tensor, *sizes: Tensor) -> Tensor:
    modes = [node.get(mode) for mode in ("mode", "coordinate_transformation_mode", "nearest_mode")]
    node.require(modes == ["nearest", "asymmetric", "floor"], "other modes")
    node.require(not sizes, "sizes")
    node.require(x.dim() == 4, "only two spatial dimensions are known")
    node.require(scales[:2].tolist() == [1, 1], "the batch or the channels")
    return F.interpolate(x, scale_factor=scales[2:].tolist(), mode="nearest")


def tensor_of(proto: onnx.TensorProto) -> Tensor:
    return torch.from_numpy(numpy_helper.to_array(proto).copy())


def opset_of(model: onnx.ModelProto) -> int:
    return next(opset.version for opset in model.opset_import if opset.domain in ("", "ai.onnx"))


class OnnxModule(torch.nn.Module):
    """Computes the first result of a graph.

    What does not depend on the inputs' elements (constants, and what is computed from shapes) is
    computed once, when the module is made; so the shapes of the inputs are fixed. Inputs of
    integers are constants, too.
    """

    def __init__(self, model: onnx.ModelProto, inputs: Sequence[Tensor]):
        super().__init__()
        graph = model.graph
        nodes = [Node(proto, opset_of(model)) for proto in graph.node]
        missing = sorted({node.operator for node in nodes} - OPERATORS.keys())
        if missing:
            raise UnsupportedError(f"no operator {', '.join(missing)}")
        # An input that is left out has the empty name.
        self.known: dict[str, Optional[Tensor]] = {"": None}
        self.known.update((proto.name, tensor_of(proto)) for proto in graph.initializer)
        self.inputs = [value.name for value in graph.input if value.name not in self.known]
        self.output = graph.output[0].name
        self.nodes: list[Node] = []
        values = dict(zip(self.inputs, inputs))
        self.known.update((name, x) for name, x in values.items() if not x.is_floating_point())
        for node in nodes:
            results = self.compute(node, values)
            if node.operator == "Shape" or self.known.keys() >= set(node.inputs):
                self.known.update(results)
            else:
                self.nodes.append(node)
                values.update(results)

    def compute(self, node: Node, values: dict[str, Tensor]) -> dict[str, Tensor]:
        inputs = [self.find(name, values) for name in node.inputs]
        results = OPERATORS[node.operator](node, *inputs)
        return dict(zip(node.outputs, results if isinstance(results, (tuple, list)) else [results]))

    def find(self, name: str, values: dict[str, Tensor]) -> Optional[Tensor]:
        return self.known[name] if name in self.known else values[name]

    def forward(self, *inputs: Tensor) -> Tensor:
        values = dict(zip(self.inputs, inputs))
        for node in self.nodes:
            values.update(self.compute(node, values))
        return self.find(self.output, values)
