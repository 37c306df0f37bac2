"""Checks that no value of one user group reaches another.

Each check runs twice, the second time with the groups in reverse order."""
# In two orders, each group is served after each of the others.

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain, islice
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

from starlette.routing import BaseRoute, Match, Mount, Route
from starlette.types import ASGIApp

from tenantry.datasources import DataSources
from tenantry.errors import InvalidParameter, MissingVariable
from tenantry.groups import Record, UserGroup, extend
from tenantry.sql import BoundSQL, Position, SQLTemplate
from tenantry.sql.parameters import ParameterType
from tenantry.testing.canaries import CanaryGroups, group_label
from tenantry.testing.cross_tenant_values import Recorder, observe, template_name
from tenantry.testing.requests import Call, lifespan, send_request

Binder: TypeAlias = SQLTemplate | Callable[[Record], Any]
"""A template, or your function that takes the variables of a group and returns a BoundSQL or a pair of SQL and
parameters."""

RouteCall: TypeAlias = str | Call | Callable[[UserGroup], str | Call]
"""What to request: a path ``"/sales"``, a ``Call("/sales", method="POST")``, or a function that takes a group and
returns a path or Call."""

Credentials: TypeAlias = Callable[[UserGroup], Mapping[str, str]]
"""Returns the headers by which the app identifies a group, such as ``{"Authorization": "UserGroup …"}``."""

SUCCESS = range(200, 400)

_Work: TypeAlias = tuple[str, int, Callable[[], Awaitable[None]]]  # name, group, action


