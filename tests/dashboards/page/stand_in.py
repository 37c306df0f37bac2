"""A server that answers the page's requests with what a test gives it, under the strict policy."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from tenantry.dashboards.frame import FURTHER

POLICY = (
    "default-src 'self'; connect-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors 'none'"
)
BUNDLES = files("tenantry") / "static" / "bundles"
MEDIA_TYPES = {"js": "text/javascript", "css": "text/css"}

Message = dict[str, Any]
Answer = Message | Callable[[Message, Mapping[str, Any]], Message]
"""The line of a panel, or a function of the request's entry for it and of the filters."""
_FILE = '<meta name="tenantry-file" data-file="{name}" content="/-/assets/{name}">'
BROKEN_OFF: Message = {"broken": "off"}
"""In place of an answer: the whole response ends there, without its last line. Of the events: the connection breaks."""


@dataclass
class StandIn:
    """``dashboards``: by name, as the definition line has them. ``answers``: by panel id. ``choices``: by control; an
    ``error`` in place of values. ``held``: ids of panels, and names of controls, whose answer waits until a test takes
    them out."""

    url: str
    dashboards: dict[str, Message] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    choices: dict[str, list[dict[str, str]] | Message] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)
    asked: list[Message] = field(default_factory=list)
    """The bodies of the requests."""
    left: list[str] = field(default_factory=list)
    """Panels and controls whose answer nobody waited for."""
    delayed: list[str] = field(default_factory=list)
    """Panels and controls that were asked for while they were held."""
    events: list[Message] = field(default_factory=list)
    """What the answers that stay open say next."""
    changed: list[str] = field(default_factory=list)
    """Panels whose rows have changed, for a page that shows them and asks: until it has asked for them."""
    ends: set[str] = field(default_factory=set)
    """Dashboards whose next answer ends with its token, before all of it has come."""
    stays_open: bool = False
    open: int = 0
    """Answers that stay open."""
    refusal: tuple[int, Message] | None = None
    """A status and a body for every request."""

    def clear(self) -> None:
        for each in (
            self.dashboards,
            self.answers,
            self.choices,
            self.held,
            self.asked,
            self.left,
            self.delayed,
            self.events,
            self.changed,
            self.ends,
        ):
            each.clear()
        self.refusal = None

    def show(self, *rows: list[Message], name: str = "sales", **more: Any) -> str:
        """Makes a dashboard of rows of panels, each with its answer under ``rows``; its address."""
        lines = [
            [self._panel(f"{line}-{place}", each) for place, each in enumerate(row, 1)]
            for line, row in enumerate(rows, 1)
        ]
        about = {"name": name, "title": "Sales", "description": "", "locale": "en-US", "currency": "USD", "colors": {}}
        self.dashboards[name] = about | {"theme": {}, "controls": [], "rows": lines} | more
        return f"{self.url}/{name}"

    def _panel(self, panel_id: str, given: Message) -> Message:
        about = dict(given)
        answer = about.pop("answer", None)
        if answer is not None:
            self.answers[panel_id] = answer
        outer = {key: about.pop(key) for key in ("click", "refresh", "query", "reads", "width") if key in about}
        return {"id": panel_id, "kind": about["kind"], "width": 0, "view": about} | outer

    # --- what the app answers -----------------------------------------------------------------------------------------

    def frame(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self.dashboards:
            return PlainTextResponse("There is no such dashboard.", 404)
        rows = "".join(
            '<div class="skeleton-row">'
            + "".join(
                f'<div class="skeleton-panel" data-id="{each["id"]}" data-kind="{each["kind"]}"'
                f' data-width="{each["width"]}"></div>'
                for each in row
            )
            + "</div>"
            for row in self.dashboards[name]["rows"]
        )
        page = (
            '<!doctype html><html lang="en" dir="ltr"><head><meta charset="utf-8"><title>Dashboard</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta name="tenantry-hosts" content=""><meta name="tenantry-mount" content="">'
            f"{''.join(_FILE.format(name=each) for each in FURTHER)}"
            '<link rel="icon" href="data:,">'
            '<link rel="stylesheet" href="/-/assets/page.css"><script type="module" src="/-/assets/page.js"></script>'
            f'</head><body><div id="dashboard" data-name="{name}">'
            f'<div class="skeleton" aria-hidden="true">{rows}</div></div></body></html>'
        )
        return HTMLResponse(page, headers={"Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer"})

    def asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        kept = {"Cache-Control": "max-age=3600"}  # the browser compiles a script once
        return Response((BUNDLES / name).read_bytes(), media_type=MEDIA_TYPES[name.rpartition(".")[2]], headers=kept)

    async def panels(self, request: Request) -> Response:
        body = await request.json()
        self.asked.append(body)
        if self.refusal is not None:
            return JSONResponse(self.refusal[1], self.refusal[0])
        return StreamingResponse(self._lines(request.path_params["name"], body), media_type="application/x-ndjson")

    async def _lines(self, name: str, body: Message) -> AsyncIterator[bytes]:
        if body.get("definition"):
            yield _line({"dashboard": self.dashboards[name]})
        panels = body["panels"]
        if panels is None:
            shown = [each for row in self.dashboards[name]["rows"] for each in row]
            panels = [{"id": each["id"], "width": body["width"]} for each in shown if each["id"] in self.answers]
        for panel_id in {each["id"] for each in panels} & set(self.changed):
            self.changed.remove(panel_id)
        if changed := [each for each in self.changed if each in body.get("shown", ())]:
            yield _line({"changed": changed})
        controls = body.get("choices", self.choices if body.get("definition") else ())
        waiting: dict[str, Message] = {each: {} for each in controls} | {each["id"]: each for each in panels}
        noted: set[str] = set()
        while waiting:
            try:
                for each in [each for each in waiting if each not in self.held]:
                    wanted = waiting.pop(each)
                    answer = self._rows(wanted, body["filters"]) if wanted else self._control(each)
                    if answer is BROKEN_OFF:
                        return
                    yield _line(answer)
                self.delayed.extend(waiting.keys() - noted)
                noted |= waiting.keys()
                if name in self.ends:
                    self.ends.remove(name)
                    yield _line({"token": "ended"})
                    return
                await asyncio.sleep(0.01)
            except (asyncio.CancelledError, GeneratorExit):
                self.left.extend(waiting)
                raise
        yield _line({"end": True})
        if body.get("live") and self.stays_open:
            async for line in self._changes():
                yield line

    def _control(self, name: str) -> Message:
        given = self.choices[name]
        return {"choices": name} | (given if isinstance(given, dict) else {"values": given})

    def _rows(self, wanted: Message, filters: Message) -> Message:
        answer = self.answers[wanted["id"]]
        if answer is BROKEN_OFF:
            return BROKEN_OFF
        return {"panel": wanted["id"], "as_of": time.time()} | (answer(wanted, filters) if callable(answer) else answer)

    async def _changes(self) -> AsyncIterator[bytes]:
        self.open += 1
        try:
            while True:
                await asyncio.sleep(0.02)
                while self.events:
                    event = self.events.pop(0)
                    if event is BROKEN_OFF:
                        raise ConnectionError
                    yield _line(event)
                    if event.keys() & {"token", "group"}:  # nothing follows, as from the real one
                        return
        finally:
            self.open -= 1

    async def download(self, request: Request) -> Response:
        self.asked.append(await request.json())
        return JSONResponse({"address": f"/-/download/{request.path_params['panel']}"})

    async def explain(self, request: Request) -> Response:
        self.asked.append(await request.json())
        return JSONResponse({"text": f"As acme\n\nPanel {request.path_params['panel']} <b>"})

    def file(self, request: Request) -> Response:
        headers = {"Content-Disposition": 'attachment; filename="rows.csv"'}
        return PlainTextResponse("route,flights\r\n", headers=headers, media_type="text/csv")

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/-/assets/{name}", self.asset),
                Route("/-/download/{code}", self.file),
                Route("/{name:path}/-/panels/{panel}/download", self.download, methods=["POST"]),
                Route("/{name:path}/-/panels/{panel}/explanation", self.explain, methods=["POST"]),
                Route("/{name:path}/-/panels", self.panels, methods=["POST"]),
                Route("/{name:path}", self.frame),
            ]
        )


def _line(document: Message) -> bytes:
    return json.dumps(document).encode() + b"\n"


def rows(columns: Mapping[str, str], *lines: list[Any], **more: Any) -> Message:
    """The answer of a panel: columns as name -> type."""
    return {"columns": [{"name": name, "type": kind} for name, kind in columns.items()], "rows": list(lines)} | more


@contextmanager
def served() -> Iterator[StandIn]:
    """The stand-in behind a real server."""
    listener = socket.create_server(("127.0.0.1", 0))
    stand_in = StandIn(f"http://127.0.0.1:{listener.getsockname()[1]}")
    with in_thread(stand_in.app(), listener):
        yield stand_in


@contextmanager
def in_thread(app: ASGIApp, listener: socket.socket) -> Iterator[None]:
    """Serve the app in a thread with an event loop of its own, and close the listener afterwards."""
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(120)
        listener.close()
