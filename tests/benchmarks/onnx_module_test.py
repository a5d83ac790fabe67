"""benchmarks/onnx_module.py against ONNX's own node tests (Debian's package libonnx-testdata).

Ends with 77, which CTest counts as skipped, where PyTorch or the package onnx is not installed.
"""

import pathlib
import sys
import unittest

try:
    import onnx
    import torch
    from onnx import numpy_helper
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
from onnx_module import OPERATORS, OnnxModule, UnsupportedError

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
FOLDER = pathlib.Path("/usr/share/libonnx-testdata/data/node")


def tensor(path: pathlib.Path) -> torch.Tensor:
    return torch.from_numpy(numpy_helper.to_array(onnx.load_tensor(str(path))).copy())


def is_known(model: onnx.ModelProto) -> bool:
    types = {value.type.tensor_type.elem_type for value in model.graph.input}
    operators = {node.op_type for node in model.graph.node}
    return operators <= OPERATORS.keys() and types <= {FLOAT, INT64} and FLOAT in types


class OnnxModuleTest(unittest.TestCase):
    def test_known_operators_compute_what_onnx_says(self) -> None:
        compared = set()
        for folder in sorted(FOLDER.iterdir()):
            model = onnx.load(str(folder / "model.onnx"))
            if not is_known(model):
                continue
            data = folder / "test_data_set_0"
            # All inputs but the first become constants.
            for i, value in enumerate(model.graph.input[1:], 1):
                constant = onnx.load_tensor(str(data / f"input_{i}.pb"))
                constant.name = value.name
                model.graph.initializer.append(constant)
            x = tensor(data / "input_0.pb")
            with self.subTest(folder.name):
                try:
                    y = OnnxModule(model, [x])(x)
                except UnsupportedError:
                    continue
                torch.testing.assert_close(y, tensor(data / "output_0.pb"), rtol=1e-3, atol=1e-6)
                compared.update(node.op_type for node in model.graph.node)
        # ONNX tests the known mode of Resize nowhere, and ConstantOfShape without inputs of floats.
        self.assertEqual(OPERATORS.keys() - compared, {"ConstantOfShape", "Resize"})

    def test_other_operators_are_named(self) -> None:
        node = onnx.helper.make_node("Tenon", ["x"], ["y"])
        values = [onnx.helper.make_tensor_value_info(name, 1, [2]) for name in ("x", "y")]
        graph = onnx.helper.make_graph([node], "graph", values[:1], values[1:])
        with self.assertRaisesRegex(UnsupportedError, "no operator Tenon"):
            OnnxModule(onnx.helper.make_model(graph), [torch.zeros(2)])


if __name__ == "__main__":
    unittest.main()
