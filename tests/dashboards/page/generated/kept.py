"""Small data sets of which a page once said or drew something wrong; the same checks find each of these faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.dashboards.page.generated.data import Case, case
from tests.dashboards.page.stand_in import Message, rows

LONG = "what was promised to the board in spring"
DAYS = [f"2026-03-{day:02}" for day in range(1, 10)]


def _drawn(name: str, kind: str, view: Message, columns: dict[str, str], *lines: Sequence[Any]) -> Case:
    measure: Any = "v" if kind in {"donut", "scatter", "heatmap"} else ["v"]
    return Case(name, 0, {"kind": kind, kind: measure, "by": "x"} | view, columns, [list(line) for line in lines], {})


def _line(name: str, view: Message, *values: Any, type_: str = "float") -> Case:
    lines = [list(pair) for pair in zip(DAYS, values, strict=False)]
    return _drawn(name, "line", view, {"x": "date", "v": type_}, *lines)


def _figure(name: str, view: Message, value: Any, before: Any = None, type_: str = "float") -> Case:
    more = {} if before is None else {"compare": rows({"v": type_}, [before])}
    return Case(name, 0, {"kind": "figure", "figure": "v"} | view, {"v": type_}, [[value]], more)


def _lying(name: str, view: Message, columns: dict[str, str], *lines: Sequence[Any]) -> Case:
    return _drawn(name, "bar", {"horizontal": True} | view, columns, *lines)


ENDS: list[list[Any]] = [
    ["2000-01-01", "p", None],
    ["2000-01-01", "q", 693],
    ["2000-04-01", "p", None],
    ["2000-04-01", "q", 6.5e8],
]
NAMED = {"x": "text", "v": "float"}
SPLIT = {"x": "text", "s": "text", "v": "float"}
TIMED = {"x": "datetime", "v": "integer"}

KEPT: list[Case] = [
    _line("an axis of days and hours", {"format": "duration"}, 1_000, 163_128),
    _line("an axis within an hour of two days", {"format": "duration"}, 190_000, 196_000),
    _line("an axis of parts of a second", {"format": "duration"}, 0.2, 0.9),
    _line("an axis of bytes", {"format": "bytes"}, 1.2e12, 9e11),
    _line("an axis without bytes", {"format": "bytes"}, 0, 0),
    _line("a compact axis", {"format": "compact"}, 500, -1_900),
    _line("gaps", {}, 4, None, 6, 5, None, 7),
    _line("a long name of a reference", {"reference": {"value": 15, "label": LONG}}, 1, 20),
    _line("a reference at 0", {"reference": {"value": 0, "label": ""}}, 1.0, 20.0),
    _figure("a few seconds", {"format": "duration"}, 1.4),
    _figure("a day and more", {"format": "duration"}, 111_577),
    _figure("a small double", {}, 0.0051),
    _figure("a change of huge ones", {}, 1e300, -5.5e300),
    _figure("a change of tiny ones", {}, 4.6e-7, 3.7e-11),
    _figure(
        "a change of many digits", {}, "-81448656907908420798713118.77", "-52683095007565083436954421.5", "decimal"
    ),
    _figure("a long unit", {"unit": "thousand tonnes of CO2 per year"}, 97_812_777.4),
    _lying("short durations", {"format": "duration"}, NAMED, *[[f"n{n}", -38_795 - n * 10_000] for n in range(4)]),
    _lying("names that begin alike", {}, NAMED, *[[f"Very long name of a product, edition {n}", n] for n in (1, 2, 3)]),
    _lying(
        "a sum below nought beside what is more",
        {"stack": "sum", "color": "s", "format": "currency"},
        SPLIT,
        *[["a", "p", -4e9], ["a", "q", 1e9], ["b", "p", -9e9], ["b", "q", 2e8]],
    ),
    _drawn("a day that is none", "bar", {}, NAMED, ["2026-02-30", 7]),
    _drawn("the key of the rest", "bar", {"color": "s"}, SPLIT, *[["a", s, n] for n, s in enumerate("…bcdefghij")]),
    _drawn(
        "the same month of three years",
        "heatmap",
        {"rows": "y", "diverging": False},
        {"x": "date", "y": "text", "v": "integer"},
        *[[f"{year}-05-01", "a", year] for year in (1999, 2000, 2001)],
    ),
    _drawn("bars of seconds", "bar", {}, TIMED, *[[f"2026-03-01T10:00:{n * 10:02}", n] for n in range(1, 6)]),
    _drawn(
        "times out of order",
        "bar",
        {},
        TIMED,
        *[["2026-03-04T04:14:00", 4], ["2026-03-01T07:01:00", 1], ["2026-03-03T01:57:00", 3]],
    ),
    _lying(
        "times of one day",
        {},
        {"x": "datetime", "v": "integer"},
        *[[f"2016-11-15T{hour:02}:30:00", 10_000_000 + hour] for hour in (10, 11, 12)],
    ),
    _lying(
        "names of one kind",
        {},
        NAMED,
        *[[f"Customer {name} of the northern region", amount] for name, amount in ((1, -5e7), (2, 5e7), (3, 5e7))],
    ),
    _drawn("a whole of 30 digits", "donut", {}, {"x": "text", "v": "decimal"}, *[[name, "1" * 30] for name in "abc"]),
    _drawn("a line of seconds", "line", {}, TIMED, *[[f"2026-03-01T10:00:{n * 10:02}", n] for n in range(6)]),
    _drawn(
        "a line of nights",
        "line",
        {},
        TIMED,
        *[[f"2026-03-0{day}T03:00:00", day] for day in range(1, 8)],
    ),
    _drawn(
        "names at the ends of lines and a reference below",
        "line",
        {"color": "s", "reference": {"value": 1e6, "label": LONG}},
        {"x": "date", "s": "text", "v": "float"},
        *ENDS,
    ),
    _drawn(
        "names at the ends of lines at the top and the bottom",
        "line",
        {"color": "s"},
        {"x": "date", "s": "text", "v": "integer"},
        *[[day, name, value] for day in DAYS[:2] for name, value in zip("pqrst", (1000, 1, 2, 3, 4), strict=True)],
    ),
    _drawn(
        "large points at the edge",
        "scatter",
        {"size": "v"},
        {"x": "date", "v": "integer"},
        *[[day, 90] for day in DAYS],
    ),
    _drawn("long names below points", "scatter", {}, NAMED, *[["x" * 120 + str(n), n] for n in range(3)]),
    _drawn(
        "many rows",
        "heatmap",
        {"rows": "y", "diverging": False},
        {"x": "text", "y": "date", "v": "integer"},
        *[["a", f"{2000 + n // 12}-{n % 12 + 1:02}-01", n] for n in range(60)],
    ),
    case("heatmap", 294),  # two names were cut to the same text
    case("lying", 33),  # and two times
    case("donut", 235),  # a slice that is nearly the ring
]
