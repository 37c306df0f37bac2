"""Shape: a schema as a reader is shown it: references followed, ``allOf`` merged, cut where it would have no end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

ABSENT: Final[Any] = object()
"""Stands for a default, a constant or an example that is not given: null is a value like any other."""


@dataclass(frozen=True, slots=True)
class Field:
    """A property of an object. ``name`` is its key, or says what keys are meant."""

    name: str
    shape: Shape
    required: bool = False


@dataclass(frozen=True, slots=True)
class Shape:
    """``type`` is in words (``array of strings``), ``kind`` the JSON type or empty, ``name`` the reference's.

    ``fields`` are an object's properties; ``extra`` the shape of all others, if anything is said.
    ``items`` is an array's. ``alternatives`` are those of ``oneOf`` or ``anyOf``, with ``choice`` as their heading.
    ``recursive``: the schema is one of those that it stands in, and is not drawn again. ``constraints`` are words;
    ``pattern`` is apart because it is code; ``least`` is the least number above 0 that is allowed.
    """

    type: str = "any"
    kind: str = ""
    name: str = ""
    title: str = ""
    description: str = ""
    format: str = ""
    constraints: tuple[str, ...] = ()
    pattern: str = ""
    least: int | float | None = None
    enum: tuple[Any, ...] = ()
    const: Any = ABSENT
    default: Any = ABSENT
    example: Any = ABSENT
    fields: tuple[Field, ...] = ()
    extra: Shape | None = None
    closed: bool = False
    items: Shape | None = None
    choice: str = ""
    alternatives: tuple[Shape, ...] = ()
    discriminator: str = ""
    nullable: bool = False
    deprecated: bool = False
    read_only: bool = False
    write_only: bool = False
    recursive: bool = False

    @property
    def nested(self) -> bool:
        """Whether there is more to show of it than one line."""
        inner = self.items
        while inner is not None and inner.items is not None:
            inner = inner.items
        told = self.extra is not None and (self.extra.type != ANY.type or self.extra.description)
        return bool(self.fields or self.alternatives or told or (inner is not None and inner.nested))


ANY: Final = Shape()
NOTHING: Final = Shape(type="nothing")
