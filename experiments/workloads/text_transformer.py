"""Characters of Python's own help texts and a small causal transformer: one product overflows in float16."""

# MindSpore ships no types: the checker takes the result of calling a Cell for one that may be None.
# pyright: reportOptionalCall=false, reportOperatorIssue=false

import re
from collections.abc import Callable, Iterator, Sequence
from pydoc_data.topics import topics
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.common.initializer import Normal, initializer

from ...evaluators.outcome import Metric
from ...evaluators.workload import Batch, Workload, shuffled_batches
from .attention import HeadedAttention
from .splits import held_out_split

CHARACTERS = "".join(map(chr, range(32, 127)))
# Beside the characters: START stands before the first one, and stands in for padding, which nothing reads;
# OTHER is any character that is not in the table.
START = 0
OTHER = 1
VOCABULARY = 2 + len(CHARACTERS)


class Attention(HeadedAttention):
    """(N, T, width) and a mask (N, 1, T, T) to (N, T, width).

    The mask is 1 where a query (third axis) may see a key (fourth axis), 0 elsewhere.
    """

    def construct(self, x, mask):
        """A large negative number hides what a query may not see."""
        return self.attend(x, (1 - mask) * -1e9)


class MLP(nn.Cell):
    """Two Dense layers: (N, T, width) to (N, T, width)."""

    def __init__(self, width: int):
        super().__init__()
        self.up = nn.Dense(width, 4 * width)
        self.gelu = nn.GELU()
        self.down = nn.Dense(4 * width, width)

    def construct(self, x):
        """Widen, bend, narrow."""
        return self.down(self.gelu(self.up(x)))


class Block(nn.Cell):
    """Attention and MLP, each behind a norm and beside a shortcut: (N, T, width) to (N, T, width)."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.norm1 = nn.LayerNorm((width,))
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm((width,))
        self.mlp = MLP(width)

    def construct(self, x, mask):
        """Add what attention and MLP find."""
        x = x + self.attention(self.norm1(x), mask)
        return x + self.mlp(self.norm2(x))


class TextTransformer(nn.Cell):
    """Tokens (N, T), int32, and a mask (N, 1, T, T) to scores of the next character (N, T, vocabulary)."""

    def __init__(self, length: int, width: int = 48, heads: int = 2, blocks: int = 2):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.position = ms.Parameter(initializer(Normal(0.02), (length, width)), name="position")
        self.blocks = nn.CellList([Block(width, heads) for _ in range(blocks)])
        self.norm = nn.LayerNorm((width,))
        self.head = nn.Dense(width, VOCABULARY)

    def construct(self, tokens, mask):
        """Embed, mix, score."""
        x = self.embedding(tokens) + self.position
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


class NextCharacterLoss(nn.Cell):
    """Cross entropy per character in nats, padding weighted out."""

    def __init__(self):
        super().__init__()
        self.cross_entropy = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="none")

    def construct(self, scores, targets, weights):
        """Scores (N, T, vocabulary), targets and weights (N, T) to one number."""
        weights = weights.reshape(-1)
        losses = self.cross_entropy(scores.reshape(-1, scores.shape[-1]), targets.reshape(-1))
        return (losses * weights).sum() / weights.sum()


def sentences() -> list[str]:
    """The sentences of the help texts, each once, in alphabetical order.

    Topics share whole passages: a sentence that stood twice could be trained on and held out.
    """
    found: set[str] = set()
    for text in topics.values():
        for paragraph in re.split(r"\n\s*\n", text):
            found.update(re.split(r"(?<=[.!?:]) ", " ".join(paragraph.split())))
    return sorted(found - {""})


def encode(texts: Sequence[str], length: int) -> tuple[np.ndarray, np.ndarray]:
    """Texts to targets (N, length), int32, and weights (N, length): 1 on a character, 0 on padding.

    A text beyond `length` is cut.
    """
    table = {character: 2 + number for number, character in enumerate(CHARACTERS)}
    targets = np.full((len(texts), length), START, np.int32)
    weights = np.zeros((len(texts), length), np.float32)
    for row, text in enumerate(texts):
        tokens = [table.get(character, OTHER) for character in text[:length]]
        targets[row, : len(tokens)] = tokens
        weights[row, : len(tokens)] = 1
    return targets, weights


def causal_mask(weights: np.ndarray) -> np.ndarray:
    """Weights (N, T) to a mask (N, 1, T, T): a position sees itself and the text before it.

    A padded position sees itself too: softmax over no key at all would be NaN in any precision.
    """
    length = weights.shape[1]
    seen = np.tril(np.ones((length, length), np.float32)) * weights[:, None, None, :]
    return np.maximum(seen, np.eye(length, dtype=np.float32))


class TextWorkload(Workload):
    """Some 3,700 sentences, cut at 32 characters; 256 of them are held out."""

    name = "text-transformer"
    metric = Metric("nats_per_character", "minimize")
    batch_size = 32
    trial_steps = 100
    full_steps = 4000
    length = 32

    def __init__(self):
        self.targets, self.weights = encode(sentences(), self.length)
        self.train_rows, self.held_out_rows = held_out_split(len(self.targets), held_out=256)

    @property
    def unigram_nats_per_character(self) -> float:
        """The held-out loss of the best guess that reads nothing: by the characters' own frequencies."""
        held_out = self.targets[self.held_out_rows][self.weights[self.held_out_rows] > 0]
        shares = np.bincount(held_out) / len(held_out)
        shares = shares[shares > 0]
        return float(-np.sum(shares * np.log(shares)))

    def network(self) -> nn.Cell:
        """Two blocks of two heads, 48 wide."""
        return TextTransformer(self.length)

    def loss(self) -> nn.Cell:
        """Cross entropy per character."""
        return NextCharacterLoss()

    def optimizer(self, parameters: Sequence[Any]) -> nn.Optimizer:
        """Adam."""
        return nn.Adam(parameters, learning_rate=3e-3)

    def batches(self, seed: int) -> Iterator[Batch]:
        """Tokens (32, 32) and mask (32, 1, 32, 32); targets and weights (32, 32)."""
        rows = self.train_rows
        sampled = shuffled_batches((self.targets[rows],), (self.weights[rows],), self.batch_size, seed)
        return (self._batch(batch.inputs[0], batch.labels[0]) for batch in sampled)

    def evaluate(self, predict: Callable[..., Any]) -> float:
        """The held-out loss in nats per character."""
        rows = self.held_out_rows
        inputs, (targets, weights) = self._batch(self.targets[rows], self.weights[rows])
        scores = predict(*inputs)
        scores = scores - scores.max(axis=-1, keepdims=True)
        log_shares = scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
        nats = -np.take_along_axis(log_shares, targets[..., None], axis=-1)[..., 0]
        return float((nats * weights).sum() / weights.sum())

    def _batch(self, targets: np.ndarray, weights: np.ndarray) -> Batch:
        """The network reads each target one position late, behind START."""
        tokens = np.pad(targets[:, :-1], ((0, 0), (1, 0)), constant_values=START)
        return Batch((tokens, causal_mask(weights)), (targets, weights))


def make_workload() -> Workload:
    """The workload, with its data loaded."""
    return TextWorkload()
