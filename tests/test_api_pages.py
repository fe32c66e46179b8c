"""The pages of the Python interface, as `./dev docs` builds them."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DEV = (ROOT / "dev").read_text(encoding="utf-8")
# The list of modules and the function, as `./dev` has them: it would first set up .venv.
API, DOCS = re.findall(r'^API="[^"]+"|^docs\(\) .+$', DEV, flags=re.M)
MODULES = API.partition('"')[2].rstrip('"').split()


def test_the_documents_list_what_is_built():
    """docs/api.md names every module that gets a page, and no other."""
    rows = re.findall(r"^\| (`.+?) \|", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), flags=re.M)
    assert sorted(re.findall(r"`(.+?)`", " ".join(rows))) == sorted(MODULES)


@pytest.mark.full
def test_every_public_name_has_its_place(tmp_path):
    """No warning, and every name of a package's `__all__`, every public class and function has its section."""
    script = f'VENV="{sys.prefix}"\n{API}\n{DOCS}\ndocs "$1"'
    done = subprocess.run(["bash", "-c", script, "docs", tmp_path], capture_output=True, text=True, check=True)
    assert "warn" not in done.stderr.lower()
    for name in MODULES:
        page = (tmp_path / f"{name.replace('.', '/')}.html").read_text(encoding="utf-8")
        shown = set(re.findall(r'<section id="(\w+)"', page))
        assert public_names(name) <= shown, name


def public_names(name: str) -> set[str]:
    """What a module lists as its own, or else the classes and functions that are defined in it."""
    module = importlib.import_module(name)
    own = (key for key, value in vars(module).items() if getattr(value, "__module__", None) == name)
    return set(getattr(module, "__all__", None) or [key for key in own if not key.startswith("_")])
