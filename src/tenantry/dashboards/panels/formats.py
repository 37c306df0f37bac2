from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from tenantry.dashboards.definition.zones import TIMEZONE
from tenantry.sql.parameters import WEEK_START, WEEK_STARTS, find_zone

_VARIANT: Final = "(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3})"
_IS_VARIANT: Final = re.compile(_VARIANT)
_LOCALE: Final = re.compile(
    "(?:[a-z]{2,3}|[a-z]{5,8})"  # language
    "(?:-[a-z]{4})?"  # script
    "(?:-(?:[a-z]{2}|[0-9]{3}))?"  # region
    f"(?:-{_VARIANT})*"
    "(?:-[0-9a-wy-z](?:-[a-z0-9]{2,8})+)*"  # extensions
    "(?:-x(?:-[a-z0-9]{1,8})+)?",
    re.IGNORECASE | re.ASCII,
)
"""A Unicode BCP 47 locale identifier (UTS 35, section 3.2), as ECMA-402 requires."""
_CURRENCY: Final = re.compile("[A-Z]{3}", re.IGNORECASE | re.ASCII)
"""A currency code (ECMA-402, IsWellFormedCurrencyCode)."""


class UnusableFormat(NamedTuple):
    name: str
    rule: str
    """The required form."""
    outcome: str
    """What dashboards do instead."""
    fix: str


def is_locale(text: str) -> bool:
    """Whether the string has the form of a BCP 47 language tag."""
    if not _LOCALE.fullmatch(text):
        return False
    tag = text.casefold().partition("-x-")[0].split("-")
    singles = [index for index, part in enumerate(tag) if len(part) == 1]
    variants = [part for part in tag[1 : singles[0] if singles else None] if _IS_VARIANT.fullmatch(part)]
    return len({tag[index] for index in singles}) == len(singles) and len(set(variants)) == len(variants)


def is_currency(text: str) -> bool:
    """Whether the string has the form of an ISO 4217 code."""
    return _CURRENCY.fullmatch(text) is not None


def unusable_formats(properties: Mapping[str, Any]) -> Iterator[UnusableFormat]:
    """Yield one item for each unusable value of the properties ``locale``, ``currency``, ``timezone`` and
    ``week_start``. Missing and empty properties are fine."""
    locale, currency = properties.get("locale"), properties.get("currency")
    if locale not in (None, "") and not (isinstance(locale, str) and is_locale(locale)):
        hyphens = locale.replace("_", "-").partition(".")[0] if isinstance(locale, str) else ""
        example = hyphens if is_locale(hyphens) else "en-US"
        outcome = "numbers and dates are written as if the group had no locale"
        yield UnusableFormat("locale", "a language tag of BCP 47", outcome, f"write it with hyphens, as {example}")
    if currency not in (None, "") and not (isinstance(currency, str) and is_currency(currency)):
        outcome = "amounts are written without a currency sign"
        yield UnusableFormat("currency", "a code of ISO 4217", outcome, "write its three letters, as EUR")
    zone = properties.get(TIMEZONE)
    if zone not in (None, "") and find_zone(zone) is None:
        fix = "write a name of the IANA time zone database, as Europe/Vienna"
        yield UnusableFormat(TIMEZONE, "the name of a time zone", "panels show an error", fix)
    week_start = properties.get(WEEK_START)
    if week_start not in (None, "", *WEEK_STARTS):
        yield UnusableFormat(WEEK_START, " or ".join(WEEK_STARTS), "panels show an error", "write one of the two")
