"""The parts of both stores have the parameters of their protocols, with equal defaults, which mypy does not compare."""

from __future__ import annotations

import inspect
from typing import Any, get_type_hints

import pytest

from tenantry.backends.memory import MemoryStore
from tenantry.backends.sql import SQLStore
from tenantry.ports.store import StoreParts

PARTS: dict[str, type] = {
    name: get_type_hints(member.fget)["return"]
    for name, member in vars(StoreParts).items()
    if isinstance(member, property) and member.fget is not None
}


def parameters(kind: type, method: str) -> dict[str, Any]:
    found = inspect.signature(getattr(kind, method)).parameters
    return {name: (each.kind, each.default) for name, each in found.items()}


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("store", [MemoryStore(), SQLStore("sqlite:///never.db")], ids=["memory", "sql"])
def test_a_part_has_the_defaults_of_its_protocol(store: MemoryStore | SQLStore, name: str) -> None:
    """Red when a default differs, such as the length of a page."""
    methods = [each for each in vars(PARTS[name]) if not each.startswith("_")]
    assert methods
    for method in methods:
        assert parameters(type(getattr(store, name)), method) == parameters(PARTS[name], method), method


@pytest.mark.parametrize("name", PARTS)
def test_a_part_has_at_most_eight_members(name: str) -> None:
    """Its own and those of the protocols that it extends. Red when a ninth is added."""
    members = {each for base in PARTS[name].__mro__[:-1] for each in vars(base) if not each.startswith("_")}
    assert 3 <= len(members) <= 8, sorted(members)
