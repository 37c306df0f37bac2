"""Reads what a page writes of a value, and says what is wrong with it: without Intl, by decimals, for ``en-US``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from decimal import Context, Decimal, localcontext
from typing import Any

NOTHING = "\N{EN DASH}"
NAMELESS = {None: "(no value)", "": "(empty)"}
MINUS = "\N{MINUS SIGN}"
THIN = "\N{NARROW NO-BREAK SPACE}"
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

EXACT = Context(prec=700)
NUMBER = re.compile(rf"({MINUS}?)(\$?)(\d[\d,]*)(?:\.(\d+))?(?:([KMBT])|E({MINUS}?\d+))?(%?)")
SHORT = {"": 0, "K": 3, "M": 6, "B": 9, "T": 12}
SECONDS = {"day": 86_400, "hr": 3_600, "min": 60, "sec": 1}
BYTES = ("byte", "kB", "MB", "GB", "TB", "PB")

DOUBLE = Decimal("1e-12")
"""The part of a sum of doubles that may be lost."""
LAST_DIGIT = Decimal("1e-20")
"""Intl writes no further ones of a double."""
OWN_ERROR = Decimal("0.051")
"""The part of a number by which its text may differ from it."""
COMMON_ERROR = Decimal("0.051")
"""The same, of the largest number of its column: all have the digits after the point that the column needs."""


@dataclass(frozen=True)
class Shown:
    """``unit``: what one more in its last digit is."""

    amount: Decimal
    unit: Decimal


def exact(value: Any) -> Decimal:
    return EXACT.create_decimal(value if isinstance(value, str) else repr(value))


def plain(text: str) -> str:
    """With spaces of one kind: versions of Intl have other ones before AM."""
    return text.replace(THIN, " ")


def read(text: str, view: dict[str, Any]) -> Shown | str:
    """The number that a text says; else what is wrong with the text."""
    kind = view.get("format", "number")
    if unit := view.get("unit"):
        text = text.removesuffix(f" {unit}")
    if kind == "duration":
        return _duration(text)
    if kind == "bytes":
        size, _, word = text.partition(" ")
        word = word.removesuffix("s")
        if word not in BYTES:
            return f"{text!r} has no unit of bytes"
        return _scaled(_number(size), 1000 ** BYTES.index(word))
    shown = _number(text)
    if isinstance(shown, Shown) and (kind == "percent") != text.endswith("%"):
        return f"{text!r} of the format {kind}"
    if isinstance(shown, Shown) and (kind == "currency") != ("$" in text):
        return f"{text!r} of the format {kind}"
    return shown


def _number(text: str) -> Shown | str:
    found = NUMBER.fullmatch(text)
    if found is None:
        return f"{text!r} is not written as a number"
    sign, _, whole, after, suffix, power, percent = found.groups()
    plain = whole.replace(",", "")
    if whole not in {f"{int(plain):,}", plain if len(plain) <= 4 else ""}:
        return f"{text!r} has its thousands at other places"
    after = after or ""
    exponent = SHORT[suffix or ""] + int((power or "0").replace(MINUS, "-")) - (2 if percent else 0)
    amount = Decimal(f"{'-' if sign else ''}{plain}.{after or 0}").scaleb(exponent, EXACT)
    if sign and not amount:
        return f"{text!r} has a minus before nought"
    return Shown(amount, Decimal(1).scaleb(exponent - len(after)))


def _scaled(shown: Shown | str, factor: int) -> Shown | str:
    return Shown(shown.amount * factor, shown.unit * factor) if isinstance(shown, Shown) else shown


def _duration(text: str) -> Shown | str:
    amount, unit = Decimal(0), Decimal(1)
    for size, word in re.findall(r"(\S+) ([a-z]+)", text.removeprefix(MINUS)):
        part = _number(size)
        if isinstance(part, str) or (seconds := SECONDS.get(word.removesuffix("s"))) is None:
            return f"{text!r} is no duration"
        amount, unit = amount + part.amount * seconds, 2 * part.unit * seconds  # cut off, not rounded
    if not re.search(r"\d [a-z]", text):
        return f"{text!r} is no duration"
    return Shown(-amount if text.startswith(MINUS) else amount, unit)


SAME_SHARE = Decimal("1e-10")
"""A share that differs by less from the whole was rounded by doubles."""


def number_fault(text: str, value: Any, view: dict[str, Any], largest: Decimal = Decimal(0)) -> str | None:
    """What is wrong with the text of a number: none for None, not rounded, no digits left of it. ``largest``: of its
    column, whose digits after the point it has."""
    if value is None:
        return None if text == NOTHING else f"{text!r} for nothing"
    shown = read(text, view)
    if isinstance(shown, str):
        return f"{shown}: {value}"
    with localcontext(EXACT):
        given = exact(value)
        apart = abs(shown.amount - given)
        lost = abs(given) * (DOUBLE if isinstance(value, float) else 0)
        if apart > shown.unit / 2 + lost:
            return f"{text!r} is not {value} rounded"
        if given and not shown.amount:
            return f"{text!r} says nought, and it is {value}"
        if view.get("format") == "percent" and shown.amount == 1 and abs(given - 1) > SAME_SHARE:
            return f"{text!r} says the whole, and it is {value}"
        near = Decimal("0.0005") if view.get("format") == "percent" else Decimal(0)
        coarse = Decimal("0.5") if view.get("format") in {"duration", "bytes", "integer"} else Decimal(0)
        if apart > max(abs(given) * OWN_ERROR, largest * COMMON_ERROR, near, coarse):
            return f"{text!r} is far from {value}"
    return None


def whole_fault(text: str, value: Any, view: dict[str, Any]) -> str | None:
    """What is wrong with the whole of a number: every digit counts."""
    shown = read(text, view)
    if isinstance(shown, str):
        return f"{shown}: {value}"
    given = exact(value)
    with localcontext(EXACT):
        lost = max(abs(given) * DOUBLE, LAST_DIGIT) if isinstance(value, float) else Decimal(0)
        return None if abs(shown.amount - given) <= lost else f"{text!r} is not the whole of {value}"


# --- times ------------------------------------------------------------------------------------------------------------


def moment(value: Any) -> datetime | None:
    """The clock of its zone, which is what stands on the page."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found.replace(tzinfo=None)


