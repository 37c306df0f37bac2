"""The public names of the site, and the laws of its files that no linter checks."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import tenantry_site

SOURCES = Path(tenantry_site.__file__).parent
HEAVY = ("click", "h11", "jinja2", "markdown_it", "nh3", "pydantic", "pygments", "starlette", "uvicorn", "yaml")
MOST_LINES = 350


def loaded_by(code: str) -> set[str]:
    command = [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_import_loads_no_library() -> None:
    """Red when the package imports a module of a name at once."""
    assert loaded_by("import tenantry_site").isdisjoint(HEAVY)


def test_reading_a_configuration_needs_no_markdown_and_no_server() -> None:
    needless = {"markdown_it", "nh3", "pygments", "starlette", "h11", "uvicorn", "tenantry"}
    assert loaded_by("from tenantry_site import load, loads, json_schema").isdisjoint(needless)


def test_a_type_checker_sees_what_is_loaded() -> None:
    """Red when the table leaves a name out or gives it another module, and when the checker sees the table."""
    lines = ast.parse(Path(tenantry_site.__file__).read_text("utf-8")).body
    (seen,) = [line for line in lines if isinstance(line, ast.If)]
    modules = {
        name.name: each.module or "" for each in seen.body if isinstance(each, ast.ImportFrom) for name in each.names
    }
    assert modules
    assert all(getattr(tenantry_site, name) is getattr(import_module(home), name) for name, home in modules.items())
    assert set(modules) == set(tenantry_site.__all__) == set(dir(tenantry_site))
    assert not any("__getattr__" in ast.unparse(line) for line in [each for each in lines if each is not seen])


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        tenantry_site.nonsense  # noqa: B018  # asking is the test


def test_a_file_holds_one_idea() -> None:
    """A file that grows beyond what a reader holds in mind has more than one idea in it. It begins with what it is."""
    for path in sorted(SOURCES.rglob("*.py")):
        text = path.read_text("utf-8")
        assert len(text.splitlines()) <= MOST_LINES, path
        assert text.startswith(('"""', "# ", "from")) or not text.strip(), path
        assert not any(word in path.stem for word in ("util", "helper", "common", "misc")), path
