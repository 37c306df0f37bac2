"""A server that answers the editor's page with what a test gives it, under the page's own policy."""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from tenantry.editor.page import page_routes
from tests.dashboards.page.stand_in import in_thread
from tests.editor.blank_page import blank_page

Message = dict[str, Any]
Answer = Message | list[Message] | tuple[int, Message]
"""A JSON object, the lines of an answer, or a status and an object."""

QUERY = "queries/by_day.sql"
SECOND = "queries/delays.sql"
DASHBOARD = "dashboards/flights.yaml"
GROUPS = {"ua": "United Air Lines", "b6": "JetBlue Airways", "ha": "Hawaiian Airlines"}
COLUMNS = [{"name": "day", "type": "date"}, {"name": "flights", "type": "integer"}]
ROWS = {
    "ua": [["2026-01-01", 165], ["2026-01-02", 170], ["2026-01-03", 159]],
    "b6": [["2026-01-01", 157], ["2026-01-02", 170], ["2026-01-04", 160]],
}


def revision_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass
class StandIn:
    """``answers``: by the path of the request; a function gets the body. ``held``: paths whose answer waits until a
    test takes them out. ``asked``: paths and bodies of the requests. ``left``: paths whose answer nobody waited for."""

    url: str = ""
    files: dict[str, str] = field(default_factory=dict)
    head: dict[str, str] = field(default_factory=dict)
    answers: dict[str, Answer | Callable[[Message], Answer]] = field(default_factory=dict)
    state: Message = field(default_factory=dict)
    held: set[str] = field(default_factory=set)
    asked: list[tuple[str, Message]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    signed_in: bool = True

    def clear(self) -> None:
        self.files = {
            QUERY: "select day, count(*) as flights\nfrom flights\nwhere carrier = {{ carrier }}\ngroup by day\n",
            SECOND: "select avg(delay) as delay from flights where carrier = {{ carrier }}\n",
            DASHBOARD: "title: Flights\nrows:\n  - {line: flights, by: day, query: by_day}\n",
        }
        self.head = dict(self.files)
        self.answers = {}
        self.state = {
            "author": "ann",
            "rights": ["run", "save", "view"],
            "environments": ["production"],
            "read_only": False,
            "has_session": True,
        }
        self.held, self.asked, self.left, self.signed_in = set(), [], [], True

    def bodies(self, path: str) -> list[Message]:
        """The bodies of the requests of this path."""
        return [body for each, body in self.asked if each == path]

    def last(self, path: str) -> Message:
        """The body of the newest request of this path; an empty one before there is any."""
        return next(reversed(self.bodies(path)), {})

    # --- answers ------------------------------------------------------------------------------------------------------

    def answer(self, path: str, body: Message) -> Answer:
        given = self.answers.get(path)
        if given is not None:
            return given(body) if callable(given) else given
        usual: Callable[[Message], Answer] | None = getattr(self, "_" + path.replace("/", "_").replace("-", "_"), None)
        return usual(body) if usual else refusal(404, "not_found", f"no answer for {path}")

    def _state(self, body: Message) -> Answer:
        return self.state

    def _session(self, body: Message) -> Answer:
        if body["code"] != "good":
            return refusal(401, "link_used", "This link has been used, or has expired.")
        self.signed_in = True
        return {}

    def _session_end(self, body: Message) -> Answer:
        self.signed_in = False
        return {}

    def _file_new(self, body: Message) -> Answer:
        return {}

    def _files(self, body: Message) -> Answer:
        found = [
            {
                "path": path,
                "kind": "query" if path.endswith(".sql") else "dashboard",
                "status": "new" if path not in self.head else "same" if self.head[path] == text else "changed",
            }
            for path, text in sorted(self.files.items())
        ]
        return {"files": found, "git": True}

    def _file(self, body: Message) -> Answer:
        path = body["path"]
        if path not in self.files:
            return refusal(404, "unknown_file", f"There is no file {path}.")
        return {"path": path, "text": self.files[path], "revision": revision_of(self.files[path])}

    def _file_head(self, body: Message) -> Answer:
        return {"text": self.head.get(body["path"])}

    def _file_save(self, body: Message) -> Answer:
        path = body["path"]
        now = revision_of(self.files[path]) if path in self.files else None
        if body["revision"] != now:
            status, answer = refusal(409, "file_conflict", "The file has changed.")
            return status, answer | {"theirs": {"text": self.files.get(path), "revision": now}}
        self.files[path] = body["text"]
        return {"revision": revision_of(body["text"])}

    def _file_delete(self, body: Message) -> Answer:
        del self.files[body["path"]]
        return {}

    def _file_rename(self, body: Message) -> Answer:
        self.files[body["to"]] = self.files.pop(body["path"])
        return {"revision": revision_of(self.files[body["to"]])}

    def _format(self, body: Message) -> Answer:
        return {"text": body["text"].replace("select", "SELECT")}

    def _commit_message(self, body: Message) -> Answer:
        return {"message": "Change queries/by_day.sql"}

    def _groups(self, body: Message) -> Answer:
        search = body["search"].lower()
        found = [{"id": key, "name": name} for key, name in GROUPS.items() if search in key or search in name.lower()]
        return {"groups": found, "more": False}

    def _group(self, body: Message) -> Answer:
        return {"id": body["group"], "name": GROUPS[body["group"]], "schemas": ["main"], "suspended": False}

    def _check(self, body: Message) -> Answer:
        at = body["text"].find("wrong")
        finding = {
            "from": at,
            "to": at + 5,
            "severity": "error",
            "code": "unknown_variable",
            "message": "There is no variable wrong.",
            "fix": "Use carrier.",
            "edit": {"from": at, "to": at + 5, "insert": "carrier"},
        }
        return {"findings": [] if at < 0 else [finding], "dialect": "postgresql"}

    def _variables(self, body: Message) -> Answer:
        params = [{"name": "since", "type": "date"}] if "params.since" in body["text"] else []
        return {"variables": [], "params": params, "fragments": [], "dashboards": []}

    def _catalogue(self, body: Message) -> Answer:
        return {"dialect": "postgresql", "tables": [], "functions": [], "age": 0}

    def _meaning(self, body: Message) -> Answer:
        return {"sql": "select 1", "placeholders": [], "tables": [], "source": "warehouse"}

    def _run(self, body: Message) -> Answer:
        return run_lines(*ROWS.get(body["group"], []), unguarded=body["unguarded"])

    def _plan(self, body: Message) -> Answer:
        return {"text": "Seq Scan on flights"}

    def _sample(self, body: Message) -> Answer:
        good = {"group": "ua", "name": GROUPS["ua"], "rows": 3, "seconds": 0.01}
        error = {"code": "missing_variable", "message": "The property carrier is missing."}
        bad = {"group": "ha", "name": GROUPS["ha"], "error": error}
        return [good, bad, {"done": {"ok": 1, "failed": 1}}]

    def _preview(self, body: Message) -> Answer:
        return {"preview": "p1", "address": None if body["preview"] else "/shown", "seconds": 3_000}

    def _add_panel(self, body: Message) -> Answer:
        panel = f"  - {{{body['kind']}: {body['column']}, by: {body['by']}, query: {body['query']}}}\n"
        return {"text": body["text"] + panel}

    # --- the app ------------------------------------------------------------------------------------------------------

    async def respond(self, request: Request) -> Response:
        path, body = request.path_params["path"], await request.json()
        assert request.headers["X-Tenantry-Editor"] == "1"
        self.asked.append((path, body))
        if not self.signed_in and path != "session":
            status, answer = refusal(401, "no_author", "You are not signed in.")
            return JSONResponse(answer, status)
        if path == "csv":
            return Response("day,flights\r\n2026-01-01,165\r\n", media_type="text/csv")
        if path not in self.held:
            answered = self.answer(path, body)
            if isinstance(answered, dict):
                return JSONResponse(answered)
            if isinstance(answered, tuple):
                return JSONResponse(answered[1], answered[0])
        return StreamingResponse(self._lines(path, body), media_type="application/x-ndjson")

    async def _lines(self, path: str, body: Message) -> AsyncIterator[bytes]:
        try:
            yield b"\n"
            while path in self.held:
                await asyncio.sleep(0.01)
                yield b"\n"
        except (asyncio.CancelledError, GeneratorExit):
            self.left.append(path)
            raise
        answered = self.answer(path, body)
        for line in answered if isinstance(answered, list) else [answered]:
            yield json.dumps(line).encode() + b"\n"

    def app(self) -> Starlette:
        schema = Route("/-/dashboard-schema.json", lambda request: JSONResponse({"type": "object"}))
        routes = [*page_routes(), schema, blank_page(), Route("/-/{path:path}", self.respond, methods=["POST"])]
        heading = "<h1>The dashboard as shown</h1><div style=height:3000px>"
        shown = HTMLResponse(f"<!doctype html><html lang=en><title>Shown</title>{heading}")
        return Starlette(routes=[Mount("/editor", routes=routes), Route("/shown", lambda request: shown)])


def refusal(status: int, code: str, message: str) -> tuple[int, Message]:
    return status, {"success": 0, "error": {"code": code, "message": message}}


def run_lines(
    *rows: list[Any], columns: list[Message] = COLUMNS, unguarded: bool = False, **done: Any
) -> list[Message]:
    parameter = {"placeholder": "$1", "path": "carrier", "origin": "property", "type": "text", "value": "UA"}
    source = {"id": "ds_1", "name": "warehouse"}
    started = {"source": source, "engine": "PostgreSQL", "sql": "select day from flights where carrier = $1"}
    facts = {"parameters": [parameter], "limits": {"rows": 10_000}, "unguarded": unguarded}
    facts |= {"guards": [{"table": "flights", "condition": "carrier = $1"}], "suspended": False, "notes": []}
    end = {"rows": len(rows), "seconds": 0.034, "queue_seconds": 0.0, "cut": False}
    return [{"started": started | facts}, {"columns": columns}, {"rows": [*rows]}, {"done": end | done}]


@contextmanager
def served() -> Iterator[StandIn]:
    """The stand-in behind a real server."""
    listener = socket.create_server(("127.0.0.1", 0))
    stand_in = StandIn(f"http://127.0.0.1:{listener.getsockname()[1]}/editor/")
    stand_in.clear()
    with in_thread(stand_in.app(), listener):
        yield stand_in