def time_texts(at: datetime) -> dict[str, str]:
    """How it may be written: name of the format -> text."""
    month = MONTHS[at.month - 1]
    day = f"{month} {at.day}, {at.year}"
    hour = at.hour % 12 or 12
    half = "AM" if at.hour < 12 else "PM"
    return {
        "year": str(at.year),
        "month": f"{month} {at.year}",
        "date": day,
        "datetime": f"{day}, {hour}:{at.minute:02} {half}",
        "instant": f"{day}, {hour}:{at.minute:02}:{at.second:02} {half}",
        "monthname": month,
        "day": f"{month} {at.day}",
        "time": f"{hour}:{at.minute:02} {half}",
    }


def whole_time_texts(at: datetime) -> set[str]:
    """Those that say all of it: no part of it is left out that is not nought."""
    texts = time_texts(at)
    found = {texts["instant"], *([] if at.second else [texts["datetime"]])}
    if not (at.hour or at.minute or at.second):
        found.add(texts["date"])
        if at.day == 1:
            found |= {texts["month"], *([texts["year"]] if at.month == 1 else [])}
    return found


def texts_of(value: Any, type_: str) -> set[str] | None:
    """How a value of an axis may be written where it is written whole; None for a number, which has its own rules."""
    if value in NAMELESS:
        return {NAMELESS[value]}
    at = moment(value) if type_ in {"date", "datetime"} else None
    if at is not None:
        return whole_time_texts(at)
    if isinstance(value, bool):
        return {"Yes" if value else "No"}
    if type_ in {"integer", "float", "decimal"}:
        return None
    return {str(value)}
