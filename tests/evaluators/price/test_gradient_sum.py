"""Data parallelism in prices: the sum of gradients over a ring, by closed form and by counting what is sent."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from price_tables import FIELDS, make_device

from halfwise.evaluators.price import CastCost, Device, Memory, Price, describe, gradient_sum
from halfwise.evaluators.price.devices import Bandwidth
from halfwise.evaluators.price.gradient_sum import devices_of
from halfwise.policies import InputError


def memory_of(gradient_bytes: int) -> Memory:
    """A network with so many bytes of gradients."""
    return Memory(gradient_bytes, gradient_bytes, 0, 0, {})


def linked(gb_per_s: float = 600) -> Device:
    """The device on paper, with a link of so much in both directions together."""
    return make_device().model_copy(update={"link": Bandwidth(value=gb_per_s, unit="GB/s", **FIELDS)})


def sent_by_each(devices: int, chunk_bytes: int) -> list[int]:
    """What each device of a ring sends, move by move: every chunk once round to be summed, once to be known."""
    sent = [0] * devices
    for chunk in range(devices):
        for move in range(2 * (devices - 1)):
            sent[(chunk + move) % devices] += chunk_bytes
    return sent


@given(devices=st.integers(2, 12), chunk=st.integers(1, 1000))
def test_each_device_of_a_ring_sends_what_a_ring_sends(devices: int, chunk: int) -> None:
    """The formula's bytes are those of a ring that is walked through move by move."""
    found = gradient_sum(memory_of(devices * chunk), linked(), devices)
    assert {found.bytes_sent} == set(sent_by_each(devices, chunk))


def test_a_sum_takes_its_bytes_over_one_direction_of_the_link() -> None:
    """3 GB of gradients on 4 devices: each sends 4.5 GB, at 300 of the 600 GB/s that both directions have."""
    found = gradient_sum(memory_of(3 * 10**9), linked(600), 4)
    assert found.bytes_sent == 4.5e9
    assert found.seconds == pytest.approx(0.015)


def test_one_device_has_nothing_to_send() -> None:
    """Alone, no link is needed and nothing is added or assumed."""
    found = gradient_sum(memory_of(10**9), make_device(), 1)
    assert (found.devices, found.bytes_sent, found.seconds, found.assumptions) == (1, 0, 0.0, ())


def test_a_device_without_a_link_is_refused() -> None:
    """What is not known is not guessed; the message names the figure."""
    with pytest.raises(InputError, match=r"its link to other devices is not known \(link is absent\)"):
        gradient_sum(memory_of(1), make_device(), 2)


def test_a_strategy_is_read() -> None:
    """data=8 is eight devices."""
    assert devices_of("data=8") == 8


@pytest.mark.parametrize(
    "text", ["8", "data=0", "data=-2", "data=2.5", "data=", "model=2", "data=2,model=2", "data=1\u0663"]
)
def test_another_strategy_is_refused(text: str) -> None:
    """One clear error says what is allowed, and what has no price."""
    with pytest.raises(
        InputError, match=r"a parallel strategy is data=N, .*layers that are split .* have no price"
    ):
        devices_of(text)


def test_the_words_say_what_each_device_does() -> None:
    """Step, shares and throughput are those with the sum: 4 devices, 32 samples each, 2 of 10 ms for the sum."""
    price = Price("paper", "asked", 0.008, 1.0, {}, CastCost(3, 0.001, 0.125), (), (), ())
    summed = gradient_sum(memory_of(400 * 2**20), linked(gb_per_s=2 * 600 * 2**20 / 1e9 / 0.002), 4)
    lines = describe(price.with_seconds(summed.seconds), 32, summed=summed)
    assert lines[:3] == (
        "step time: 10.000 ms, priced on paper",
        "sum of gradients over 4 devices: 600.0 MiB sent by each, 2.000 ms, 20.0% of the step, priced on paper",
        "throughput: 12800 samples/s at batch size 32 on each device, priced on paper",
    )
    assert "casts: 3, 10.0% of the step, priced on paper" in lines


def test_a_step_that_does_nothing_else_costs_the_same() -> None:
    """No seconds more change nothing, not even in a step of no time at all."""
    fields: dict[str, Any] = {"flops": 0.0, "flops_share": {}, "costliest_float32": (), "by_bytes_only": ()}
    empty = Price("paper", "asked", 0.0, casts=CastCost(0, 0.0, 0.0), assumptions=(), **fields)
    assert empty.with_seconds(0.0) == empty
