"""What the program between Playwright and Firefox answers itself."""

from __future__ import annotations

import json

import pytest

from engines.firefox_relay import COLOURS, OPENS, answer, in_a_tab

pytestmark = pytest.mark.slow


def test_light_pages_are_granted_and_dark_ones_are_not() -> None:
    """Firefox knows no such command: a test that asks for a dark page must fail, and not look at a light one. Red when
    the colours are not compared."""
    ask = {"id": 7, "method": COLOURS, "params": {"features": {"prefers-color-scheme": "light"}, "userContexts": ["1"]}}
    assert json.loads(answer(json.dumps(ask)) or "") == {"type": "success", "id": 7, "result": {}}
    dark = ask | {"params": {"features": {"prefers-color-scheme": "dark"}, "userContexts": ["1"]}}
    assert answer(json.dumps(dark)) is None


def test_a_page_opens_in_a_tab() -> None:
    """Of the same context. Red when what else the command says is lost: pages would share their cookies."""
    ask = {"id": 9, "method": OPENS, "params": {"type": "window", "userContext": "1"}}
    assert json.loads(in_a_tab(json.dumps(ask))) == ask | {"params": {"type": "tab", "userContext": "1"}}


def test_everything_else_goes_through() -> None:
    """Also what only speaks of the commands."""
    other = {"id": 8, "method": "script.evaluate", "params": {"expression": f"'{COLOURS} {OPENS}'", "type": "window"}}
    text = json.dumps(other)
    assert answer(text) is None
    assert answer(text.encode()) is None
    assert in_a_tab(text) == text
    assert in_a_tab(text.encode()) == text.encode()
