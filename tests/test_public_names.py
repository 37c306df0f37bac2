"""The public names, and the laws of the tree that no linter checks."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import tenantry

SOURCES = Path(tenantry.__file__).parent
HEAVY = ("alembic", "asyncpg", "psycopg", "click", "duckdb", "fastapi", "httpx2", "jinja2", "pydantic", "pymysql",
         "redis", "sqlalchemy", "starlette", "uvicorn")  # fmt: skip
MOST_LINES = 350
FACADES = {"tenantry.sql.inspect", "tenantry.tokens.minting"}
"""Modules that other rooms may import although they are no packages."""


def _loaded(code: str) -> set[str]:
    words = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_import_loads_no_driver_and_no_framework() -> None:
    """``import tenantry`` is cheap for a host. Red when the package imports a module of a name at once."""
    assert _loaded("import tenantry").isdisjoint(HEAVY)


@pytest.mark.parametrize(
    ("name", "without"),
    [
        ("user_group, variables", HEAVY),
        ("Resolver, UserGroupMiddleware, SigningKeys", ("sqlalchemy", "pydantic", "jinja2", "starlette", "duckdb")),
        ("HTMLTemplate", ("sqlalchemy", "starlette", "pydantic")),
    ],
)
def test_a_name_loads_only_what_it_needs(name: str, without: tuple[str, ...]) -> None:
    """Who mounts the middleware on a backend of their own loads no SQL toolkit."""
    assert _loaded(f"from tenantry import {name}").isdisjoint(without)


def test_sql_templates_need_no_driver() -> None:
    """Binding is pure."""
    assert _loaded("from tenantry.sql import SQLTemplate").isdisjoint(set(HEAVY))


def test_every_public_name_is_there() -> None:
    """And ``dir(tenantry)`` shows it."""
    assert [name for name in tenantry.__all__ if getattr(tenantry, name) is None] == []
    assert set(tenantry.__all__) <= set(dir(tenantry))


def _modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(SOURCES.rglob("*.py")):
        yield path, ast.parse(path.read_text("utf-8"))


def test_a_type_checker_sees_what_is_loaded() -> None:
    """A type checker sees the names and modules of each table of lazy exports, and no ``__getattr__``, with which every
    misspelt name would pass.

    Red when a table leaves a name out or gives it another module, and when the table is for the type checker too.
    """
    lazy = 0
    for path, tree in _modules():
        if path.name != "__init__.py" or "lazy_exports" not in path.read_text("utf-8"):
            continue
        lazy += 1
        loaded = import_module(".".join(path.relative_to(SOURCES.parent).parent.parts))
        (seen,) = [line for line in tree.body if isinstance(line, ast.If)]
        declared = {
            name.name: str(each.module) for each in seen.body if isinstance(each, ast.ImportFrom) for name in each.names
        }
        (call,) = [each for line in seen.orelse for each in ast.walk(line) if isinstance(each, ast.Call)]
        table: dict[str, str] = ast.literal_eval(call.args[1])
        assert {name: module for module, names in table.items() for name in names.split()} == declared, path
        assert all(getattr(loaded, name) is getattr(import_module(module), name) for name, module in declared.items())
        for_all = [line for line in tree.body if line is not seen]
        assert not any("__getattr__" in ast.unparse(line) for line in for_all + seen.body)
    assert lazy > 2


@pytest.mark.parametrize("package", ["tenantry", "tenantry.testing"])
def test_dir_lists_the_public_names(package: str) -> None:
    """Lazy names too, before their first use."""
    loaded = import_module(package)
    assert set(dir(loaded)) == set(loaded.__all__)


def _deep_imports(path: Path, tree: ast.Module) -> Iterator[str]:
    """The imports of a module that reach past the ``__init__`` of another room."""
    room = path.relative_to(SOURCES).parts[0].removesuffix(".py")
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (
                each.name for each in node.names if each.name.count(".") > 1 and each.name.startswith("tenantry.")
            )
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tenantry."):
            module = str(node.module)
            other = module.split(".")[1]
            names = [f"{module}.{each.name}" for each in node.names]
            if other != room and module not in FACADES:
                yield from (name for name in [*({module} if module.count(".") > 1 else ()), *names] if _is_file(name))


def _is_file(name: str) -> bool:
    return SOURCES.joinpath(*name.split(".")[1:]).with_suffix(".py").is_file()


def test_rooms_import_each_other_by_a_package() -> None:
    """A file may move within its room unnoticed by other rooms: the ``__init__`` of its package exports their names.

    Red with ``from tenantry.sql.source import Source`` in ``dashboards``."""
    assert {str(path): deep for path, tree in _modules() if (deep := [*_deep_imports(path, tree)])} == {}
    outside = SOURCES / "dashboards" / "folder.py"
    for line, found in {
        "from tenantry.sql.source import Source": ["tenantry.sql.source"],
        "from tenantry.sql import source": ["tenantry.sql.source"],
        "def f():\n  import tenantry.sql.source": ["tenantry.sql.source"],
        "from tenantry.dashboards.frame import page": [],
        "from tenantry.sql.inspect import lex": [],
        "from tenantry.tokens.keys import SigningKeys": [],
    }.items():
        assert [*_deep_imports(outside, ast.parse(line))] == found


def test_public_functions_are_not_hidden_by_submodules() -> None:
    """``from tenantry import variables`` stays a function when everything is loaded. Red with a module variables.py."""
    modules = {path.stem for path in SOURCES.iterdir() if path.suffix == ".py" or path.is_dir()}
    functions = {name for name in tenantry.__all__ if inspect.isfunction(getattr(tenantry, name))}
    assert functions
    assert functions.isdisjoint(modules)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """As for any module."""
    with pytest.raises(AttributeError, match="nonsense"):
        tenantry.nonsense  # noqa: B018  # asking is the test


def test_one_file_one_noun() -> None:
    """A file that grows beyond what a reader holds in mind has more than one noun in it. It begins with what it is."""
    for path in sorted(SOURCES.rglob("*.py")):
        text = path.read_text("utf-8")
        assert len(text.splitlines()) <= MOST_LINES, path
        assert text.startswith(('"""', "# ", "from")) or not text.strip(), path
        assert not any(word in path.stem for word in ("util", "helper", "common", "misc")), path


def test_the_tree_holds_no_registry_address() -> None:
    """Lock files and sources name no host to download from."""
    root = SOURCES.parents[1]
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=False).stdout
    marks = ["registry." + "npmjs", "files.python" + "hosted", "pypi." + "org", "--index" + "-url"]
    for name in filter(None, listed.split("\0")):
        path = root / name
        if path.is_file() and path.suffix not in {".gz", ".png"}:
            text = path.read_text("utf-8", errors="replace")
            assert not any(mark in text for mark in marks), name
