"""Identifiers that a newcomer cannot understand, and classes with the same name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.calques import counts, lowered, places, recorded
from scripts.distributions import ROOT
from scripts.structure import LONGEST, PACKAGES, Module, Package, parsed

BANNED = {
    "chrome": "layout, frame",
    "door": "endpoint, entry point, exports",
    "drawn": "rendered",
    "glance": "read, check",
    "hear": "receive, notify",
    "hearing": "subscription",
    "hush": "silence, suppress",
    "judge": "check, classify",
    "manuscript": "source page",
    "mend": "repair, fix",
    "mended": "repaired, fixed",
    "outbox": "queue",
    "room": "endpoint, capacity, margin",
    "said": "reported, printed",
    "seat": "slot, position",
    "shelf": "resources",
    "stranger": "caller, other user",
    "tell": "notify, report",
    "telling": "replication, notification",
    "told": "notified, reported",
    "verdict": "outcome, classification",
}
"""Part of an identifier -> what stands in its place. They are figures of speech: each meant several things here."""


@pytest.fixture(params=PACKAGES)
def package(request: pytest.FixtureRequest) -> Package:
    """Not parsed while tests are collected: each of their processes would parse all modules."""
    return parsed(PACKAGES[request.param])


def test_no_identifier_is_a_figure_of_speech(package: Package) -> None:
    """Modules, classes, functions, parameters, variables and attributes. Red when one of BANNED is used anew."""
    found = {
        f"{module.name}: {name} ({BANNED[part]})"
        for module in package.modules.values()
        for name in _made(module)
        for part in _parts(name)
        if part in BANNED
    }
    assert sorted(found) == []


def test_parts_of_names() -> None:
    """Control: what the test above would see."""
    assert _parts("tell_listeners") == ["tell", "listeners"]
    assert _parts("FrontDoor") == ["front", "door"]
    assert _parts("HTTPMend") == ["http", "mend"]
    tree = ast.parse("class Door:\n  def f(self, seat): self.told = (room := 1)")
    assert set(_made(Module("x.shelf", ROOT, tree, 2))) >= {"shelf", "Door", "seat", "told", "room"}


def test_exported_names_have_a_docstring(package: Package) -> None:
    """Red when a class or function in the ``__all__`` of a package, or a public method of such a class, has none."""
    assert package.undocumented() == []


def test_what_counts_as_undocumented(tmp_path: Path) -> None:
    """Control: what the test above would see. Names that no package exports, and methods that may inherit their
    docstring, need none."""
    folder = tmp_path / "example"
    folder.mkdir()
    (folder / "__init__.py").write_text('from example.made import Kind, Derived\n__all__ = ["Derived", "Kind"]\n')
    (folder / "made.py").write_text(
        "class Kind:\n  def method(self): ...\n  def _private(self): ...\n"
        'class Derived(Kind):\n  """D."""\n  def method(self): ...\n'
        "def hidden(): ...\n"
    )
    assert Package(folder).undocumented() == ["example.made.Kind", "example.made.Kind.method"]


def test_a_class_name_is_made_once(package: Package) -> None:
    """Who searches for a class finds one."""
    assert package.repeated_classes() == {}


def test_no_import_leads_back(package: Package) -> None:
    """Those inside functions count too."""
    assert package.cycles() == []


def test_no_module_is_long(package: Package) -> None:
    """A file holds one idea."""
    assert [module.name for module in package.modules.values() if module.lines > LONGEST] == []


def test_what_the_figures_would_see(tmp_path: Path) -> None:
    """Control: a class made twice, an import within a function that leads back, a module that is too long."""
    folder = tmp_path / "sample"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "low.py").write_text("class Kind: ...\ndef f():\n    from sample.high import g\n    return g\n")
    (folder / "high.py").write_text("from sample.low import f\nclass Kind: ...\ndef g(): return f\n" + "#\n" * LONGEST)
    found = Package(folder)
    assert found.repeated_classes() == {"Kind": ["sample.high", "sample.low"]}
    assert [set(cycle) for cycle in found.cycles()] == [{"sample.high", "sample.low"}]
    assert [module.name for module in found.modules.values() if module.lines > LONGEST] == ["sample.high"]


def _made(module: Module) -> Iterator[str]:
    yield from module.name.split(".")[1:]
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def _parts(name: str) -> list[str]:
    return [part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def test_calques_only_become_fewer() -> None:
    """Phrases that no native engineer writes, such as "a text" for a string. Red when one is written anew, and when a
    rewrite leaves the record too high. ``python -m scripts.calques`` prints the places."""
    found, record = counts(), recorded()
    new = {
        f"{room}: {name}"
        for room, each in found.items()
        for name, count in each.items()
        if count > record.get(room, {}).get(name, 0)
    }
    assert new == set(), "write plain English (scripts/calques.py says what), or run --update after a move"
    assert found == record, "run: python -m scripts.calques --update"


def test_what_is_a_calque() -> None:
    """Control: phrases that wrap are found; the record of a calque rises in a room only when another room has fewer."""
    assert [*places("x = 1\n# it is of\n# its own\n")] == [(2, "of its own")]
    assert [*places('"""A write under\n    way; a text file."""')] == [(1, "under way")]
    assert lowered({"a": {"mend": 2}}, {"a": {"mend": 3, "beside": 1}}) == '{\n  "a": {"mend": 2}\n}\n'
    assert lowered({"a": {"mend": 2}}, {"a": {"mend": 1}}) == '{\n  "a": {"mend": 1}\n}\n'
    assert lowered({"a": {"mend": 2}}, {"a": {}, "b": {"mend": 1}}) == '{\n  "a": {},\n  "b": {"mend": 1}\n}\n'
