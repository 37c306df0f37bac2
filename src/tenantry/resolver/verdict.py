"""Verdict: what an answer means for the token that was asked about."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tenantry.groups import Reading, Token, UserGroup


class Verdict(Enum):
    """GOOD: to be used, and kept for its ``seconds`` at most. ONCE: to be used now and not kept. DEAD: the token has no
    group here. WRONG: the answer is of another token, a fault of the backend."""

    GOOD = "good"
    ONCE = "once"
    DEAD = "dead"
    WRONG = "wrong"


def judge(reading: Reading, token: Token, environment: str | None) -> Verdict:
    """An old token in its grace is kept only if the backend says for how long, by the store's clock."""
    group, seconds = reading.group, reading.seconds
    if group is None:
        return Verdict.DEAD
    if group.handle != token.handle or group.environment.tag is not token.tag:
        return Verdict.WRONG
    if environment is not None and group.environment.name != environment:
        return Verdict.DEAD
    if seconds is not None and seconds <= 0:
        return Verdict.DEAD
    if token.version == group.token_version:
        return Verdict.GOOD
    if not may_have_grace(group, token):
        return Verdict.DEAD
    return Verdict.ONCE if seconds is None else Verdict.GOOD


def may_have_grace(group: UserGroup, token: Token) -> bool:
    """True for the version just before, where a rotation gave it a grace. Whether that lasts, the store knows."""
    return group.grace_until is not None and token.version == group.token_version - 1
