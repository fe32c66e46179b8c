"""A workload reference gives a workload, or one message that says what is wrong with it."""

import sys
from pathlib import Path

import pytest

from halfwise.evaluators.workload_reference import load_workload
from halfwise.policies.errors import HalfwiseError, InputError

HERE = Path(__file__).parent

WORKLOAD = """
from tiny_workloads import Tiny

class Mine(Tiny):
    {line}

def make_workload():
    return Mine()
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """`write(name, text)`: a module beside the experiment, forgotten again after the test."""
    monkeypatch.syspath_prepend(str(HERE))
    before = set(sys.modules)

    def write_module(name: str, text: str) -> Path:
        path = tmp_path / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        return path

    yield write_module
    for name in set(sys.modules) - before:
        if name.startswith("mine"):
            del sys.modules[name]


def message(reference: str, search_path: Path | None) -> str:
    """What the user reads: one line."""
    with pytest.raises(InputError) as caught:
        load_workload(reference, search_path)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_a_workload_beside_the_experiment_is_loaded(write, tmp_path):
    """The folder comes first on Python's path while loading, and is gone from it afterwards."""
    write("mine_good", WORKLOAD.format(line="name = 'mine'"))
    path = list(sys.path)
    workload = load_workload("mine_good:make_workload", tmp_path)
    assert (workload.name, workload.trial_steps) == ("mine", 30)
    assert sys.path == path


def test_a_module_in_a_package_is_loaded(write, tmp_path):
    """A dotted module name leads into packages of the folder."""
    (tmp_path / "mine_package").mkdir()
    write("mine_package/inner", WORKLOAD.format(line="name = 'inner'"))
    assert load_workload("mine_package.inner:make_workload", tmp_path).name == "inner"


def test_an_installed_module_needs_no_folder():
    """Without a search path the module comes from Python's own."""
    workload = load_workload("halfwise.experiments.workloads.tabular_mlp:make_workload", None)
    assert workload.name == "tabular-mlp"


@pytest.mark.parametrize(
    "reference",
    [
        "",
        "mine",
        "mine:",
        ":make",
        "a b:make",
        "mine.py:make",
        "./mine:make",
        "mine:make()",
        "a:b:c",
        "1a:f",
        "a..b:f",
    ],
)
def test_a_malformed_reference(reference, tmp_path):
    """What is not module:function is refused with the right form."""
    text = message(reference, tmp_path)
    assert repr(reference) in text
    assert "my_module:make_workload" in text


def test_a_module_that_is_not_there(write, tmp_path):
    """The message says where was looked, and shows what stands there under a similar name."""
    write("mine_workload", "")
    text = message("mine_workloda:make_workload", tmp_path)
    assert text == (
        f"there is no workload module 'mine_workloda': looked in {tmp_path} and then in Python's own path; "
        "did you mean 'mine_workload'?"
    )


def test_a_module_that_imports_something_missing(write, tmp_path):
    """A missing import inside the module is that module's fault, and is not taken for the module itself."""
    path = write("mine_importing", "import os\nimport mine_missing_dependency\n")
    text = message("mine_importing:make_workload", tmp_path)
    assert text.startswith("workload module 'mine_importing' cannot be imported: ModuleNotFoundError: ")
    assert text.endswith(f"({path}:2)")


@pytest.mark.parametrize(
    ("body", "last_line"),
    [
        ("x = 1\nraise ValueError('no data')", "ValueError: no data"),
        ("x = 1\n1 / 0", "ZeroDivisionError: division by zero"),
        ("x = 1\nint('eleven')", "ValueError: invalid literal for int() with base 10: 'eleven'"),
        ("import json\njson.loads('{')", "JSONDecodeError: Expecting property name enclosed in double quotes"),
        ("x = 1\nx = = 2", "SyntaxError: invalid syntax"),
        ("x = 1\nraise SystemExit(3)", "SystemExit: 3"),
        ("x = 1\nraise RuntimeError('first\\nsecond')", "RuntimeError: first"),
    ],
)
def test_a_module_that_raises(write, tmp_path, body, last_line):
    """The message holds the traceback's last line and the line of the user's own file."""
    path = write("mine_raising", body)
    text = message("mine_raising:make_workload", tmp_path)
    assert f"cannot be imported: {last_line}" in text
    assert text.endswith(f"({path}:2)")


def test_a_function_that_is_not_there(write, tmp_path):
    """The message names the file and the function that may have been meant."""
    path = write("mine_other", WORKLOAD.format(line="pass"))
    text = message("mine_other:make_worklod", tmp_path)
    assert text == f"there is no function 'make_worklod' in {path}; did you mean 'make_workload'?"


def test_something_that_is_no_function(write, tmp_path):
    """A name that holds a value cannot be called."""
    path = write("mine_value", "make_workload = 3\n")
    text = message("mine_value:make_workload", tmp_path)
    assert text == f"'make_workload' in {path} must be a function, but it is a int"


def test_a_function_that_raises(write, tmp_path):
    """The function's exception and its line are shown."""
    path = write("mine_failing", "def make_workload():\n    open('/no/such/data.npz')\n")
    text = message("mine_failing:make_workload", tmp_path)
    assert text.startswith("mine_failing:make_workload raised FileNotFoundError: ")
    assert text.endswith(f"({path}:2)")


def test_an_error_of_halfwise_keeps_its_words(write, tmp_path):
    """What halfwise raised on purpose inside the function is neither wrapped nor made the user's fault."""
    write(
        "mine_own",
        "from halfwise.policies.errors import HalfwiseError\n"
        "def make_workload():\n    raise HalfwiseError('the disk is full')\n",
    )
    with pytest.raises(HalfwiseError, match=r"^the disk is full$") as caught:
        load_workload("mine_own:make_workload", tmp_path)
    assert caught.value.exit_code == 1


def test_too_little_memory_is_not_the_users_fault(write, tmp_path):
    """MemoryError passes through: it has a cause of its own among the outcomes."""
    write("mine_memory", "def make_workload():\n    raise MemoryError\n")
    with pytest.raises(MemoryError):
        load_workload("mine_memory:make_workload", tmp_path)


@pytest.mark.parametrize(("value", "words"), [("None", "None"), ("3", "a int"), ("dict", "a type")])
def test_a_function_that_returns_something_else(write, tmp_path, value, words):
    """The message says what came instead of a workload."""
    write("mine_wrong", f"def make_workload():\n    return {value}\n")
    text = message("mine_wrong:make_workload", tmp_path)
    assert text.endswith(f"must return a halfwise.evaluators.workload.Workload, but returned {words}")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("name = ''", "name must be a text that is not empty, but got ''"),
        ("metric = 'accuracy'", "metric must be a Metric(name, direction), but got 'accuracy'"),
        ("batch_size = 0", "batch_size must be a whole number of 1 or more, but got 0"),
        ("batch_size = 2.5", "batch_size must be a whole number of 1 or more, but got 2.5"),
        ("trial_steps = True", "trial_steps must be a whole number of 1 or more, but got True"),
        ("full_steps = None", "full_steps must be a whole number of 1 or more, but got None"),
        (
            "trial_steps = 31",
            "trial_steps must be at most a tenth of full_steps, but got trial_steps 31 and full_steps 300",
        ),
    ],
)
def test_a_workload_that_contradicts_itself(write, tmp_path, line, words):
    """Fields are checked when the workload is loaded, each with its value."""
    write("mine_fields", WORKLOAD.format(line=line))
    assert message("mine_fields:make_workload", tmp_path) == f"mine_fields:make_workload: {words}"
