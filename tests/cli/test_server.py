"""run(): what is true when the address is announced, and what is left when the server has ended."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette

from engines.loggers import fresh_loggers
from tenantry.errors import InvalidSettings
from tenantry.server.uvicorn import listen, run


@pytest.fixture
def _signals() -> Iterator[None]:
    """The handlers and loggers of this process, which ``run`` replaces."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with fresh_loggers():
        yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("host", ["nowhere.invalid", "192.0.2.1"])
def test_a_host_that_is_not_ours_is_named(host: str) -> None:
    """192.0.2.1: RFC 5737. Red when the advice is another port."""
    with pytest.raises(InvalidSettings, match=f"cannot listen on {host}:8000: .*; --host must be an address of this"):
        listen(host, 8000)


@pytest.mark.usefixtures("_signals")
def test_the_address_is_announced_when_all_is_prepared() -> None:
    """Red when it is announced as soon as the socket listens: who opens it then waits for what is prepared."""
    seen = []

    async def prepare() -> None:
        seen.append("prepared")

    def announce(url: str) -> None:
        seen.append(url)
        os.kill(os.getpid(), signal.SIGINT)

    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    run(Starlette(), listener, announce=announce, prepare=prepare)
    assert seen == ["prepared", f"http://127.0.0.1:{port}"]
    assert gc.get_freeze_count() == 0  # red without gc.unfreeze: nothing is freed when the interpreter ends
