# The store keeps only the digests of links and sessions, and what the author may do.

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from tenantry.dashboards import MAX_PAYLOAD, Purpose, SingleUseCodes, StrictBody, read_request
from tenantry.editor.authors import EditorAuthor, Right
from tenantry.editor.requests import EditorEndpoints
from tenantry.editor.workbench import EditorStore
from tenantry.errors import CodeUsed, InvalidBody, InvalidSettings, NoAuthor
from tenantry.groups import AuditNote, Author
from tenantry.ports import CodeShare

SESSION_HOURS: Final = 8.0
"""Default length of a session, in hours."""

_MAX_SESSIONS: Final = 20
"""Maximum number of sessions, and of unused links, for one author. When one more is added, the oldest ends."""

_MAX_COOKIES: Final = 20

_COOKIE: Final = "__Secure-tenantry-editor"


class EditorSessions:
    """Issues one-time links and finds the author of a session."""

    def __init__(self, store: EditorStore, *, hours: float = SESSION_HOURS) -> None:
        self.seconds = round(hours * 3_600)
        self._audit = store.audit
        self._codes = SingleUseCodes(store.codes)

    async def issue(self, author: EditorAuthor, by: Author) -> str:
        """Return the code of a link that ``author`` can open once, within ten minutes. ``by``: the person who creates
        the link, for the audit trail. Raises StoreUnavailable, and InvalidSettings if the names of the author's
        environments are too long for a link."""
        payload = _payload(author)
        if len(payload.encode()) > MAX_PAYLOAD:
            raise InvalidSettings("the names of the environments are too long for one link: name fewer environments")
        note = AuditNote(by, "editor.link_created", "", author.name, _details(author))
        return await self._codes.issue(Purpose.EDITOR, payload, audited=note, share=_share(author.name))

    async def open(self, code: str) -> str:
        """Use up the code of a link, and return the key of a new session. Raises CodeUsed and StoreUnavailable."""
        payload = await self._codes.redeem(Purpose.EDITOR, code)
        if payload is None:
            raise CodeUsed("this link has already been used, has expired or never existed: request a new one")
        author = _author(payload)
        note = AuditNote(author.audited(), "editor.opened", "", author.name, _details(author))
        return await self._codes.issue(
            Purpose.EDITOR_SESSION, payload, self.seconds, audited=note, share=_share(author.name)
        )

    async def find(self, key: str) -> EditorAuthor | None:
        """Return the author of the live session with this key, or None. Raises StoreUnavailable."""
        payload = await self._codes.read(Purpose.EDITOR_SESSION, key)
        return None if payload is None else _author(payload)

    async def end(self, key: str) -> bool:
        """End the session. Return whether it existed. Raises StoreUnavailable."""
        payload = await self._codes.redeem(Purpose.EDITOR_SESSION, key)
        if payload is None:
            return False
        author = _author(payload)
        await self._audit.record(AuditNote(author.audited(), "editor.closed", "", author.name))
        return True

    async def end_all(self, name: str, by: Author) -> int:
        """End all sessions and unused links of the author with this name. Return their number. Raises
        StoreUnavailable."""
        group = _share(name).owner
        ended = [await self._codes.delete(each, group) for each in (Purpose.EDITOR, Purpose.EDITOR_SESSION)]
        await self._audit.record(AuditNote(by, "editor.sessions_ended", "", name, {"ended": str(sum(ended))}))
        return sum(ended)


class SessionAuthors:
    """Finds the author of a request by the session in its cookie. Raises NoAuthor if the request has several session
    cookies with different values."""

    def __init__(self, sessions: EditorSessions) -> None:
        self._sessions = sessions

    async def __call__(self, request: Request) -> EditorAuthor | None:
        keys = session_keys(request)
        if len(keys) > 1:  # another application may have set one to make the author work in somebody else's session
            raise NoAuthor(
                f"another application on this host also sets the cookie {cookie_name(request)}: delete the cookies of "
                "this host in your browser, and open a new link"
            )
        return await self._sessions.find(keys.pop()) if keys else None


def session_keys(request: Request) -> list[str]:
    """Return the distinct values of the session's cookie, at most 20, in the order of the request."""
    pairs = [part.partition("=") for part in ";".join(request.headers.getlist("cookie")).split(";")]
    keys = dict.fromkeys(value.strip() for name, _, value in pairs if name.strip() == cookie_name(request))
    return list(keys)[:_MAX_COOKIES]  # anyone may send many, and each costs a read of the store


def cookie_name(request: Request) -> str:
    # The name contains the port: browsers send a host's cookies to all its ports.
    return _COOKIE if request.url.port is None else f"{_COOKIE}-{request.url.port}"


def _share(name: str) -> CodeShare:
    return CodeShare(sha256(f"editor {name}".encode()).digest(), _MAX_SESSIONS)


def _details(author: EditorAuthor) -> dict[str, str]:
    environments = "all" if author.environments is None else " ".join(sorted(author.environments))
    return {"rights": " ".join(sorted(author.rights)), "environments": environments}


def _payload(author: EditorAuthor) -> str:
    environments = None if author.environments is None else sorted(author.environments)
    return json.dumps({"author": author.name, "rights": sorted(author.rights), "environments": environments})


def _author(payload: str) -> EditorAuthor:
    kept: dict[str, Any] = json.loads(payload)
    environments: Iterable[str] | None = kept["environments"]
    rights = {Right(each) for each in kept["rights"] if each in set(Right)}  # a later release may have others
    return EditorAuthor(kept["author"], frozenset(rights), None if environments is None else frozenset(environments))


class LinkBody(StrictBody):
    code: str
    """The code in the fragment of a one-time link."""


def session_routes(endpoints: EditorEndpoints, sessions: EditorSessions) -> list[BaseRoute]:
    """Return the route that opens a session, and the route that ends the sessions of all session cookies in a
    request."""

    async def open_session(request: Request) -> Response:
        endpoints.require_page(request)
        _require_https(request)
        key = await sessions.open((await read_request(request, LinkBody)).code)
        return _with_cookie(request, key, sessions.seconds)

    async def end(request: Request) -> Response:
        endpoints.require_page(request)
        if not any([await sessions.end(key) for key in session_keys(request)]):
            raise NoAuthor(NoAuthor.MESSAGE)
        return _with_cookie(request, "", 0)

    return [
        Route("/-/session", open_session, methods=["POST"]),
        Route("/-/session/end", end, methods=["POST"]),
    ]


def _with_cookie(request: Request, key: str, seconds: int) -> Response:
    response = JSONResponse({}, headers={"Cache-Control": "no-store"})
    response.set_cookie(
        cookie_name(request),
        key,
        max_age=seconds,
        path=request.scope.get("root_path", "") or "/",
        secure=True,
        httponly=True,
        samesite="strict",
    )
    return response


def _require_https(request: Request) -> None:
    """Raise InvalidBody if the browser would discard the session's cookie. Call this before the one-time link is used
    up."""
    origin = urlsplit(request.headers.get("origin", ""))
    if origin.scheme == "http" and not _is_local(origin.hostname or ""):
        raise InvalidBody("open the editor at an https:// address: browsers do not keep a session over http://")


def _is_local(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
