"""The smaller records: frozen, and exact at their bounds."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import timedelta
from math import inf

import pytest

from tenantry import groups
from tenantry.groups import ApiToken, Scope, read_notice, write_notice
from tenantry.testing import FrozenClock, make_environment, make_group

RECORDS = sorted(name for name in groups.__all__ if is_dataclass(getattr(groups, name)) and name != "UNNAMED")
HANDLE = bytes(range(8))


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_frozen_and_has_slots(name: str) -> None:
    """Records are shared by caches, threads and requests. Red when one of them is not frozen or has no slots."""
    record = getattr(groups, name)
    assert record.__dataclass_params__.frozen
    assert {each.name for each in fields(record)} <= set(record.__slots__)


def test_a_notice_comes_back() -> None:
    """Up to the largest number that a database stores."""
    for generation in (0, 1, 10**19 - 1):
        assert read_notice(write_notice("store", generation, HANDLE)) == ("store", generation, HANDLE)


@pytest.mark.parametrize(
    "notice",
    [
        "",
        "store",
        "store 1",
        f"store 1 {HANDLE.hex()} more",
        f"store {10**19} {HANDLE.hex()}",  # 20 digits
        f"store \u00b2 {HANDLE.hex()}",  # a digit that int() refuses
        f"store \u0661 {HANDLE.hex()}",  # a digit that int() accepts
        f"store -1 {HANDLE.hex()}",
        f"store one {HANDLE.hex()}",
        "store 1 handle",
    ],
)
def test_an_invalid_notice_is_none(notice: str) -> None:
    """Anybody may send one. Red when a number is unlimited, or when digits of other scripts are read."""
    assert read_notice(notice) is None


def test_the_seconds_that_are_left() -> None:
    """They count to the end date, and are unlimited without one."""
    clock = FrozenClock()
    now = clock()
    assert make_group().seconds_left(now) == inf
    assert make_group(expires_at=now + timedelta(seconds=1.5)).seconds_left(now) == 1.5
    assert make_group(expires_at=now - timedelta(seconds=2)).seconds_left(now) == -2


def test_a_scope_includes_others() -> None:
    """``provision`` includes its two halves; no half includes the whole or the other half."""
    given = {
        Scope.PROVISION: {Scope.PROVISION, Scope.PROVISION_READ, Scope.PROVISION_WRITE},
        Scope.PROVISION_READ: {Scope.PROVISION_READ},
        Scope.PROVISION_WRITE: {Scope.PROVISION_WRITE},
        Scope.INTROSPECT: {Scope.INTROSPECT},
        Scope.PREVIEW: {Scope.PREVIEW},
    }
    for scope, allowed in given.items():
        token = ApiToken(1, make_environment(), "x", frozenset({scope}), "abcd", FrozenClock()())
        assert {each for each in Scope if token.allows(each)} == allowed
