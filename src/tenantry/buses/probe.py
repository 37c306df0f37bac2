"""Probe: a message that a bus sends to itself, the way that writes are told, to see whether it would get theirs.

A connection may answer each question and still pass nothing on: LISTEN through a pooler in transaction mode belongs to
a server process that the pooler lends to others; a subscriber of one Redis gets nothing that is published on another.
"""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import Awaitable, Callable

from tenantry.buses.hearing import PROBE, Hearing

QUIET_SECONDS = 1.0
"""After so long without any message a probe is sent. Each who follows waits a little less, by chance, and the first
one's probe is a message to all: so a large fleet sends little more than one worker does."""

REPLY_SECONDS = 2.0
"""A probe that has not come back after so long never will."""


class Deaf(Exception):
    """Connected, and a message of its own did not come. The text says what may be the cause."""


async def probe(
    hearing: Hearing, publish: Callable[[str], Awaitable[object]], begin: Callable[[], None], *, cause: str
) -> None:
    """Calls ``begin`` when the first probe has come, and then looks again and again. Raises Deaf (with ``cause``),
    TimeoutError when nothing could be published, and what ``publish`` raises."""
    begun = False
    while True:
        text = f"{PROBE}{secrets.token_hex(8)}"
        published = False
        arrived = hearing.expect(text)
        try:
            async with asyncio.timeout(REPLY_SECONDS):
                await publish(text)
                published = True
                await arrived
        except TimeoutError:
            if not published:
                raise
            if not arrived.done() or arrived.cancelled():
                raise Deaf(cause) from None
        if not begun:
            begun = True
            begin()
        while await hearing.anything_within(QUIET_SECONDS * random.uniform(0.5, 1.0)):  # noqa: S311 - no secret
            pass
