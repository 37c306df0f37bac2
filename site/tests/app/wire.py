"""Asking an ASGI app by hand: paths as they come off the wire, which a client library would clean first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote


@dataclass(frozen=True)
class Got:
    """An answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


async def ask(
    app: Any,
    target: str,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    *,
    root_path: str = "",
    body: bytes = b"",
) -> Got:
    """``target`` is the path and query of a request line, below ``root_path``; decoded as servers do it."""
    path, _, query = target.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": root_path + unquote(path),
        "raw_path": (root_path + path).encode("latin-1", "replace"),
        "root_path": root_path,
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    head = sent[0]
    lines = {name.decode(): value.decode() for name, value in head["headers"]}
    assert len(lines) == len(head["headers"]), "a header was sent twice"
    content = b"".join(message.get("body", b"") for message in sent[1:])
    assert not sent[-1].get("more_body")
    if "content-length" in lines and method != "HEAD":
        assert int(lines["content-length"]) == len(content)
    return Got(head["status"], lines, content)
