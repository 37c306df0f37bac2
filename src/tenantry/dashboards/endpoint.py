from __future__ import annotations

import contextlib
import inspect
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast, overload

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketClose, WebSocketDisconnect, WebSocketState

from tenantry.dashboards.embedding.frame_ancestors import frame_ancestors_policy
from tenantry.dashboards.protocol.paced_send import LargeBodiesInPieces
from tenantry.errors import TenantryError
from tenantry.groups import Record, RecordList, UserGroup
from tenantry.html import to_json
from tenantry.http import (
    HANDSHAKE_KEY,
    error_response,
    user_group,
    variables,
    watched_request,
    while_connected,
    while_thread_works,
)

POLICY_VIOLATION = 1008
"""Close code of a websocket after a TenantryError (RFC 6455 section 7.4.1)."""

_log = logging.getLogger("tenantry.dashboards")


@overload
async def error_handler(request: Request, error: Exception) -> Response: ...


@overload
async def error_handler(request: WebSocket, error: Exception) -> None: ...


async def error_handler(request: HTTPConnection, error: Exception) -> Response | None:
    """Turn a TenantryError from a view into a page or JSON.

    Install it with ``app.add_exception_handler(TenantryError, error_handler)``. Without it, the response to a
    TenantryError is a 500. A websocket that is not accepted yet is rejected with the handler's response, or with 403 if
    the server cannot send one. An open websocket is closed with 1008 and the error's code.
    """
    error = cast("TenantryError", error)  # Starlette types the argument as Exception
    response = render_error(error, request)
    if not isinstance(request, WebSocket):
        return response
    # Starlette may pass another WebSocket object than the view's, with an outdated state. So ask the middleware whether
    # the handshake was answered. Without the middleware, close the websocket, which is valid in every state.
    handshake = request.scope.get(HANDSHAKE_KEY)
    with contextlib.suppress(WebSocketDisconnect):  # the client has left
        if (
            handshake is not None
            and not handshake.answered
            and "websocket.http.response" in (request.scope.get("extensions") or {})
        ):
            await request.send_denial_response(response)
        elif WebSocketState.DISCONNECTED not in {request.application_state, request.client_state}:
            await request.close(POLICY_VIOLATION, error.code)
    return None  # Starlette would send a returned Response even after the handshake


def render_error(error: TenantryError, request: HTTPConnection) -> Response:
    """Return the response. Log the error if its status is at least 500 or the response hides the reason."""
    if error.status < 500 and error.generic_message is not None:
        _log.warning("%s: %s", error.code, error.message)
    elif error.status >= 500:
        _log.error("%s: %s", error.code, error.message, exc_info=error)
    status, headers, body = error_response(error, request.scope)
    response = Response(body, status)
    response.raw_headers = headers
    return response


Renderer = Callable[..., Any]
"""Makes a dashboard, as described at ``dashboard``."""

FrameAncestors = Sequence[str] | Callable[[UserGroup], Sequence[str]]

ARGUMENTS = ("group", "user_group", "variables", "request")
"""Names that a renderer's parameters may have. ``group`` and ``user_group`` both get the UserGroup."""
_READING = frozenset({"GET", "HEAD"})
"""HTTP methods whose renderer is cancelled when the viewer leaves."""


class Dashboard:
    """An ASGI endpoint: ``Route("/sales", dashboard(sales))`` or ``app.mount("/sales", dashboard(sales))``. In FastAPI,
    use ``app.mount`` or ``app.add_route``, not ``@app.get``."""

    def __init__(self, renderer: Renderer, frame_ancestors: FrameAncestors) -> None:
        self._renderer = renderer
        self._positional, self._keywords = _parameters(renderer)
        self._is_async = _is_async(renderer)
        self._frame_ancestors: Callable[[UserGroup], str]
        if callable(frame_ancestors):
            self._frame_ancestors = lambda group: frame_ancestors_policy(frame_ancestors(group))
        else:
            policy = frame_ancestors_policy(frame_ancestors)
            self._frame_ancestors = lambda group: policy
        self.__name__: str = getattr(renderer, "__name__", type(renderer).__name__)  # the default name of the route
        self.__doc__ = renderer.__doc__

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":  # ``app.mount`` routes websockets here too
            await WebSocketClose()(scope, receive, send)
            return
        is_read = scope["method"] in _READING
        request = watched_request(scope, receive, send) if is_read else Request(scope, receive, send)
        try:
            group = user_group(request)
            policy = self._frame_ancestors(group)
            given = {"group": group, "user_group": group, "variables": variables(request), "request": request}
            keywords = {name: given[what] for name, what in self._keywords}
            call = partial(self._renderer, *[given[name] for name in self._positional], **keywords)
            response = _response(await (self._read(request, call) if is_read else self._call(call)))
        except TenantryError as error:
            response = render_error(error, request)
        else:
            set_embedding_headers(response, policy)
        await LargeBodiesInPieces(response)(scope, request.receive, send)

    async def _call(self, call: Callable[[], Any]) -> Any:
        result = await call() if self._is_async else await run_in_threadpool(call)
        return await result if inspect.isawaitable(result) else result  # a plain callable may return a coroutine

    async def _read(self, request: Request, call: Callable[[], Any]) -> Any:
        result: Any = None
        if not self._is_async:
            async with while_thread_works(request):
                result = await run_in_threadpool(call)
            if not inspect.isawaitable(result):
                return result
        async with while_connected(request):
            return await (call() if self._is_async else result)


