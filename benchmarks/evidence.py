"""What the evidence of a large step takes: compile it, read the graph back, prove the policy; nothing is run."""

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from halfwise.policies import BUILTIN
from halfwise.policies.errors import HalfwiseError

from .bench import Bench, Figure, Say
from .compiled import CompileAnswer, compile_step

WORKLOAD = "resnet50"
LEVELS = ("O0", "O2")
ROUNDS = 3
TIME_TARGET_S = 8
MEMORY_TARGET_GIB = 1.5
# MindSpore's own switch: the graph is made and optimised, and not handed to the back end.
FRONT_END_ONLY = {"MS_DEV_PRECOMPILE_ONLY": "1"}


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Compile the step under float32 and O2 in fresh processes; say where the time goes.

    The time is stated for a quiet machine: CPU time stands beside it, to tell what others' load did.

    Raises:
        HalfwiseError: an op does not compute as its policy asks.
    """
    figures: list[Figure] = []
    for level in LEVELS:
        answers = [compile_step(folder / level, WORKLOAD, BUILTIN[level]).answer for _ in range(ROUNDS)]
        _say_where_time_goes(level, answers, say)
        front_end = compile_step(folder / level, WORKLOAD, BUILTIN[level], environment=FRONT_END_ONLY).answer
        say(f"without MindSpore's back end, so without the kernel stage: {front_end.evidence}")
        figures += _figures(level, answers)
    return tuple(figures)


def _say_where_time_goes(level: str, answers: list[CompileAnswer], say: Say) -> None:
    for answer in answers:
        if answer.mismatches:
            raise HalfwiseError(f"{WORKLOAD} under {level}: {answer.mismatches[0]}")
        say(
            f"{WORKLOAD} under {level}, batch {answer.batch_size}: {answer.evidence}, of it "
            f"{answer.reading_wall_s:.2f} s for marks, reading and proof, the rest MindSpore's compilation; "
            f"{_gib(answer):.2f} GiB at most"
        )
    say(answers[0].summary)


def _figures(level: str, answers: list[CompileAnswer]) -> Iterator[Figure]:
    name = f"{WORKLOAD} under {level}"
    evidence_s = median(answer.evidence.wall_s for answer in answers)
    yield Figure(f"{name}: time of the evidence, median of {ROUNDS}", evidence_s, "at most", TIME_TARGET_S, " s")
    peak_gib = max(map(_gib, answers))
    yield Figure(f"{name}: memory that the process held at most", peak_gib, "at most", MEMORY_TARGET_GIB, " GiB")


def _gib(answer: CompileAnswer) -> float:
    return answer.peak_memory_bytes / 2**30


BENCH = Bench(
    "evidence",
    f"evidence of a ResNet-50 step: at most {TIME_TARGET_S} s and {MEMORY_TARGET_GIB} GiB",
    run,
)
