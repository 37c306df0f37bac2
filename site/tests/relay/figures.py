"""The figures of the scorecard's row on tricks: ``python -m tests.relay.figures``, in site/, prints them as JSON.

Every trick is played on the relay as it is; then each of its defences is removed once, as the control.
"""

from __future__ import annotations

import asyncio
import json
import sys

import pytest

from tenantry_site.relay import dial
from tests.relay.conftest import relay_of
from tests.relay.stage import post, world
from tests.relay.test_tricks import DEFENCES, test_each_defence_is_needed
from tests.relay.tricks import TRICKS


async def play() -> dict[str, int]:
    """How many tricks were tried, and how many connections reached a listener that nobody allowed."""
    reached = 0
    async with world() as stage:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(dial, "open_socket", stage.open_socket)
            for trick in TRICKS:
                stage.forget()
                if trick.answers:
                    stage.names["api.allowed.test"] = [list(answer) for answer in trick.answers]
                await post(relay_of(stage), {"method": "GET", "url": stage.fill(trick.address)})
                reached += stage.reached
    return {"tried": len(TRICKS), "reached": reached}


async def control() -> dict[str, int]:
    """How many defences were removed, one at a time, and with how many a listener was reached: as the test asserts."""
    noticed = 0
    for remove, address in DEFENCES:
        with pytest.MonkeyPatch.context() as patch:
            try:
                await test_each_defence_is_needed(remove, address, patch)
            except AssertionError:
                continue
            noticed += 1
    return {"removed": len(DEFENCES), "noticed": noticed}


if __name__ == "__main__":
    json.dump(asyncio.run(play()) | asyncio.run(control()), sys.stdout)