def dashboard(renderer: Renderer, *, frame_ancestors: FrameAncestors = ()) -> Dashboard:
    """Make an ASGI endpoint from a renderer.

    The renderer gets the arguments that its parameters name: ``group`` (or ``user_group``), ``variables`` and
    ``request``. A parameter ``**keywords`` gets all three. A single parameter of any other name gets the group if it is
    annotated as UserGroup, the variables if annotated as Record, and otherwise the request. All other parameters need
    defaults. A returned string is sent as HTML, a dict or list as JSON, a Response unchanged.

    A plain function runs in a thread. When the client disconnects during a GET or HEAD request, a renderer that is a
    coroutine function is cancelled. A plain function continues, but its queries raise ViewerLeft.

    ``frame_ancestors``: the origins whose pages may embed the dashboard (``https://*.example.com``, ``'self'``), or a
    function of the group that returns them. By default, no page may. The origins become an additional
    Content-Security-Policy.

    The response also gets these headers:
    - ``X-Content-Type-Options: nosniff``
    - ``Referrer-Policy: no-referrer``, unless the renderer sets this header
    - ``Cache-Control: private, no-store``, unless the renderer sets one that prevents shared caching

    A TenantryError becomes a page or JSON; other exceptions propagate. ``dashboard`` raises TypeError if it cannot
    fill the renderer's parameters, and InvalidSettings for an invalid origin.
    """
    return Dashboard(renderer, frame_ancestors)


# --- the parameters of a renderer -------------------------------------------------------------------------------------


def _parameters(renderer: Renderer) -> tuple[list[str], list[tuple[str, str]]]:
    try:
        parameters = list(inspect.signature(renderer, eval_str=False).parameters.values())
    except ValueError:
        raise TypeError(
            f"{renderer!r} has no signature: wrap it in a function with the parameters group, variables and request"
        ) from None
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_ONLY and p.name in ARGUMENTS]
    keywords = [(p.name, p.name) for p in parameters if p.kind in _BY_KEYWORD and p.name in ARGUMENTS]
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        named = {*positional, *dict(keywords)}
        keywords += [(name, name) for name in ("group", "variables", "request") if name not in named]
    unknown = [p for p in parameters if p.name not in ARGUMENTS and p.default is p.empty and p.kind not in _VARIADIC]
    if not unknown:
        return positional, keywords
    if len(unknown) > 1 or positional or keywords or unknown[0].kind is inspect.Parameter.KEYWORD_ONLY:
        names = ", ".join(p.name for p in unknown)
        raise TypeError(f"a renderer can have the parameters {', '.join(ARGUMENTS)}: {renderer!r} also has {names}")
    annotation = unknown[0].annotation
    kind = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return [{"UserGroup": "group", "Record": "variables"}.get(kind.rpartition(".")[2], "request")], []


_BY_KEYWORD = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _is_async(renderer: Renderer) -> bool:
    while isinstance(renderer, partial):
        renderer = renderer.func
    return inspect.iscoroutinefunction(renderer) or inspect.iscoroutinefunction(type(renderer).__call__)


# --- the response of a renderer ---------------------------------------------------------------------------------------


def _response(result: Any) -> Response:
    if isinstance(result, Response):
        return result
    if isinstance(result, str):
        return HTMLResponse(result)
    if isinstance(result, dict | list | Record | RecordList):
        return Response(to_json(result), media_type="application/json")
    raise TypeError(f"a renderer must return a string, dict, list or Response, not {type(result).__name__}")


def set_embedding_headers(response: Response, policy: str) -> None:
    """Add the headers of an embedded page. Replace a Cache-Control that lets shared caches store the page."""
    headers = response.headers
    if policy not in headers.getlist("Content-Security-Policy"):  # a renderer may return the same Response again
        headers.append("Content-Security-Policy", policy)  # browsers obey every policy of a response
    headers["X-Content-Type-Options"] = "nosniff"
    headers.setdefault("Referrer-Policy", "no-referrer")  # the page's address may contain the token
    directives = {part.strip().lower().partition("=")[0] for part in headers.get("Cache-Control", "").split(",")}
    if not directives & {"private", "no-store"} or directives & {"public", "s-maxage"}:
        headers["Cache-Control"] = "private, no-store"
