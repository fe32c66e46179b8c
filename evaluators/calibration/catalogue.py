"""Which kernels a calibration times for networks that it has not seen: families of ops, each at a few sizes."""

from collections.abc import Iterator, Sequence

from ..price.signature import OTHER, Signature, Tensor

Shape = tuple[int, ...]

_FLOAT32 = "float32"
# From one that is all launch to one that leaves the caches.
_SIZES: tuple[Shape, ...] = ((64,), (64, 256), (64, 4096))
_CAST_SIZES: tuple[Shape, ...] = ((64,), (64, 64), (64, 1024), (512, 1024))
_ELEMENTWISE = {"Add": 2, "Sub": 2, "Mul": 2, "RealDiv": 2, "AddN": 2, "ReLU": 1, "ReluGrad": 2, "Tanh": 1}
_ELEMENTWISE |= {"TanhGrad": 2, "GeLU": 1, "GeLUGrad": 3, "Sigmoid": 1, "Exp": 1, "Sqrt": 1}
_ROWS: tuple[Shape, ...] = ((32, 64), (1024, 192), (1024, 1024))
_IMAGES: tuple[Shape, ...] = ((16, 16, 8, 8), (64, 16, 8, 8), (32, 64, 28, 28))
# Image, output channels, filter size, stride.
_CONVOLUTIONS: tuple[tuple[Shape, int, int, int], ...] = (
    ((64, 16, 8, 8), 16, 3, 1),
    ((64, 32, 8, 8), 64, 1, 1),
    ((64, 16, 8, 8), 32, 3, 2),
    ((16, 64, 28, 28), 64, 3, 1),
)
_PRODUCTS: tuple[tuple[int, int, int], ...] = ((32, 64, 64), (64, 64, 10), (1024, 48, 192), (512, 512, 512))
_BATCHED: tuple[tuple[int, int, int, int], ...] = ((64, 32, 24, 32), (64, 32, 32, 24), (96, 128, 64, 128))


def catalogue(low_precisions: Sequence[str]) -> tuple[Signature, ...]:
    """The kernels in the order in which they are worth timing; what the device turns out not to have goes later.

    Element-wise, reduction, normalisation, movement and update ops are asked for in each precision, products and
    convolutions too; casts lead both ways, on plain data and on half zeros.
    """
    precisions = (_FLOAT32, *low_precisions)
    return (
        *_casts(low_precisions),
        *_matrix(precisions),
        *(kernel for precision in precisions for kernel in _vector(precision)),
        *_updates(),
    )


def _casts(low_precisions: Sequence[str]) -> Iterator[Signature]:
    for shape in _CAST_SIZES:
        for low in low_precisions:
            for before, after in ((_FLOAT32, low), (low, _FLOAT32)):
                for zeros in (False, True):
                    yield Signature("Cast", ((before, shape),), (after, shape), zeros)


def _matrix(precisions: Sequence[str]) -> Iterator[Signature]:
    for precision in precisions:
        for rows, inner, columns in _PRODUCTS:
            yield _floats("MatMul", precision, (rows, inner), (inner, columns), output=(rows, columns))
        for batch, rows, inner, columns in _BATCHED:
            left, right = (batch, rows, inner), (batch, inner, columns)
            yield _floats("BatchMatMul", precision, left, right, output=(batch, rows, columns))
        for convolution in _CONVOLUTIONS:
            yield from _convolutions(precision, *convolution)


def _convolutions(precision: str, image: Shape, channels: int, size: int, stride: int) -> Iterator[Signature]:
    weight = (channels, image[1], size, size)
    result = (image[0], channels, image[2] // stride, image[3] // stride)
    shape_of: Tensor = (OTHER, (4,))
    yield _floats("Conv2D", precision, image, weight, output=result)
    yield Signature("Conv2DBackpropInput", (*_both(precision, result, weight), shape_of), (precision, image))
    yield Signature("Conv2DBackpropFilter", (*_both(precision, result, image), shape_of), (precision, weight))


def _vector(precision: str) -> Iterator[Signature]:
    for shape in _SIZES:
        for op, operands in _ELEMENTWISE.items():
            yield _floats(op, precision, *[shape] * operands, output=shape)
        yield Signature("IsFinite", ((precision, shape),), (OTHER, shape))
    for rows in _ROWS:
        yield from _by_rows(precision, rows)
    for image in _IMAGES:
        channels = image[1:2]
        yield _floats("BatchNorm", precision, image, *[channels] * 4, output=image)
        yield _floats("BatchNormGrad", precision, image, image, *[channels] * 4, output=image)
    for shape in ((32, 32, 2, 24), (32, 128, 8, 64)):
        after = (shape[0], shape[2], shape[1], shape[3])
        yield _floats("Transpose", precision, shape, output=after)


def _by_rows(precision: str, rows: Shape) -> Iterator[Signature]:
    width, single = rows[1:], (rows[0], 1)
    yield _floats("Softmax", precision, rows, output=rows)
    yield _floats("LayerNorm", precision, rows, width, width, output=rows)
    statistics = ((_FLOAT32, single), (_FLOAT32, single))
    yield Signature(
        "LayerNormGrad", (*_both(precision, rows, rows), *statistics, (precision, width)), (precision, rows)
    )
    yield _floats("BiasAdd", precision, rows, width, output=rows)
    yield _floats("BiasAddGrad", precision, rows, output=width)
    yield _floats("ReduceSum", precision, rows, output=single)
    yield _floats("ReduceMean", precision, rows, output=single)


def _updates() -> Iterator[Signature]:
    scalar: Tensor = (_FLOAT32, ())
    for shape in _SIZES:
        weight: Tensor = (_FLOAT32, shape)
        yield Signature("Adam", (*[weight] * 3, *[scalar] * 6, weight), weight)
        yield Signature("ApplyMomentum", (weight, weight, scalar, weight, scalar), weight)
        yield Signature("ReduceAll", ((OTHER, shape),), (OTHER, ()))


def _floats(op: str, precision: str, *inputs: Shape, output: Shape) -> Signature:
    return Signature(op, tuple((precision, shape) for shape in inputs), (precision, output))


def _both(precision: str, first: Shape, second: Shape) -> tuple[Tensor, Tensor]:
    return (precision, first), (precision, second)
