"""Generated data sets for each kind of panel: the same seed makes the same rows."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

from tests.dashboards.page.generated.columns import FLAVOURS, along, amounts, names, sizes, times
from tests.dashboards.page.stand_in import Message, rows

Made = tuple[Message, dict[str, str], list[list[Any]], Message]
"""The view of a panel, the columns, the rows, and what the answer has besides."""


MOST_PLACES = 1_500
"""Of bars in time that are filled. A page draws twenty thousand, and leaves out more (test_true_times.py)."""

once = functools.lru_cache(maxsize=512)
"""For a function of a case: each case of a page is checked at several widths."""


@dataclass(frozen=True, eq=False)
class Case:
    """One panel. ``columns``: name -> type. ``more``: what the answer has besides its rows."""

    kind: str
    seed: int
    view: Message
    columns: dict[str, str]
    lines: list[list[Any]]
    more: Message

    @property
    def panel(self) -> Message:
        return self.view | {"title": self.name, "answer": rows(self.columns, *self.lines, **self.more)}

    @property
    def name(self) -> str:
        return f"{self.kind} {self.seed}"

    def values(self, column: str) -> list[Any]:
        place = list(self.columns).index(column)
        return [line[place] for line in self.lines]


def case(kind: str, seed: int) -> Case:
    random = Random(f"{kind} {seed}")
    view, columns, lines, more = KINDS[kind](random)
    return Case(kind, seed, view, columns, lines, more)


def referred(random: Random, view: Message) -> Message:
    """Sometimes with a reference line."""
    label = random.choice(["target", "", "what was promised to the board in spring"])
    return view | random.choice(
        [{}, {}, {"reference": {"value": random.choice([0, 15, -2.5, 1e6, 0.5]), "label": label}}]
    )


def ordered(random: Random, view: Message) -> Message:
    """Sometimes in another order than that of the rows, and only some of them."""
    order = random.choice([{}, {}, {"sort": random.choice(["largest", "smallest", "name"])}])
    return view | order | random.choice([{}, {}, {"limit": random.choice([1, 3, 10])}])


def in_period(random: Random, made: Made) -> Made:
    """Sometimes within a period that is not over, as a range of the page says it: its ends are cut off."""
    view, columns, lines, more = made
    days = sorted(str(line[0])[:10] for line in lines)
    if not days or columns["x"] not in {"date", "datetime"} or random.random() < 0.5:
        return made
    first = str(date.fromisoformat(days[0]) - timedelta(days=random.choice([0, 3, 40])))
    last = str(date.fromisoformat(days[-1]) + timedelta(days=random.choice([0, 2, 50])))
    now = random.choice([days[-1], days[len(days) // 2], last])
    period = {"whole": {"start": first, "end": last}, "shown": {"start": first, "end": last}}
    return view, columns, lines, {**more, "now": f"{now}T12:00:00", "periods": period}


# --- kinds ------------------------------------------------------------------------------------------------------------


def _listed(*columns: list[Any]) -> list[list[Any]]:
    return [list(line) for line in zip(*columns, strict=True)]


def _one(random: Random, kind: str, view: Message, *, x: tuple[str, list[Any]], signed: bool = True) -> Made:
    """One measure, in any order of rows."""
    found = amounts(random, len(x[1]), signed=signed)
    lines = _listed(x[1], found.values)
    if random.random() < 0.2:
        random.shuffle(lines)
    measure: Any = "v" if kind in {"donut", "scatter"} else ["v"]
    return {"kind": kind, kind: measure, "by": "x"} | found.view | view, {"x": x[0], "v": found.type}, lines, {}


def _several(random: Random, kind: str, view: Message, *, x: tuple[str, list[Any]], signed: bool = True) -> Made:
    """A measure of several series, of which some lack some places."""
    series = names(random, random.choice([1, 2, 3, 5, 8, 14]))
    there = random.choice([1, 1, 0.8, 0.3])
    pairs = [[at, each] for at in x[1] for each in series if random.random() < there]
    found = amounts(random, len(pairs), signed=signed)
    lines = [[*pair, value] for pair, value in zip(pairs, found.values, strict=True)]
    columns = {"x": x[0], "s": "text", "v": found.type}
    return {"kind": kind, kind: ["v"], "by": "x", "color": "s"} | found.view | view, columns, lines, {}


def _measures(random: Random, kind: str) -> Made:
    """Two measures of one flavour."""
    x = along(random, sizes(random, 30))
    flavour = random.choice(list(FLAVOURS))
    first, second = (amounts(random, len(x[1]), only=(flavour,)) for _ in range(2))
    columns = {"x": x[0], "first_measure": first.type, "second": second.type}
    view = {"kind": kind, kind: ["first_measure", "second"], "by": "x"}
    return view | first.view, columns, _listed(x[1], first.values, second.values), {}


def _figure(random: Random) -> Made:
    found = amounts(random, 2)
    now, before = found.values
    more: Message = {}
    if random.random() < 0.6:
        more["compare"] = rows({"v": found.type}, [before])
    if random.random() < 0.6:
        kind, moments = times(random, sizes(random, 40))
        line = amounts(random, len(moments))
        more["sparkline"] = rows({"d": kind, "v": line.type}, *_listed(moments, line.values))
    view = {"kind": "figure", "figure": "v"} | found.view | random.choice([{}, {"unit": "per customer"}])
    return view, {"v": found.type}, [[now]], more


def _table(random: Random) -> Made:
    count = sizes(random, 30)
    first, second = amounts(random, count), amounts(random, count)
    kind, moments = times(random, count)
    columns = {"name": "text", "at": kind, "v": first.type, "w": second.type}
    shown: list[Message] = [{"name": "name"}, {"name": "at"}, {"name": "v", "bar": True, **_of_cells(first.view)}]
    shown.append({"name": "w", "bar": random.random() < 0.5, **_of_cells(second.view)})
    lines = _listed(names(random, count), moments, first.values, second.values)
    return {"kind": "table", "columns": shown}, columns, lines, {"total": count}


def _of_cells(view: Message) -> Message:
    return {key: value for key, value in view.items() if key != "unit"}


def _heatmap(random: Random) -> Made:
    across, down = along(random, sizes(random, 26)), along(random, sizes(random, 12))
    there = random.choice([1, 1, 0.7])
    pairs = [[one, other] for one in across[1] for other in down[1] if random.random() < there]
    found = amounts(random, len(pairs))
    lines = [[*pair, value] for pair, value in zip(pairs, found.values, strict=True)]
    view = {"kind": "heatmap", "heatmap": "v", "by": "x", "rows": "y", "diverging": random.random() < 0.3}
    return view | found.view, {"x": across[0], "y": down[0], "v": found.type}, lines, {}


def _scatter(random: Random) -> Made:
    x = along(random, sizes(random))
    view, columns, lines, more = _one(random, "scatter", {}, x=x)
    size = amounts(random, len(lines), only=("counts", "money"))
    columns["size"] = size.type
    lines = [[*line, value] for line, value in zip(lines, size.values, strict=True)]
    return view | random.choice([{}, {"size": "size"}]) | random.choice([{}, {"color": "x"}]), columns, lines, more


def _time_bars(random: Random) -> Made:
    """Sometimes with a bar of 0 where there is no row, unless these are thousands, which show no more than hundreds."""
    made = in_period(random, _one(random, "bar", {"fill": random.choice([0, None])}, x=times(random, sizes(random))))
    view, columns, lines, more = made
    return (view | {"fill": None}, columns, lines, more) if _places(made) > MOST_PLACES else made


def _places(made: Made) -> float:
    """How many steps lie between the first time of day, or the start of the period, and the last one."""
    _, columns, lines, more = made
    if columns["x"] != "datetime":
        return 0
    at = sorted(datetime.fromisoformat(line[0]).replace(tzinfo=None) for line in lines)
    step = math.gcd(*(int((two - one).total_seconds()) for one, two in pairwise(at)))
    period = more.get("periods", {}).get("shown")
    first = datetime.fromisoformat(period["start"]) if period else at[0]
    last = datetime.fromisoformat(period["end"]) + timedelta(days=1) if period else at[-1]
    return (last - first).total_seconds() / (step or math.inf)


def _line(random: Random) -> Made:
    return in_period(random, _one(random, "line", referred(random, {}), x=along(random, sizes(random))))


def _bar(random: Random) -> Made:
    return _one(random, "bar", ordered(random, referred(random, {})), x=along(random, sizes(random, 40)))


def _repeated(random: Random) -> Made:
    """Several rows for a bar, of values that are added or not, standing or lying."""
    count = sizes(random, 12)
    kind, places = along(random, count)
    x = [random.choice(places) for _ in range(count * 3)] if places else []
    aggregate = random.choice(["sum", "mean", "max", "none"])
    view = ordered(random, {"aggregate": aggregate} | random.choice([{}, {"horizontal": True}]))
    return _one(random, "bar", view, x=(kind, x))


def _lying(random: Random, stack: Message, most: int) -> Made:
    view = ordered(random, {"horizontal": True} | stack)
    return _several(random, "bar", view, x=along(random, sizes(random, most)))


def _donut(random: Random) -> Made:
    return _one(random, "donut", ordered(random, {}), x=("text", names(random, sizes(random, 20))))


def _of_series(kind: str, stack: Message, most: int) -> Callable[[Random], Made]:
    return lambda random: _several(random, kind, stack, x=along(random, sizes(random, most)))


KINDS: dict[str, Callable[[Random], Made]] = {
    "figure": _figure,
    "table": _table,
    "line": _line,
    "lines": lambda random: _several(random, "line", referred(random, {}), x=along(random, sizes(random, 30))),
    "measures": lambda random: _measures(random, "line"),
    "area": lambda random: _one(random, "area", referred(random, {}), x=along(random, sizes(random))),
    "area-sum": _of_series("area", {"stack": "sum"}, 30),
    "area-share": _of_series("area", {"stack": "share"}, 30),
    "bar": _bar,
    "bars": _of_series("bar", {}, 12),
    "bar-time": _time_bars,
    "bar-sum": _of_series("bar", {"stack": "sum"}, 20),
    "bar-share": _of_series("bar", {"stack": "share"}, 20),
    "bar-repeated": _repeated,
    "lying": lambda random: _one(
        random, "bar", ordered(random, referred(random, {"horizontal": True})), x=along(random, sizes(random, 30))
    ),
    "lyings": lambda random: _lying(random, {}, 8),
    "lying-sum": lambda random: _lying(random, {"stack": "sum"}, 12),
    "donut": _donut,
    "heatmap": _heatmap,
    "scatter": _scatter,
}
