"""The jobs that find out what a device can compute: which low precisions, and how it convolves."""

import ctypes

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from ..policies.rewrite.adapter import DTYPES, verify
from .child import error_line
from .device import use_device
from .probe_results import ConvolutionProbe, PrecisionProbe
from .request import ProbeRequest


def probe_precision(request: ProbeRequest) -> PrecisionProbe:
    """Run the ops that most networks are made of once in the precision; one that is refused ends the probe.

    A bfloat16 op without a kernel makes every later op of its process fail, so nothing is tried after it.
    """
    use_device(request.target, "pynative", request.device_id)
    verify()
    dtype = DTYPES[request.precision]
    square = ms.Tensor(np.ones((4, 4), np.float32)).astype(dtype)
    image = ms.Tensor(np.ones((1, 2, 4, 4), np.float32)).astype(dtype)
    kernel = ms.Tensor(np.ones((2, 2, 3, 3), np.float32)).astype(dtype)
    attempts = {
        "MatMul": lambda: ops.MatMul()(square, square),
        "Conv2D": lambda: ops.Conv2D(2, 3)(image, kernel),
        "Add": lambda: ops.Add()(square, square),
        "Softmax": lambda: ops.Softmax()(square),
        "ReLU": lambda: ops.ReLU()(square),
    }
    for op, attempt in attempts.items():
        try:
            attempt().asnumpy()
        except (RuntimeError, TypeError, ValueError) as error:
            return PrecisionProbe(precision=request.precision, missing={op: error_line(error)})
    return PrecisionProbe(precision=request.precision, missing={})


def probe_convolution(request: ProbeRequest) -> ConvolutionProbe:
    """Convolve once with oneDNN's own report switched on, and look for "ref:any" in it.

    On AVX-512 CPUs the oneDNN of MindSpore 2.9 and 2.10 picks its reference implementation, which is tens to
    hundreds of times slower; ONEDNN_MAX_CPU_ISA=AVX2 makes it pick a fast one.
    """
    use_device(request.target, "pynative", request.device_id)
    layer = nn.Conv2d(8, 8, 3)
    layer(ms.Tensor(np.ones((8, 8, 16, 16), np.float32))).asnumpy()
    # oneDNN prints through C's own buffer.
    ctypes.CDLL(None).fflush(None)
    report = (request.folder / "output.log").read_text(encoding="utf-8", errors="replace")
    return ConvolutionProbe(reference="ref:any" in report)
