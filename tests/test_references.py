"""Files that pages and comments name, and names that the docstrings of tests call a defence, exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from scripts.distributions import DISTRIBUTIONS, ROOT

PACKAGES = [folder / "src" for folder in DISTRIBUTIONS.values()] + [ROOT / "frontend"]
OTHERS = [ROOT / name for name in ("engines", "scripts", "benchmarks", "examples", "requirements", "docs")]
TESTS = [folder / "tests" for folder in DISTRIBUTIONS.values()]

_NAMED_FILE = re.compile(r"(?<![\w/*.<>{}$-])(?<!python )((?:[\w.-]+/)*\w+\.py)\b(?!\()")
_MADE_BY_PAGE = re.compile(r'(?:title="|cat > )(\w+\.py)')
_DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
_CODE = re.compile(r"(?<!`)``?([A-Za-z_][\w.]*\w)(?:\(\))?``?(?!`)")
FOREIGN = {"http_req_rate", "increase", "xml.sax.saxutils"}
"""Names of HAProxy, Prometheus and Python."""


def _texts(folders: list[Path], *endings: str) -> Iterator[tuple[Path, str]]:
    for folder in folders:
        for file in folder.rglob("*"):
            if file.suffix in endings and not {"node_modules", "bundles"} & set(file.parts):
                yield file, file.read_text("utf-8")


def _pages() -> Iterator[tuple[Path, str]]:
    """Without decisions, which may name what is gone."""
    for file in [*(folder / "README.md" for folder in DISTRIBUTIONS.values()), ROOT / "CONTRIBUTING.md"]:
        yield file, file.read_text("utf-8")
    for file, text in _texts([ROOT / "docs"], ".md"):
        if file.parent.name != "decisions":
            yield file, text


def _missing(text: str, existing: set[str]) -> set[str]:
    return set(_NAMED_FILE.findall(text)) - set(_MADE_BY_PAGE.findall(text)) - existing


def test_every_named_file_exists() -> None:
    """In pages, and in comments of the packages and the frontend. Red when a page or a module still has the old name
    of a Python file that was renamed."""
    files = [file.relative_to(ROOT).parts for file, _ in _texts([*PACKAGES, *OTHERS, *TESTS], ".py")]
    existing = {"/".join(parts[start:]) for parts in files for start in range(len(parts))} | {"hatch_build.py"}
    named = [*_pages(), *_texts(PACKAGES, ".py", ".js")]
    found = {file.relative_to(ROOT).as_posix(): _missing(text, existing) for file, text in named}
    assert {file: names for file, names in found.items() if names} == {}


def test_what_counts_as_missing() -> None:
    """Control: what the test above would see. A page may name a file that it makes, or that its reader has."""
    text = '`test_old.py`, `made.py:f`, x/new.py\n```python title="made.py"\n```\n$ python own.py\n'
    assert _missing(text, {"x/new.py"}) == {"test_old.py"}


def _defences(text: str) -> Iterator[str]:
    """The names in backticks after "Red", in the docstrings of a module."""
    for docstring in _DOCSTRING.findall(text):
        yield from _CODE.findall(docstring.partition("Red")[2])


def test_every_defence_exists() -> None:
    """The docstring of a test says what was broken once to see it fail. Red when the function that it names is renamed
    or removed: nobody could break it again."""
    tests = dict(_texts(TESTS, ".py"))
    code = [text for _, text in _texts([*PACKAGES, *OTHERS], ".py", ".js", ".css", ".html", ".md", ".conf", ".yml")]
    words = set(re.findall(r"\w+", "\n".join([*code, *(_DOCSTRING.sub("", text) for text in tests.values())])))
    named = {(file.name, name) for file, text in tests.items() for name in _defences(text)}
    assert len(named) > 300
    assert {each for each in named if each[1] not in FOREIGN and not set(each[1].split(".")) <= words} == set()


def test_what_is_a_defence() -> None:
    """Control: what the test above would see."""
    assert [*_defences('"""``a`` holds. Red without ``b.c()``, and when `DE` does."""\n"""``e``"""')] == ["b.c", "DE"]
