"""Generated columns: amounts of many sizes, names that a careless program mistakes, times of many steps and zones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from tests.dashboards.page.stand_in import Message

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


@dataclass(frozen=True)
class Amounts:
    """A column of numbers. ``view``: what an author says of them."""

    type: str
    values: list[Any]
    view: Message


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
        start_at = datetime(first.year, first.month, first.day, random.randrange(24), tzinfo=UTC)
        found = [f"{start_at + timedelta(minutes=step_of[kind](n)):%Y-%m-%dT%H:%M:%S}" for n in range(more)]
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
