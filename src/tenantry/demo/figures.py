"""Figure: one key figure, with its change against the period before in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FigureChange:
    """How a figure moved: ``amount`` (never negative), in ``format``, and the words after it. ``tone`` is a class."""

    amount: float
    format: str
    words: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """``value`` None: there is nothing to show. ``format`` is one of formats.FORMATS."""

    title: str
    value: float | None
    format: str
    unit: str = ""
    change: FigureChange | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """What is said of a column of key_figures.sql. ``more`` and ``less`` are (words, tone) for the two directions."""

    column: str
    title: str
    format: str
    more: tuple[str, str]
    less: tuple[str, str]
    unit: str = ""
    relative: bool = False
    points: bool = False


KINDS = (
    Kind("flights", "Flights", "integer", ("more", ""), ("fewer", ""), relative=True),
    Kind("on_time_share", "On time", "percent", ("points better", "good"), ("points worse", "bad"), points=True),
    Kind("mean_delay", "Mean departure delay", "decimal", ("min longer", "bad"), ("min shorter", "good"), unit="min"),
    Kind("cancelled_share", "Cancelled", "percent", ("points more", "bad"), ("points fewer", "good"), points=True),
)


def figures(now: Row, before: Row | None) -> list[Figure]:
    """The key figures of a period; without ``before``, or with no flights in it, they have no change."""
    known = before if before is not None and before["flights"] else None
    return [
        Figure(kind.title, now[kind.column], kind.format, kind.unit, _change(kind, now, known) if known else None)
        for kind in KINDS
    ]


def _change(kind: Kind, now: Row, before: Row) -> FigureChange | None:
    new, old = now[kind.column], before[kind.column]
    if new is None or old is None:
        return None
    moved = (new - old) / old if kind.relative else (new - old) * (100 if kind.points else 1)
    style = "percent" if kind.relative else "decimal"
    if round(abs(moved) * (100 if kind.relative else 1), 1) == 0:
        return FigureChange(0, "", "no change")
    words, tone = kind.more if moved > 0 else kind.less
    return FigureChange(abs(moved), style, words, tone)
