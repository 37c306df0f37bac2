"""docs/architecture.md: every file and function on it exists, and its picture is what the code draws."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from scripts.architecture_picture import PICTURE, draw
from scripts.distributions import ROOT
from scripts.structure import CORE, parsed

PAGE = ROOT / "docs" / "architecture.md"
TEXT = PAGE.read_text("utf-8")

_PATH = re.compile(r"`((?:[\w.-]+/)*[\w.-]+(?:\.(?:py|md|json|toml|svg)|/))(?::([\w.]+))?`")
_CATCHES = re.compile(r"\| `([\w/]+)\.py:([\w.]+)` \| \S.* \|")

NAMES = sorted({(match[1], match[2] or "") for match in _PATH.finditer(TEXT)})


def _path(written: str) -> Path | None:
    """The file or folder: below ``src/tenantry`` or below the root of the repository."""
    return next((path for path in (CORE / written, ROOT / written) if path.exists()), None)


def _defined(tree: ast.AST, prefix: str = "") -> Iterator[str]:
    """The dotted name of each class, function, method, function in a function, and variable of a module or class."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}"
            yield from _defined(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (f"{prefix}{target.id}" for target in targets if isinstance(target, ast.Name))
        else:
            yield from _defined(node, prefix)


def test_every_name_exists() -> None:
    """Red when a file or a function that the page names is moved or renamed."""
    assert [path for path, _ in NAMES if _path(path) is None] == []
    named = {path: {name for other, name in NAMES if other == path and name} for path, _ in NAMES}
    for path, names in named.items():
        found = _path(path)
        if names and found is not None:
            assert names - {*_defined(ast.parse(found.read_text("utf-8")))} == set(), path


def test_the_page_has_names() -> None:
    """Control: what the test above reads."""
    assert len(NAMES) > 100
    assert _path("middleware/nothing.py") is None
    assert "A.f.g" in set(_defined(ast.parse("class A:\n def f(self):\n  def g(): pass")))


def test_every_function_of_the_page_has_its_file() -> None:
    """Red when a name is written in a way that the test above does not read."""
    loose = re.findall(r"`[^`\n]*\.py:[^`\n]*`", TEXT)
    assert [each for each in loose if not _PATH.fullmatch(each)] == []


def _layers() -> list[list[str]]:
    """The layers of import-linter, the highest first: the rooms of each."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    floors = next(each for each in tools["importlinter"]["contracts"] if each["name"] == "floors")
    return [[name.strip() for name in layer.split("|")] for layer in floors["layers"]]


def test_the_rooms_are_those_of_the_import_contract() -> None:
    """Red when a layer of pyproject.toml changes and the table does not."""
    table = TEXT.partition("| room |")[2].partition("\n\n")[0]
    rows = [row.split("|")[1] for row in table.splitlines()[2:]]
    assert [re.findall(r"`(\w+)`", row) for row in rows] == _layers()


def test_the_parts_of_a_room_exist() -> None:
    """Red when a package or module that the table of rooms names in a row is not in a room of this row."""
    table = TEXT.partition("| room |")[2].partition("\n\n")[0]
    named = 0
    for row in table.splitlines()[2:]:
        _, first, subject, _ = row.split("|")
        rooms = re.findall(r"`(\w+)`", first)
        for part in re.findall(r"`(\w+)`", subject):
            named += 1
            assert part in rooms or any(
                (CORE / room / part).with_suffix(end).exists() for room in rooms for end in ("", ".py")
            ), part
    assert named > 20


def test_every_broad_clause_is_in_the_table() -> None:
    """Red when a clause that catches every exception comes or goes. A name stands once, however many it has."""
    written = Counter(
        f"tenantry.{file.replace('/', '.').removesuffix('.__init__')}:{name.rpartition('.')[2]}"
        for file, name in _CATCHES.findall(TEXT)
    )
    found = Counter(set(parsed(CORE).broad()))
    assert written == found


def test_the_picture_is_drawn_from_the_code() -> None:
    """Red when the floors or the imports between packages change: ``python -m scripts.architecture_picture``."""
    assert PICTURE.read_text("utf-8") == draw()
