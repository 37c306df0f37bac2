"""S13: what a server can be tricked into asking: every trick on the docs site's relay, each of its defences removed."""

from __future__ import annotations

import asyncio
from importlib import import_module

from scorecard.row import Effort, Measured, Row


def tricks(effort: Effort) -> Measured:
    """Connections to listeners that nobody allowed. The whole internet is one of them: nothing leaves the machine."""
    tried, reached = asyncio.run(_tricks())
    removed, noticed = asyncio.run(_controls())
    figure = f"{reached} connections in {tried} tricks; {noticed} of {removed} removed defences reached a listener"
    return Measured(
        figure, not reached and noticed == removed, {"tried": tried, "reached": reached, "removed": removed}
    )


async def _tricks() -> tuple[int, int]:
    import pytest

    from tenantry_site.relay import connecting
    from tests.site.relay.conftest import relay_of
    from tests.site.relay.stage import post, world
    from tests.site.relay.tricks import TRICKS

    reached = 0
    async with world() as stage:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(connecting, "dial", stage.dial)
            for trick in TRICKS:
                stage.forget()
                if trick.answers:
                    stage.names["api.allowed.test"] = [list(answer) for answer in trick.answers]
                await post(relay_of(stage), {"method": "GET", "url": stage.fill(trick.address)})
                reached += stage.reached
    return len(TRICKS), reached


async def _controls() -> tuple[int, int]:
    """How many defences were removed, one at a time, and with how many a listener was reached: as the test asserts."""
    import pytest

    tests = import_module("tests.site.relay.test_tricks")
    noticed = 0
    for remove, address in tests.WALLS:
        with pytest.MonkeyPatch.context() as patch:
            try:
                await tests.test_each_wall_bears(remove, address, patch)
            except AssertionError:
                continue
            noticed += 1
    return len(tests.WALLS), noticed


ROWS = (Row("S13", "SSRF tricks: connections that nobody allowed", "0 in ≥ 60; controls found", tricks, (60, 60)),)
