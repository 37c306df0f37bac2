"""The defaults in the tables of the docs are those of the code."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from tenantry import Resolver
from tenantry.datasources import Limits, RedisResults, ResultCache, Sharing, StreamLimits

DOCS = Path(__file__).parents[2] / "docs"
CLASSES = {each.__name__: each for each in (Limits, RedisResults, Resolver, ResultCache, Sharing, StreamLimits)}
UNITS = {None: 1, "s": 1, "MiB": 2**20, "GiB": 2**30}

_TABLE = re.compile(r"^\| \w+ of `(\w+)` \| default .*\n\|-.*\n((?:\|.*\n)+)", re.MULTILINE)
_CALLS = re.compile(r"^\| `(\w+)\((\w+)=…\)` \| ([^|]+) \|", re.MULTILINE)
_ROW = re.compile(r"^\| `(\w+)` \| ([^|`]+) \|", re.MULTILINE)
_NUMBER = re.compile(r"([\d.,]+)(?: (s|MiB|GiB))?")


def documented() -> Iterator[tuple[str, str, str]]:
    """Class, argument and default of each row."""
    for page in DOCS.glob("*.md"):
        text = page.read_text("utf-8")
        for name, table in _TABLE.findall(text):
            if name in CLASSES:
                yield from ((name, argument, default) for argument, default in _ROW.findall(table))
        yield from (row for row in _CALLS.findall(text) if row[0] in CLASSES)


def test_the_documented_defaults_are_those_of_the_code() -> None:
    """Red when a default changes and its table does not, and the other way round."""
    found = set()
    for name, argument, told in documented():
        found.add(name)
        default = inspect.signature(CLASSES[name]).parameters[argument].default
        number = _NUMBER.fullmatch(told)
        if number is None:
            assert not isinstance(default, int | float), (
                f"{name}({argument}=…): write {default} and its unit, not {told!r}"
            )
        else:
            assert default == float(number[1].replace(",", "")) * UNITS[number[2]], (name, argument)
    assert found == CLASSES.keys()
