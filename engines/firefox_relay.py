"""Starts Firefox and stands between it and Playwright: ``python firefox_relay.py FIREFOX ARGUMENTS…``.

Playwright opens each context with a command that Firefox 153 does not know, and gives up: which colours the pages shall
prefer. Light ones are what it prefers anyway, so that is answered here; dark ones are left to Firefox, which refuses
them. It also opens each page in a window of its own, which is made a tab. All else goes through as it is. Playwright
takes this program for the browser: it says where it listens, and ends with Firefox.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

COLOURS = "emulation.setMediaFeaturesOverride"
OPENS = "browsingContext.create"
LIGHT = {"prefers-color-scheme": "light"}

PATIENT: dict[str, Any] = {"max_size": None, "open_timeout": None, "ping_interval": None, "compression": None}
"""Options of both connections, which stay on this machine: one that does not answer is busy, and not gone."""

_LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


def answer(message: str | bytes) -> str | None:
    """The answer to a command that Firefox need not see; None for any other."""
    text = message if isinstance(message, str) else message.decode()
    if COLOURS not in text:
        return None
    command = json.loads(text)
    if command.get("method") != COLOURS or command["params"]["features"] != LIGHT:
        return None
    return json.dumps({"type": "success", "id": command["id"], "result": {}})


def in_a_tab(message: str | bytes) -> str | bytes:
    """The command; one that opens a window opens a tab instead, in front of the others: a window for each page costs
    a third of what a test does. What is behind it takes no click before it is brought to the front."""
    text = message if isinstance(message, str) else message.decode()
    if OPENS not in text:
        return message
    command = json.loads(text)
    if command.get("method") != OPENS:
        return message
    return json.dumps({**command, "params": {**command["params"], "type": "tab"}})


async def run(command: list[str]) -> int:
    """Runs Firefox until it ends; its exit code."""
    firefox = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    assert firefox.stderr is not None
    address = ""
    while not address and (line := (await firefox.stderr.readline()).decode(errors="replace")):
        found = _LISTENS.search(line)
        address = f"{found[1]}/session" if found else ""
        if not found:
            sys.stderr.write(line)
    if address:
        async with serve(lambda playwright: _relay(playwright, address), "127.0.0.1", 0, **PATIENT) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            print(f"WebDriver BiDi listening on ws://127.0.0.1:{port}", file=sys.stderr, flush=True)
            while await firefox.stderr.read(65536):  # or Firefox would stand still before a full pipe
                pass
    return await firefox.wait()


async def _relay(playwright: ServerConnection, address: str) -> None:
    async with connect(address, proxy=None, **PATIENT) as browser:
        commands = asyncio.create_task(_commands(playwright, browser))
        events = asyncio.create_task(_events(browser, playwright))
        await asyncio.wait([commands, events], return_when=asyncio.FIRST_COMPLETED)
    await playwright.close()
    await asyncio.gather(commands, events)


async def _commands(playwright: ServerConnection, browser: ClientConnection) -> None:
    try:
        async for message in playwright:
            if (own := answer(message)) is not None:
                await playwright.send(own)
            else:
                await browser.send(in_a_tab(message))
    except ConnectionClosed:
        pass  # the other direction sees it, too


async def _events(browser: ClientConnection, playwright: ServerConnection) -> None:
    try:
        async for message in browser:
            await playwright.send(message)
    except ConnectionClosed:
        pass


if __name__ == "__main__":
    sys.exit(asyncio.run(run(sys.argv[1:])))
