from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Mapping, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

from starlette.types import ASGIApp

from tenantry.groups import UserGroup
from tenantry.http import SCOPE_KEY

Message: TypeAlias = MutableMapping[str, Any]
HOST = "testserver"


@dataclass(frozen=True)
class Call:
    """One request, such as ``Call("/search?q=a")``."""

    path: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass
class Answer:
    """An app's answer to a Call. If the app sent nothing, the status is 0."""

    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""

    @property
    def header_text(self) -> str:
        return "\n".join(f"{name.decode('latin-1')}: {value.decode('latin-1')}" for name, value in self.headers)

    @property
    def text(self) -> str:
        packed = dict(self.headers).get(b"content-encoding", b"")
        body = zlib.decompress(self.body, 47) if packed in {b"gzip", b"deflate"} and self.body else self.body
        return body.decode("utf-8", "replace")


async def send_request(
    app: ASGIApp, call: Call, group: UserGroup | None, state: Mapping[str, Any], seconds: float
) -> Answer:
    """Send a request to the app, with ``group`` in the scope, as if UserGroupMiddleware had put it there. ``state``:
    the state from the app's lifespan. Raises the errors of the app, and TimeoutError after ``seconds``."""
    parts = urlsplit(call.path)
    headers = {"host": HOST, "accept": "*/*", **{name.lower(): value for name, value in call.headers.items()}}
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": call.method,
        "scheme": "http",
        "path": unquote(parts.path),
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()],
        "client": ("127.0.0.1", 50_000),
        "server": (HOST, 80),
        "state": dict(state),
    }
    if group is not None:
        scope[SCOPE_KEY] = group
    answer = Answer()
    ended = asyncio.Event()
    sent = False

    async def receive() -> Message:
        nonlocal sent
        if not sent:
            sent = True
            return {"type": "http.request", "body": call.body, "more_body": False}
        await ended.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answer.status, answer.headers = message["status"], [(bytes(n), bytes(v)) for n, v in message["headers"]]
        elif message["type"] == "http.response.body":
            answer.body += message.get("body", b"")
            if not message.get("more_body", False):
                ended.set()

    async with asyncio.timeout(seconds):
        await app(scope, receive, send)
    return answer


@asynccontextmanager
async def lifespan(app: ASGIApp, seconds: float) -> AsyncIterator[dict[str, Any]]:
    """Run the app's lifespan, if any, during the block, and yield its state. Raises RuntimeError if the lifespan fails,
    and TimeoutError if it takes longer than ``seconds`` to start or end."""
    state: dict[str, Any] = {}
    messages: asyncio.Queue[Message] = asyncio.Queue()
    answers: asyncio.Queue[Message] = asyncio.Queue()
    await messages.put({"type": "lifespan.startup"})
    scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": state}
    task = asyncio.ensure_future(_run(app, scope, messages, answers))
    try:
        started = await _answer(task, answers, seconds)
        try:
            yield state
        finally:
            if started:
                await messages.put({"type": "lifespan.shutdown"})
                await _answer(task, answers, seconds)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _run(
    app: ASGIApp, scope: dict[str, Any], messages: asyncio.Queue[Message], answers: asyncio.Queue[Message]
) -> None:
    await app(scope, messages.get, answers.put)


async def _answer(task: asyncio.Future[None], answers: asyncio.Queue[Message], seconds: float) -> bool:
    """Wait for a message. Return False if the app returned without one."""
    # Apps without a lifespan do so.
    waiting = asyncio.ensure_future(answers.get())
    both: set[asyncio.Future[Any]] = {task, waiting}
    done, _ = await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    if not done:
        waiting.cancel()
        raise TimeoutError(f"the app's lifespan did not answer within {seconds:g} s: pass a larger value for `seconds`")
    if waiting.done():
        message = waiting.result()
    else:
        waiting.cancel()
        if answers.empty():
            return False
        message = answers.get_nowait()  # the app answered and ended at once
    if message["type"].endswith(".failed"):
        raise RuntimeError(f"the app's lifespan failed: {message.get('message', '')}")
    return True
