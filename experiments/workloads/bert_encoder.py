"""A BERT-like encoder of 12 layers, for pricing: its tokens are noise, so nothing is learned from it here."""

# MindSpore ships no types: the checker takes the result of calling a Cell for one that may be None.
# pyright: reportOptionalCall=false, reportOperatorIssue=false

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.common.initializer import Normal, initializer

from ...evaluators.outcome import Metric
from ...evaluators.workload import Batch, Workload
from .attention import HeadedAttention

VOCABULARY = 30_522
WIDTH = 768
HEADS = 12
LAYERS = 12
IGNORED = -1


class SelfAttention(HeadedAttention):
    """(N, T, width) and an addend (N, 1, 1, T) to the scores, to (N, T, width)."""

    def construct(self, x, addend):
        """The addend hides what is no text."""
        return self.attend(x, addend)


class EncoderLayer(nn.Cell):
    """Attention and two Dense layers, each beside a shortcut and before a norm: (N, T, width) to the same."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.attention = SelfAttention(width, heads)
        self.norm1 = nn.LayerNorm((width,))
        self.up = nn.Dense(width, 4 * width)
        self.gelu = nn.GELU()
        self.down = nn.Dense(4 * width, width)
        self.norm2 = nn.LayerNorm((width,))

    def construct(self, x, addend):
        """Add and normalise what attention and the Dense layers find."""
        x = self.norm1(x + self.attention(x, addend))
        return self.norm2(x + self.down(self.gelu(self.up(x))))


class BertEncoder(nn.Cell):
    """Tokens (N, T), int32, and a mask (N, T), 1 where there is text, to scores (N, T, vocabulary)."""

    def __init__(self, length: int, layers: int = LAYERS, width: int = WIDTH, heads: int = HEADS):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.position = ms.Parameter(initializer(Normal(0.02), (length, width)), name="position")
        self.norm = nn.LayerNorm((width,))
        self.layers = nn.CellList([EncoderLayer(width, heads) for _ in range(layers)])
        self.head = nn.Dense(width, VOCABULARY)

    def construct(self, tokens, mask):
        """Embed, encode, score; -1e4 keeps masked keys out and fits float16."""
        addend = (1 - mask.reshape(mask.shape[0], 1, 1, mask.shape[1])) * -1e4
        x = self.norm(self.embedding(tokens) + self.position)
        for layer in self.layers:
            x = layer(x, addend)
        return self.head(x)


class MaskedTokenLoss(nn.Cell):
    """Cross entropy over the tokens that were hidden; the others carry the target -1."""

    def construct(self, scores, targets):
        """Scores (N, T, vocabulary) and targets (N, T), int32, to one number."""
        return ops.cross_entropy(scores.reshape(-1, VOCABULARY), targets.reshape(-1), ignore_index=IGNORED)


class BertWorkload(Workload):
    """One batch of noise in the shape of BERT's pre-training: good for pricing a policy, not for training.

    Lengths are those of the original's first phase, and its metric is chance.
    """

    name = "bert-encoder"
    metric = Metric("accuracy", "maximize")
    trial_steps = 100
    full_steps = 900_000

    def __init__(self, batch_size: int = 32, length: int = 128):
        self.batch_size = batch_size
        self.length = length

    def network(self) -> nn.Cell:
        """12 layers of 12 heads, 768 wide."""
        return BertEncoder(self.length)

    def loss(self) -> nn.Cell:
        """Cross entropy over the hidden tokens."""
        return MaskedTokenLoss()

    def optimizer(self, parameters: Sequence[Any]) -> nn.Optimizer:
        """Adam with decoupled weight decay."""
        return nn.AdamWeightDecay(parameters, learning_rate=1e-4)

    def batches(self, seed: int) -> Iterator[Batch]:
        """Tokens and mask (N, 128); targets (N, 128), 15% of them not -1."""
        random = np.random.default_rng(seed)
        while True:
            yield self._noise(random)

    def evaluate(self, predict: Callable[..., Any]) -> float:
        """The share of one noisy batch's hidden tokens that are guessed: about 1 in 30,000."""
        batch = self._noise(np.random.default_rng(2**32 - 1))
        targets = batch.labels[0]
        guesses = predict(*batch.inputs).argmax(axis=-1)
        return float(np.mean((guesses == targets)[targets != IGNORED]))

    def _noise(self, random: np.random.Generator) -> Batch:
        shape = (self.batch_size, self.length)
        tokens = random.integers(0, VOCABULARY, shape, np.int32)
        targets = np.where(random.random(shape) < 0.15, tokens, IGNORED).astype(np.int32)
        return Batch((tokens, np.ones(shape, np.float32)), (targets,))


def make_workload() -> Workload:
    """The workload at batch 32 and sequence length 128."""
    return BertWorkload()
