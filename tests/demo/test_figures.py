"""Key figures and their change in words."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.demo.page import figures


def row(**values: Any) -> dict[str, Any]:
    return {"flights": 100, "on_time_share": 0.8, "mean_delay": 10.0, "cancelled_share": 0.02, **values}


@pytest.mark.parametrize(
    ("column", "now", "before", "amount", "words", "tone"),
    [
        ("flights", 150, 100, 0.5, "more", ""),
        ("flights", 75, 100, 0.25, "fewer", ""),
        ("on_time_share", 0.85, 0.8, 5, "points better", "good"),
        ("on_time_share", 0.7, 0.8, 10, "points worse", "bad"),
        ("mean_delay", 12.5, 10.0, 2.5, "min longer", "bad"),
        ("mean_delay", -2.0, 10.0, 12, "min shorter", "good"),
        ("cancelled_share", 0.05, 0.02, 3, "points more", "bad"),
        ("cancelled_share", 0.0, 0.02, 2, "points fewer", "good"),
    ],
)
def test_a_change_is_said_in_words(
    column: str, now: float, before: float, amount: float, words: str, tone: str
) -> None:
    """Direction and judgement are words, and the tone agrees with them."""
    by_title = dict(zip(row(), figures(row(**{column: now}), row(**{column: before})), strict=True))
    change = by_title[column].change
    assert change is not None
    assert (round(change.amount, 6), change.words, change.tone) == (amount, words, tone)


def test_a_change_too_small_to_show_is_none() -> None:
    """0.0 points better would be a lie in either direction."""
    change = figures(row(on_time_share=0.80001), row())[1].change
    assert change is not None
    assert change.words == "no change"


@pytest.mark.parametrize("before", [None, row(flights=0, on_time_share=None, mean_delay=None, cancelled_share=None)])
def test_without_earlier_flights_there_is_no_change(before: dict[str, Any] | None) -> None:
    """No division by zero, and no growth from nothing."""
    assert [figure.change for figure in figures(row(), before)] == [None] * 4


def test_a_period_in_which_every_flight_was_cancelled() -> None:
    """A mean of nothing is nothing."""
    shown = figures(row(mean_delay=None, on_time_share=None, cancelled_share=1.0), row())
    assert [figure.value for figure in shown] == [100, None, None, 1.0]
    assert shown[1].change is None
