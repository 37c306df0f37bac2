"""Generated data sets for each kind of panel: the same seed makes the same rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from tests.dashboards.page.stand_in import Message, rows

ZONES = ("America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Europe/Berlin", "Pacific/Auckland")
NAMES = (
    *("EWR", "A", "North", "north", "", "0", "1", "constructor", "__proto__", "2026-02-30"),
    *("Very long name of a product line, second edition", "Donaudampfschifffahrtsgesellschaftskapitänsmützen"),
    *(
        "東京都千代田区丸の内一丁目",
        "مبيعات الربع الأول",
        "👩‍👩‍👧‍👦 families",
        "<b>bold</b>",
        "a & b",
        "…",
        "x" * 120,
        "ἈΩ",
    ),
    *("Customer 1 of the northern region", "Customer 2 of the northern region", "Customer 3 of the northern region"),
    *("100 %", "$5", "WWWWWWWWWW", "iiiiiiiiii", "New\nline", " padded ", "Q1", "Q2", "Q3", "Q4", "Other", "Other (3)"),
)
"""Values of a column of names: short, long, of other scripts, alike, and such that a careless program mistakes."""


Made = tuple[Message, dict[str, str], list[list[Any]], Message]
"""The view of a panel, the columns, the rows, and what the answer has besides."""


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Amounts:
    """A column of numbers. ``view``: what an author says of them."""

    type: str
    values: list[Any]
    view: Message


def case(kind: str, seed: int) -> Case:
    random = Random(f"{kind} {seed}")
    view, columns, lines, more = KINDS[kind](random)
    return Case(kind, seed, view, columns, lines, more)


# --- columns ----------------------------------------------------------------------------------------------------------


def _decimal(random: Random, digits: int, scale: int) -> str:
    text = str(random.randrange(10**digits)).rjust(scale + 1, "0")
    return f"{text[:-scale]}.{text[-scale:]}" if scale else text


FLAVOURS: dict[str, tuple[str, Callable[[Random], Any], Message]] = {
    "counts": ("integer", lambda random: random.randrange(1000), {}),
    "large counts": ("integer", lambda random: random.randrange(10**7), {}),
    "beyond doubles": ("integer", lambda random: str(2**53 + random.randrange(10**17)), {}),
    "floats": ("float", lambda random: random.uniform(0, 100), {}),
    "far apart": ("float", lambda random: 10 ** random.uniform(-4, 9), {}),
    "near one another": ("float", lambda random: 1e6 + random.random(), {}),
    "huge": ("float", lambda random: random.choice([1e300, 3.5e299, 8e299, 1.7e301]), {}),
    "tiny": ("float", lambda random: 10 ** random.uniform(-12, -5), {}),
    "long decimals": ("decimal", lambda random: _decimal(random, 38, 10), {}),
    "zeros": ("integer", lambda random: 0, {}),
    "equal": ("float", lambda random: 7.25, {}),
    "money": ("decimal", lambda random: _decimal(random, random.choice([3, 6, 11]), 2), {"format": "currency"}),
    "shares": ("float", lambda random: random.random(), {"format": "percent"}),
    "small shares": ("float", lambda random: random.random() / 1000, {"format": "percent"}),
    "seconds": ("integer", lambda random: random.randrange(200_000), {"format": "duration"}),
    "bytes": ("integer", lambda random: random.randrange(10 ** random.randrange(1, 15)), {"format": "bytes"}),
    "short": ("integer", lambda random: random.randrange(10 ** random.randrange(1, 15)), {"format": "compact"}),
    "with digits": ("float", lambda random: random.uniform(0, 5000), {"digits": 3}),
    "of a unit": ("float", lambda random: random.uniform(0, 90), {"unit": "min"}),
    "of a long unit": ("decimal", lambda random: _decimal(random, 9, 1), {"unit": "thousand tonnes of CO2 per year"}),
}


def amounts(random: Random, count: int, *, signed: bool = True, only: tuple[str, ...] = ()) -> Amounts:
    """Numbers of one flavour: some have negatives among them, some have gaps, and a few columns hold nothing."""
    kind, make, view = FLAVOURS[random.choice(only or tuple(FLAVOURS))]
    values = [make(random) for _ in range(count)]
    below = random.choice([0, 0, 0, 0.3, 1]) if signed else 0
    absent = random.choice([0, 0, 0, 0.2, 0.6, 1 if random.random() < 0.2 else 0])
    for place, value in enumerate(values):
        if random.random() < below:
            values[place] = f"-{value}" if isinstance(value, str) else -value
        if random.random() < absent:
            values[place] = None
    return Amounts(kind, values, view)


def sizes(random: Random, most: int = 60) -> int:
    return random.choice(
        [0, 1, 2, 3, *(random.randint(4, 12) for _ in range(3)), random.randint(4, most), random.randint(4, 4 * most)]
    )


def names(random: Random, count: int) -> list[Any]:
    """Different ones, sometimes with the absent one among them."""
    made = [*NAMES, *(f"name {n}" for n in range(max(0, count - len(NAMES))))]
    found: list[Any] = random.sample(made, count)
    if count and random.random() < 0.2:
        found[random.randrange(count)] = None
    return found


def times(random: Random, count: int, *, gaps: float = 0.1) -> tuple[str, list[Any]]:
    """Different moments, in order, from which some are taken: days, months, hours of a day that a zone makes longer or
    shorter, or no steps at all."""
    first = date(random.randrange(1995, 2030), random.randint(1, 12), random.randint(1, 28))
    kind = random.choice(
        ["days", "days", "weeks", "months", "quarters", "years", "hours", "zone", "minutes", "seconds", "any"]
    )
    more = count + int(count * gaps * 2)
    if kind == "days":
        found = [str(first + timedelta(days=n)) for n in range(more)]
    elif kind == "weeks":
        monday = first - timedelta(days=first.weekday())
        found = [str(monday + timedelta(weeks=n)) for n in range(more)]
    elif kind in {"months", "quarters"}:
        step = 3 if kind == "quarters" else 1
        start = first.year * 12 + (0 if step == 3 else first.month - 1)
        found = [f"{(start + n * step) // 12}-{(start + n * step) % 12 + 1:02}-01" for n in range(more)]
    elif kind == "years":
        found = [f"{first.year + n}-01-01" for n in range(more)]
    elif kind == "zone":
        zone = ZoneInfo(random.choice(ZONES))
        turn = datetime(
            random.randrange(2015, 2029), random.choice([3, 4, 9, 10, 11]), random.randint(1, 28), tzinfo=UTC
        )
        found = [(turn + timedelta(hours=n)).astimezone(zone).isoformat() for n in range(more)]
    else:
        step_of = {
            "hours": lambda n: n * 60,
            "minutes": lambda n: n * 5,
            "seconds": lambda n: n / 6,
            "any": lambda n: n * 1440 + random.randrange(1440),
        }
        start_at = datetime(first.year, first.month, first.day, random.randrange(24))
        found = [(start_at + timedelta(minutes=step_of[kind](n))).isoformat() for n in range(more)]
    taken = sorted(random.sample(range(more), count))
    return ("date" if "T" not in found[0] else "datetime") if found else "date", [found[place] for place in taken]


def along(random: Random, count: int) -> tuple[str, list[Any]]:
    """The column of an axis."""
    kind = random.choice(["time", "time", "time", "number", "name", "name", "flag"])
    if kind == "flag":
        return "boolean", random.sample([True, False, None], min(count, 3))
    if kind == "name":
        return "text", names(random, count)
    if kind == "number":
        found = random.sample(range(-50, 3000), count)
        return ("integer", found) if random.random() < 0.5 else ("float", [each + random.random() for each in found])
    return times(random, count)


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
    return in_period(random, _one(random, "bar", {"fill": random.choice([0, None])}, x=times(random, sizes(random))))


def _line(random: Random) -> Made:
    return in_period(random, _one(random, "line", referred(random, {}), x=along(random, sizes(random))))


def _bar(random: Random) -> Made:
    return _one(random, "bar", ordered(random, referred(random, {})), x=along(random, sizes(random, 40)))


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
    "lying": lambda random: _one(
        random, "bar", ordered(random, referred(random, {"horizontal": True})), x=along(random, sizes(random, 30))
    ),
    "lyings": lambda random: _lying(random, {}, 8),
    "lying-sum": lambda random: _lying(random, {"stack": "sum"}, 12),
    "donut": _donut,
    "heatmap": _heatmap,
    "scatter": _scatter,
}
