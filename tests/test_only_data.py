"""Nothing in the house turns data into code: no pickles, no evaluated texts, no shells, imports in two places."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = [
    file
    for folder in ("policies", "evaluators", "search", "experiments")
    for file in (ROOT / folder).rglob("*.py")
]

# Modules that run what they read, or that take a text for a command.
MODULES = ("pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "pty", "code", "runpy")
# Functions that do, by the last part of their name; each with the files that need it, and why.
CALLS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("eval", "exec", "__import__", "literal_eval", "system", "popen", "getoutput"), ()),
    **dict.fromkeys(("read_pickle", "to_pickle", "unsafe_load", "full_load", "load_all", "unsafe_load_all"), ()),
    **dict.fromkeys(("exec_module", "load_module", "spec_from_file_location", "run_path", "run_module"), ()),
    # The workload that the user names; and jobs, which the code names.
    "import_module": ("evaluators/workload_reference.py", "evaluators/child.py"),
    # A layer's own source, which was imported with the workload.
    "compile": ("policies/rewrite/patterns/code.py",),
}


def calls(file: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every call in a file with the last part of the called name; `compile` of a pattern or a network is none."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name):
            yield node.func.id, node
        elif isinstance(node.func, ast.Attribute) and node.func.attr != "compile":
            yield node.func.attr, node


def place(file: Path, node: ast.AST | None = None) -> str:
    """Where something stands, from the root of the repository."""
    name = file.relative_to(ROOT).as_posix()
    return name if node is None else f"{name}:{getattr(node, 'lineno', 0)}"


def test_nothing_evaluates_or_unpickles():
    """No module that runs what it reads is imported, and no such function is called but where it must be."""
    wrong = []
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            wrong += [f"{place(file, node)} imports {name}" for name in names if name.split(".")[0] in MODULES]
        wrong += [
            f"{place(file, node)} calls {name}"
            for name, node in calls(file)
            if place(file) not in CALLS.get(name, (place(file),))
        ]
    assert wrong == []


def test_arrays_are_read_without_pickles_and_commands_without_a_shell():
    """Each `np.load` forbids pickles in so many words, and nothing is started through a shell."""
    wrong = []
    for file in FILES:
        for name, node in calls(file):
            words = {word.arg: ast.unparse(word.value) for word in node.keywords}
            if (
                name == "load"
                and words.get("allow_pickle") != "False"
                and ast.unparse(node.func).startswith("np.")
            ):
                wrong.append(f"{place(file, node)}: np.load without allow_pickle=False")
            if words.get("shell", "False") != "False" or words.get("allow_pickle", "False") != "False":
                wrong.append(f"{place(file, node)}: a shell, or pickles")
    assert wrong == []


def test_yaml_is_read_in_one_place():
    """Only the reader that refuses tags, anchors and depths reads YAML; others only write it."""
    readers = {
        "load",
        "safe_load",
        "parse",
        "scan",
        "compose",
        "SafeLoader",
        "Loader",
        "FullLoader",
        "CSafeLoader",
    }
    found = {
        place(file)
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "yaml" and node.attr in readers
    }
    assert found == {"policies/yaml_nodes.py"}


def test_every_text_is_printed_by_the_one_function_that_escapes():
    """Commands print through `echo`, which lets no control character through."""
    found = {place(file) for file in FILES for name, node in calls(file) if ast.unparse(node.func) == "click.echo"}
    assert found == {"experiments/echo.py"}
