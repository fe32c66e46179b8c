import os
from pathlib import Path

import pytest

from halfwise.policies import BUILTIN, HalfwiseError, InputError, Policy, load_policy, save_policy


def test_a_saved_file_is_for_people(tmp_path: Path) -> None:
    """Fields come in a fixed order, one rule a line, and what decides most is written even if default."""
    policy = Policy(layers={"body.0::Mul": "float32", "on": "float16"}, results={"speed": 1.5})
    save_policy(policy, tmp_path / "p.yaml")
    assert (tmp_path / "p.yaml").read_text() == (
        "schema: halfwise/policy/1\n"
        "default: float32\n"
        "low_precision: float16\n"
        "layers:\n"
        "  body.0::Mul: float32\n"
        "  'on': float16\n"
        "loss_scaling: {kind: dynamic, initial: 65536, factor: 2, window: 1000}\n"
        "mode: graph\n"
        "results:\n"
        "  speed: 1.5\n"
    )


def test_a_file_must_say_its_version(tmp_path: Path) -> None:
    """A file without `schema` is refused, together with its other problems."""
    path = tmp_path / "p.yaml"
    path.write_text("default: half\n")
    with pytest.raises(InputError) as caught:
        load_policy(path)
    assert str(caught.value).splitlines() == [
        f"{path}:1:1: schema: is required",
        f"{path}:1:10: default: must be one of float32, float16, bfloat16, auto; got 'half'",
    ]


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """A missing file, a folder and a binary file each get one line with the path."""
    (tmp_path / "binary").write_bytes(b"schema: \xff")
    for name, problem in [
        ("missing.yaml", "cannot be read: No such file or directory"),
        ("", "cannot be read: Is a directory"),
        ("binary", "is not UTF-8 text (byte 8)"),
    ]:
        with pytest.raises(InputError) as caught:
            load_policy(tmp_path / name)
        assert str(caught.value) == f"{tmp_path / name}: {problem}"


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    """Files from editors that write one read like any other."""
    (tmp_path / "p.json").write_text('\ufeff{"schema": "halfwise/policy/1", "default": "float16"}', "utf-8")
    assert load_policy(tmp_path / "p.json") == Policy(default="float16")


def test_a_failed_save_leaves_nothing_behind(tmp_path: Path) -> None:
    """Saving over a folder fails with one message, and no half-written file stays."""
    (tmp_path / "p.yaml").mkdir()
    with pytest.raises(HalfwiseError, match="cannot write"):
        save_policy(BUILTIN["O2"], tmp_path / "p.yaml")
    with pytest.raises(HalfwiseError, match="its folder does not exist"):
        save_policy(BUILTIN["O2"], tmp_path / "nowhere" / "p.yaml")
    assert os.listdir(tmp_path) == ["p.yaml"]


def test_saving_replaces_the_file_that_was_there(tmp_path: Path) -> None:
    """The old policy is gone, and the new one is whole."""
    save_policy(BUILTIN["auto"], tmp_path / "p.yaml")
    save_policy(BUILTIN["O3"], tmp_path / "p.yaml")
    assert load_policy(tmp_path / "p.yaml") == BUILTIN["O3"]
    assert os.listdir(tmp_path) == ["p.yaml"]