class Leaks:
    """Checks templates, cache keys, data sources and apps with canary groups."""

    def __init__(self, groups: CanaryGroups, *, log_level: int = logging.DEBUG) -> None:
        self.groups: CanaryGroups = groups
        self._log_level = log_level

    def check_template(
        self, template: Binder, *, params: Mapping[str, Any] | None = None, dialect: str | None = None, name: str = ""
    ) -> None:
        """Bind a template for every group, once with and once without parameters. Text parameters that are not in
        ``params`` get canaries. Raises LeakFound, the errors of binding (without parameters: except
        MissingVariable and InvalidParameter), and AssertionError if no value of any group is in parameters, logs or
        output."""
        __tracebackhide__ = True
        recorder = Recorder(self.groups)
        what = f"template {name}" if name else template_name(template)
        with observe(recorder, self._log_level):
            for run, numbers in enumerate((self._numbers, reversed(self._numbers)), 1):
                for number in numbers:
                    recorder.begin(what, run, (number,))
                    self._bind(recorder, template, number, params, dialect)
        recorder.require(what)

    def check_keys(self, key: Callable[[UserGroup], Hashable], *, name: str = "") -> None:
        """Compute the cache key of every group. Raises LeakFound if two groups have the same key, or if a key contains
        a value of another group."""
        __tracebackhide__ = True
        recorder = Recorder(self.groups)
        with observe(recorder, self._log_level):
            for run, numbers in enumerate((self._numbers, reversed(self._numbers)), 1):
                for number in numbers:
                    recorder.begin(f"key {name or getattr(key, '__name__', '')}", run, (number,))
                    recorder.key(repr(key(self.groups[number])), of_group=True)
                    recorder.seen.add(number)
        recorder.require(name)

    async def check_rows(
        self,
        template: SQLTemplate | str,
        sources: DataSources,
        schema: str,
        *,
        params: Mapping[str, Any] | None = None,
        name: str = "",
        at_once: int = 8,
    ) -> None:
        """Run a template for every group on the group's data source: first one query at a time, then ``at_once``
        queries at the same time. Before the call, fill the tables with the values of ``groups``. Raises LeakFound, the
        errors of ``fetch``, and AssertionError if the run proves nothing because no value of any group is in
        parameters, rows, logs or output."""
        __tracebackhide__ = True
        recorder = Recorder(self.groups)
        what = f"template {name}" if name else template_name(template)

        async def fetch(number: int) -> None:
            group = self.groups[number]
            variables = extend(group.variables, "params", Record(params or {}))
            await sources.fingerprint(group, schema, template, variables)
            await sources.fetch(group, schema, template, variables)

        with observe(recorder, self._log_level):
            await _run_twice(recorder, [(what, number, partial(fetch, number)) for number in self._numbers], at_once)
        recorder.require(what)

    async def check_app(
        self,
        app: ASGIApp,
        routes: Iterable[RouteCall] | None = None,
        *,
        credentials: Credentials | None = None,
        not_checked: Container[str] = (),
        statuses: Container[int] = SUCCESS,
        at_once: int = 8,
        seconds: float = 30.0,
    ) -> None:
        """Request every route of an app for every group: first one request at a time, then ``at_once`` requests at the
        same time.

        - ``routes``: the routes to request. By default, these are all GET routes without path parameters. ``{canary}``
          in a path becomes a string that is unique to the group.
        - ``credentials``: see Credentials. By default, the group is put into the scope, as UserGroupMiddleware does.
        - ``not_checked``: routes not to request, such as ``GET /healthy``.

        Raises LeakFound, the errors of the app, and:
        - AssertionError if a route of the app was not requested, a status is not in ``statuses``, or no answer, query
          or log contains a value of any group,
        - TimeoutError if an answer takes longer than ``seconds``."""
        __tracebackhide__ = True
        known = _own_routes(app)
        asked = list(routes) if routes is not None else list(_plain_paths(known))
        calls = [[self._call(route, number, index) for number in self._numbers] for index, route in enumerate(asked)]
        unrequested = [route for route in _missed(known, chain(*calls)) if route not in not_checked]
        if unrequested:
            raise AssertionError(
                f"these routes are not requested: {', '.join(unrequested)}. Add them to `routes` or to `not_checked`"
            )
        requests = _Requests(app, self.groups, credentials, statuses, seconds)
        work = [
            (what, number, partial(requests.send, what, number, call))
            for what, of_route in zip(_names(known, asked, calls), calls, strict=True)
            for number, call in zip(self._numbers, of_route, strict=True)
        ]
        with observe(requests.recorder, self._log_level):
            async with lifespan(app, seconds) as requests.state:
                await _run_twice(requests.recorder, work, at_once)
        requests.recorder.require("the app", requests.refused)

    @property
    def _numbers(self) -> range:
        return range(len(self.groups))

    def _call(self, route: RouteCall, number: int, index: int) -> Call:
        given = route(self.groups[number]) if callable(route) else route
        call = Call(given) if isinstance(given, str) else given
        if "{canary}" not in call.path:
            return call
        canary = self.groups.add(number, f"what the viewer sent to {call.path} ({index + 1})")
        return replace(call, path=call.path.replace("{canary}", canary))

    def _bind(
        self, recorder: Recorder, template: Binder, number: int, params: Mapping[str, Any] | None, dialect: str | None
    ) -> None:
        own = self.groups[number].variables
        for given in (_viewer_input(self.groups, number, template, params or {}), {}):
            variables = extend(own, "params", Record(given))
            with suppress(*() if given else (MissingVariable, InvalidParameter)):
                if isinstance(template, SQLTemplate):
                    template.bind(variables, dialect=dialect, now=datetime.now(UTC))
                else:
                    recorder.bound(template, _as_bound(template(variables)))


