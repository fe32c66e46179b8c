"""A call for each function, operator and method that the symbol-tree engine knows, as a Cell of its own."""

_BINARY = "add div maximum minimum mul sub pow matmul"
_UNARY = (
    "abs ceil cos cosh elu erf erfc exp expm1 fast_gelu floor gelu hardsigmoid hardswish log log1p "
    "log_softmax logsigmoid mean max min mish neg norm prod reciprocal reduce_mean reduce_sum relu6 relu round "
    "rsqrt selu sigmoid sign silu sin sinh softmax softplus softsign sort sqrt square std sum tan tanh tril triu "
    "var diag"
)
_METHODS = (
    "abs() cos() exp() floor() log() max() mean() min() neg() norm() prod() round() rsqrt() sigmoid() sin() "
    "sqrt() square() std() sum() tanh() var() max(0) min(1) sum(0) mean(1) cumsum(0) clip(0.0,1.0) "
    "clamp(0.0,1.0) pow(2) softmax(0) tile((2,1)) add(y) sub(y) mul(y) div(y) matmul(y) maximum(y) minimum(y) "
    "gather(self.ids,0) masked_fill(x>0,1.0) masked_fill(self.flags,1.0)"
)
_OTHERS = (
    "x + y|x - y|x * y|x / y|x @ y|x ** 2|-x|x // y|x % y|x * 2.0|2.0 * x|x + 1.0|1.0 - x|x / 2.0|2.0 / x|x % 2.0|"
    "x[:, 0] + y[0]|x[..., None] * 2|"
    "ops.addmm(x, y, y)|ops.bmm(x[None], y[None])|ops.cat((x, y))|ops.clamp(x, 0.0, 1.0)|ops.clip(x, 0.0, 1.0)|"
    "ops.concat((x, y), 1)|ops.concat((x, y), axis=1)|ops.cumsum(x, 0)|ops.dense(x, y)|"
    "ops.einsum('ij,jk->ik', x, y)|ops.flip(x, (0,))|ops.gather(x, self.ids, 0)|ops.index_select(x, 0, self.ids)|"
    "ops.layer_norm(x, (4,), x[0], y[0])|ops.leaky_relu(x, 0.1)|ops.lerp(x, y, 0.5)|ops.logsumexp(x, 1)|"
    "ops.masked_fill(x, x > 0, 1.0)|ops.max(x, 1)|ops.min(x, 1)|ops.pad(x, (1, 1))|ops.prelu(x, x[0, :1])|"
    "ops.roll(x, 1, 0)|ops.select(x > 0, x, y)|ops.stack((x, y))|ops.sum(x, 1)|ops.tile(x, (2, 1))|ops.topk(x, 2)|"
    "ops.where(x > 0, x, y)|ops.adaptive_avg_pool2d(self.images, 1)|ops.conv2d(self.images, self.images)|"
    "ops.group_norm(self.images, 2)|"
    "mint.add(x, y)|mint.bmm(x[None], y[None])|mint.cat((x, y))|mint.concat((x, y))|mint.div(x, y)|"
    "mint.matmul(x, y)|mint.mul(x, y)|mint.pow(x, 2)|mint.stack((x, y))|mint.sub(x, y)|"
    "mint.nn.functional.layer_norm(x, (4,))|mint.nn.functional.linear(x, y)|mint.nn.functional.softmax(x, -1)|"
    "mint.nn.functional.log_softmax(x, -1)|"
    "ops.exp(ops.reshape(ops.transpose(x, (1, 0)), (-1,)))|ops.exp(x.swapaxes(0, 1).view(-1))|"
    "ops.tanh(ops.zeros_like(x) + x.astype(ms.float16) * 7.0)"
)
_MINT = (
    "abs exp log max mean sigmoid sqrt square sum tanh nn.functional.gelu nn.functional.relu nn.functional.silu"
)

CALLS = (
    *(f"ops.{name}(x, y)" for name in _BINARY.split()),
    *(f"ops.{name}(x)" for name in _UNARY.split()),
    *(f"mint.{name}(x)" for name in _MINT.split()),
    *(f"x.{call}" for call in _METHODS.split()),
    *_OTHERS.split("|"),
)
"""Expressions of two matrices (4, 4), by which each known op is computed once or more."""

_HEAD = '''"""Cells that compute one call each."""
import mindspore as ms
import numpy as np
from mindspore import mint, nn, ops


class Calling(nn.Cell):
    def __init__(self):
        super().__init__()
        self.ids = ms.Tensor([0, 1])
        self.flags = ms.Tensor(np.ones((4, 4), np.bool_))
        self.images = ms.Parameter(ms.Tensor(np.ones((1, 4, 4, 4), np.float32)))


class Calls(nn.Cell):
    def __init__(self, calls):
        super().__init__()
        self.calls = nn.CellList(calls)

    def construct(self, x, y):
        outputs = ()
        for call in self.calls:
            outputs += (call(x, y),)
        return outputs
'''
_CELL = """

class Call{number}(Calling):
    def construct(self, x, y):
        return {call}
"""


def caller(calls: tuple[str, ...]) -> str:
    """The source of a module with a Cell `Call0`, `Call1`, ... for each of the calls, and `Calls` of several."""
    return _HEAD + "".join(_CELL.format(number=number, call=call) for number, call in enumerate(calls))
