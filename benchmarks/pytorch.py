"""Times an ONNX model in PyTorch:

    python3 pytorch.py MODEL THREADS CALLS OUT.json INPUT.npy... [--result=Y.npy]

The graph becomes a module (onnx_module.py) that is traced, frozen and optimised for inference,
which puts the convolutions into oneDNN's layout. OUT.json holds the times in seconds, the peak
memory (before the model was loaded, that of Python and the libraries, too) and the BLAS that the
matrix products come from; only "what" and "error" when onnx_module.py or PyTorch lacks what the
model needs. --result writes the result. Needs torch, onnx and numpy.
"""

import argparse
import json
import resource
import time
import warnings

import numpy
import onnx
import torch

from onnx_module import OnnxModule, UnsupportedError

# PyTorch's executor specialises a graph during its first calls.
CALLS_TO_SPECIALISE = 3


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def blas() -> str:
    """The folder and name of the BLAS library: Debian's alternatives differ by the folder."""
    with open("/proc/self/maps", encoding="utf8") as maps:
        paths = [line.split()[-1].split("/")[-2:] for line in maps]
    found = ("/".join(path) for path in paths if "blas" in path[-1] or "mkl_rt" in path[-1])
    return next(found, "what is linked in")


def load(path: str, inputs: list[torch.Tensor]) -> torch.jit.ScriptModule:
    module = OnnxModule(onnx.load(path), inputs).eval()
    traced = torch.jit.trace(module, inputs, check_trace=False)
    module = torch.jit.optimize_for_inference(torch.jit.freeze(traced))
    for _ in range(CALLS_TO_SPECIALISE):
        module(*inputs)
    return module


def measure(arguments: argparse.Namespace) -> dict:
    what = f"PyTorch {torch.__version__}"
    idle = peak_bytes()
    inputs = [torch.from_numpy(numpy.load(path)) for path in arguments.inputs]
    start = time.perf_counter()
    try:
        module = load(arguments.model, inputs)
    except (UnsupportedError, RuntimeError) as error:
        # The second is PyTorch's, such as for a type that a function has no kernel for.
        return {"what": what, "error": str(error).split("\n", maxsplit=1)[0]}
    created = time.perf_counter() - start
    seconds = []
    for _ in range(arguments.calls):
        before = time.perf_counter()
        y = module(*inputs)
        seconds.append(time.perf_counter() - before)
    report = {
        "what": what,
        "library": blas(),
        "create_s": created,
        "run_s": seconds,
        "peak_bytes": peak_bytes(),
        "idle_bytes": idle,
    }
    if arguments.result:
        numpy.save(arguments.result, y.contiguous().numpy())
    return report


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("threads", type=int)
    parser.add_argument("calls", type=int)
    parser.add_argument("out")
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("--result")
    arguments = parser.parse_args()
    # Shapes become constants, as they shall; oneDNN's operators in PyTorch resize their results.
    warnings.simplefilter("ignore", torch.jit.TracerWarning)
    warnings.filterwarnings("ignore", "An output with one or more elements was resized")
    torch.set_num_threads(arguments.threads)
    torch.set_num_interop_threads(1)
    with torch.inference_mode():
        report = measure(arguments)
    with open(arguments.out, "w", encoding="utf8") as out:
        json.dump(report, out)


main()