class _Requests:
    def __init__(
        self,
        app: ASGIApp,
        groups: CanaryGroups,
        credentials: Credentials | None,
        statuses: Container[int],
        seconds: float,
    ) -> None:
        self.recorder = Recorder(groups)
        self.refused: dict[str, None] = {}
        self.state: dict[str, Any] = {}
        self._app = app
        self._groups = groups
        self._credentials = credentials
        self._statuses = statuses
        self._seconds = seconds

    async def send(self, what: str, number: int, call: Call) -> None:
        group, found = self._groups[number], self._groups[number] if self._credentials is None else None
        if self._credentials is not None:
            call = replace(call, headers={**call.headers, **self._credentials(group)})
        answer = await send_request(self._app, call, found, self.state, self._seconds)
        self.recorder.search(what, "response body", answer.text, (number,))
        self.recorder.search(what, "response headers", answer.header_text, (number,))
        if answer.status not in self._statuses:
            self.refused[f"{what} answered {answer.status} to {group_label(number)}"] = None


async def _run_twice(recorder: Recorder, work: Sequence[_Work], at_once: int) -> None:
    # The first run is one at a time, so that each output belongs to one item.
    for what, number, action in work:
        recorder.begin(what, 1, (number,))
        await action()
    backwards = iter(reversed(work))
    while batch := list(islice(backwards, max(1, at_once))):
        recorder.begin(
            " and ".join(dict.fromkeys(what for what, *_ in batch)), 2, tuple(number for _, number, _ in batch)
        )
        await asyncio.gather(*(action() for *_, action in batch))


def _names(known: Sequence[BaseRoute], asked: Sequence[RouteCall], calls: Sequence[Sequence[Call]]) -> list[str]:
    return [
        f"{of_route[0].method} {route if isinstance(route, str) else _matched(known, of_route[0]) or of_route[0].path}"
        for route, of_route in zip(asked, calls, strict=True)
    ]


def _viewer_input(groups: CanaryGroups, number: int, template: Binder, params: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = dict(params)
    if not isinstance(template, SQLTemplate):
        return made
    for variable in template.variables:
        root, _, name = variable.path.partition(".")
        if root == "params" and name not in made and "." not in name:
            canary = groups.add(number, variable.path)
            declared = template.parameters.get(name)
            if declared is None:
                made[name] = {Position.LIST: [canary], Position.LIMIT: 10}.get(variable.position, canary)
            elif declared.type is ParameterType.TEXT and declared.choices is None:
                made[name] = [canary] if declared.is_list else canary
    return made


def _as_bound(made: Any) -> BoundSQL:
    if isinstance(made, BoundSQL):
        return made
    sql, params = made
    return BoundSQL(sql, params, "qmark", "sqlite")


# --- routes of the app ------------------------------------------------------------------------------------------------


def _own_routes(app: Any) -> tuple[BaseRoute, ...]:
    while app is not None:
        routes = getattr(app, "routes", None)
        if routes is not None:
            return tuple(routes)
        app = getattr(app, "app", None)
    return ()


def _plain_paths(routes: Iterable[BaseRoute]) -> list[str]:
    return [path for path, route in _flat(routes) if "{" not in path and "GET" in (route.methods or {"GET"})]


def _missed(routes: Iterable[BaseRoute], calls: Iterable[Call]) -> list[str]:
    given = list(calls)
    return [
        f"{method} {path}"
        for path, route in _flat(routes)
        for method in sorted(route.methods or {"GET"})
        if method != "HEAD" and not any(call.method == method and _matches(path, route, call) for call in given)
    ]


def _matched(routes: Iterable[BaseRoute], call: Call) -> str:
    return next((path for path, route in _flat(routes) if _matches(path, route, call)), "")


def _flat(routes: Iterable[BaseRoute], prefix: str = "") -> Iterator[tuple[str, Route]]:
    for route in routes:
        if isinstance(route, Mount):
            yield from _flat(route.routes or (), prefix + route.path)
        elif isinstance(route, Route):
            yield prefix + route.path, route


def _matches(path: str, route: Route, call: Call) -> bool:
    prefix = path.removesuffix(route.path)
    asked = unquote(urlsplit(call.path).path)
    if not asked.startswith(prefix):
        return False
    scope = {"type": "http", "method": call.method, "path": asked.removeprefix(prefix), "root_path": "", "headers": []}
    return route.matches(scope)[0] is Match.FULL
