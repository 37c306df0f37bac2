"""The leak kit against programs that leak on purpose: each kind of crossing has one that only its search can see.

Each search, each patch of an observation and each demand of a check was taken out once; a test here was red.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from tenantry import DataSources, user_group, variables
from tenantry.backends.memory.store import MemoryStore
from tenantry.groups import Record, SourceDraft, Tag, UserGroup
from tenantry.sql import SQLTemplate
from tenantry.testing import Call, CanaryGroups, LeakFound, Leaks, canary_groups

ORDERS = SQLTemplate("select * from orders where region = {{ region }} [[ and at >= {{ params.since }} ]]")
View = Callable[[Request], Any]


@pytest.fixture
def leak_groups() -> CanaryGroups:
    return canary_groups(like={"region": "eu", "seats": 20, "since": "2026-01-01"}, mapping={"main": "warehouse"})


@pytest.fixture
def leaks(leak_groups: CanaryGroups) -> Leaks:
    return Leaks(leak_groups)


def app_of(view: View, path: str = "/sales") -> Starlette:
    return Starlette(routes=[Route(path, view)])


async def own_region(request: Request) -> Response:
    return PlainTextResponse(variables(request)["region"])


def where(error: pytest.ExceptionInfo[LeakFound]) -> set[str]:
    return {crossing.where for crossing in error.value.crossings}


# --- apps -------------------------------------------------------------------------------------------------------------


async def test_an_app_that_answers_each_group_with_its_own_is_clean(leaks: Leaks) -> None:
    """The control of all that follow: what a group sees of itself is no crossing, in any place."""

    async def view(request: Request) -> Response:
        group = user_group(request)
        bound = ORDERS.bind(group.variables)
        bound.fingerprint(source="a", revision="1", group=group.handle.hex())
        logging.getLogger("shop").warning("served %s", group.name)
        print(group.name)
        return JSONResponse(bound.params, headers={"X-Group": group.provided_id})

    await leaks.check_app(app_of(view))


async def test_rows_cached_without_the_group_in_the_key(leaks: Leaks) -> None:
    """The usual leak: a cache of results by the query's name."""
    cached: dict[str, list[str]] = {}

    async def view(request: Request) -> Response:
        return JSONResponse(cached.setdefault("orders", [variables(request)["region"]]))

    with pytest.raises(LeakFound) as error:
        await leaks.check_app(app_of(view))
    assert where(error) == {"response body"}
    assert {(each.owner, each.what) for each in error.value.crossings} == {("Group 1", "GET /sales")}
    assert {each.served for each in error.value.crossings} == {"Group 2", "Group 3", "Group 4", "Group 5"}


async def test_a_response_cached_by_its_address(leaks: Leaks) -> None:
    """As by a shared cache in front of the app: also the headers are another's. A canary in the query keeps the
    answers of the other route apart, so that one is clean."""
    cached: dict[str, Response] = {}

    async def view(request: Request) -> Response:
        found = cached.get(str(request.url))
        if found is None:
            region = variables(request)["region"]
            found = cached[str(request.url)] = PlainTextResponse(region, headers={"ETag": f'"{region}"'})
        return found

    with pytest.raises(LeakFound) as error:
        await leaks.check_app(app_of(view), ["/sales", "/sales?q={canary}"])
    assert where(error) == {"response body", "response headers"}
    assert {each.what for each in error.value.crossings} == {"GET /sales"}


async def test_what_one_viewer_sent_shown_to_another(leaks: Leaks) -> None:
    """``{canary}`` in a path: the last search is a global."""
    last = [""]

    async def view(request: Request) -> Response:
        before, last[0] = last[0], request.query_params["q"]
        return PlainTextResponse(variables(request)["region"] + before)

    with pytest.raises(LeakFound, match="what the viewer sent to /sales"):
        await leaks.check_app(app_of(view), ["/sales?q={canary}"])


@pytest.mark.parametrize("propagate", [True, False])
@pytest.mark.parametrize("level", [logging.DEBUG, logging.ERROR])
async def test_a_log_line_with_anothers_value(
    leaks: Leaks, level: int, propagate: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every level, and from loggers that no handler of the root sees."""
    log = logging.getLogger(f"shop.{propagate}")
    monkeypatch.setattr(log, "propagate", propagate)
    monkeypatch.setattr(log, "handlers", [logging.NullHandler()])  # without any handler Python writes to stderr
    before: list[str] = []

    async def view(request: Request) -> Response:
        before.append(variables(request)["region"])
        log.log(level, "after %s", before[-2:][0])
        return PlainTextResponse(before[-1])

    with pytest.raises(LeakFound) as error:
        await leaks.check_app(app_of(view))
    assert where(error) == {f"log of shop.{propagate}"}


@pytest.mark.parametrize("how", ["extra", "traceback"])
async def test_a_log_record_with_anothers_value_beside_its_message(leaks: Leaks, how: str) -> None:
    """What a handler could write besides."""
    before: list[str] = []

    async def view(request: Request) -> Response:
        before.append(variables(request)["region"])
        log = logging.getLogger("shop")
        if how == "extra":
            log.warning("slow", extra={"previous": before[-2:][0]})
        else:
            try:
                {}[before[-2:][0]]
            except KeyError:
                log.exception("failed")
        return PlainTextResponse(before[-1])

    with pytest.raises(LeakFound) as error:
        await leaks.check_app(app_of(view))
    assert where(error) == {"log of shop"}


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_a_print_of_anothers_value(leaks: Leaks, stream: str) -> None:
    before: list[str] = []

    async def view(request: Request) -> Response:
        before.append(variables(request)["region"])
        print(before[-2:][0], file=getattr(sys, stream))
        return PlainTextResponse(before[-1])

    with pytest.raises(LeakFound) as error:
        await leaks.check_app(app_of(view))
    assert where(error) == {stream}


async def test_a_value_spliced_into_sql(leaks: Leaks) -> None:
    """Also the group's own: SQL text has no values. The search is red where the parameters and rows are in order."""

    async def view(request: Request) -> Response:
        region = variables(request)["region"]
        SQLTemplate(f"select * from orders where region = '{region}'").bind({})
        return PlainTextResponse(region)

    with pytest.raises(LeakFound, match=re.escape("SQL text for Group 1 has its own properties.region")) as error:
        await leaks.check_app(app_of(view))
    assert where(error) == {"SQL text"}


async def test_parameters_of_another_group(leaks: Leaks) -> None:
    """A query bound with variables that a global remembers; the page itself shows none of it."""
    first: list[Record] = []

    async def view(request: Request) -> Response:
        first.append(user_group(request).variables)
        ORDERS.bind(first[0])
        return PlainTextResponse(variables(request)["region"])

    with pytest.raises(LeakFound) as error:
        await leaks.check_app(app_of(view))
    assert where(error) == {"parameters"}


async def test_a_cache_key_of_two_groups(leaks: Leaks) -> None:
    """The fingerprint of a query that reads the group, made with a constant for it. Where nothing of a group is read
    the key is rightly one for all."""
    shared = SQLTemplate("select 1")
    fixed = SQLTemplate("select {{ plan }} as plan")

    def app(template: SQLTemplate) -> Starlette:
        async def view(request: Request) -> Response:
            template.bind({"plan": "basic"}).fingerprint(source="a", revision="1", group="all")
            return PlainTextResponse(variables(request)["region"])

        return app_of(view)

    await leaks.check_app(app(shared))
    with pytest.raises(LeakFound) as error:
        await leaks.check_app(app(fixed))
    assert where(error) == {"cache key"}


async def test_a_global_that_two_requests_share(leaks: Leaks) -> None:
    """Right one at a time: only the second run, with several requests at once, sees it."""
    current: list[UserGroup] = []

    async def view(request: Request) -> Response:
        current[:] = [user_group(request)]
        await asyncio.sleep(0)
        return PlainTextResponse(current[0].variables["region"])

    with pytest.raises(LeakFound) as error:
        await leaks.check_app(app_of(view))
    assert {each.run for each in error.value.crossings} == {2}
    await leaks.check_app(app_of(view), at_once=1)


@pytest.mark.parametrize("how", ["number", "thousands", "date", "gzip", "upper"])
async def test_values_are_found_as_they_are_shown(leaks: Leaks, how: str) -> None:
    """A number with separators, a date, letters of another case, a packed body."""
    import gzip

    first: list[Record] = []

    async def view(request: Request) -> Response:
        first.append(variables(request))
        shown = {
            "number": str(first[0]["seats"]),
            "thousands": f"{first[0]['seats']:,}",
            "date": f"{first[0]['since']}T10:00",
            "upper": first[0]["region"].upper(),
            "gzip": first[0]["region"],
        }[how]
        body, headers = f"{first[-1]['region']} {shown}".encode(), {}
        if how == "gzip":
            body, headers = gzip.compress(body), {"Content-Encoding": "gzip"}
        return Response(body, headers=headers)

    with pytest.raises(LeakFound) as error:
        await leaks.check_app(app_of(view))
    assert where(error) == {"response body"}


async def test_what_shows_nothing_is_red(leaks: Leaks) -> None:
    """An answer that refuses, and an app without any value of a group, check nothing, and a check says so."""

    async def refuses(request: Request) -> Response:
        return PlainTextResponse(variables(request)["region"], 403)

    async def blank(request: Request) -> Response:
        return PlainTextResponse("hello")

    with pytest.raises(AssertionError, match="GET /sales answered 403 to Group 1"):
        await leaks.check_app(app_of(refuses))
    await leaks.check_app(app_of(refuses), statuses={403})
    with pytest.raises(AssertionError, match="nothing was checked"):
        await leaks.check_app(app_of(blank))


async def test_a_route_that_nothing_requests_is_red(leaks: Leaks) -> None:
    """Routes with parameters, of other methods, and within a mount."""
    inner = [Route("/{day}", own_region), Route("/", own_region, methods=["POST"])]
    app = Starlette(routes=[Route("/sales", own_region), Mount("/days", routes=inner)])
    with pytest.raises(
        AssertionError, match=re.escape("not requested: GET /days/{day}, POST /days/. Add them to `routes`")
    ):
        await leaks.check_app(app)
    await leaks.check_app(app, not_checked={"GET /days/{day}", "POST /days/"})
    await leaks.check_app(app, ["/sales", lambda group: f"/days/{group.handle.hex()}", Call("/days/", method="POST")])


async def test_the_app_is_started_and_stopped(leaks: Leaks) -> None:
    """Its lifespan, with its state in each request; a failed start is no clean check."""
    seen: list[str] = []

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[dict[str, str]]:
        seen.append("started")
        yield {"shop": "open"}
        seen.append("stopped")

    @asynccontextmanager
    async def broken(_: Starlette) -> AsyncIterator[None]:
        raise ValueError("no database")
        yield

    async def view(request: Request) -> Response:
        return PlainTextResponse(variables(request)["region"] + request.state.shop)

    await leaks.check_app(Starlette(routes=[Route("/sales", view)], lifespan=lifespan))
    assert seen == ["started", "stopped"]
    with pytest.raises(RuntimeError, match="lifespan failed"):
        await leaks.check_app(Starlette(routes=[Route("/sales", view)], lifespan=broken))


async def test_credentials_find_the_group_instead(leaks: Leaks) -> None:
    """The headers decide, and no group is put into the scope."""

    async def view(request: Request) -> Response:
        assert "user_group" not in request.scope
        by_id = {group.provided_id: group for group in leaks.groups}
        return PlainTextResponse(by_id[request.headers["x-group"]].variables["region"])

    await leaks.check_app(app_of(view), credentials=lambda group: {"X-Group": group.provided_id})


# --- templates, rows, keys --------------------------------------------------------------------------------------------


def test_a_template_that_binds_is_clean(leaks: Leaks) -> None:
    """In every position, with and without what a viewer may leave out."""
    leaks.check_template(ORDERS)
    text = "select '{{ region }}%' where a in {{ params.xs }} and b = {{ seats }} [[ and c = {{ params.c }} ]]"
    leaks.check_template(SQLTemplate(text + " limit {{ params.n }}"))


def test_declared_parameters_take_canaries_where_they_take_texts(leaks: Leaks) -> None:
    """The others are absent, or given by the test. Red when a canary is sent for a date, which is refused."""
    text = "select {{ region }} as region where {{ params.q | matches(name) }} and {{ params.day | matches(at) }}"
    declared = {"q": "list of text", "day": {"type": "date", "required": True}}
    template = SQLTemplate(text, params=declared)
    leaks.check_template(template, params={"day": "2026-01-01"})
    leaks.check_template(SQLTemplate(text, params={"q": "text", "day": "date"}))
    chosen = {"q": {"type": "text", "choices": ["a", "b"]}, "day": "date"}
    leaks.check_template(SQLTemplate(text, params=chosen))  # no canary is one of the choices, so none is sent
    remembered: list[Any] = []

    def mixed(variables: Record) -> Any:
        remembered.append(template.bind({**own(variables), "params": {"q": variables["region"], "day": "2026-01-01"}}))
        return remembered[0]

    with pytest.raises(LeakFound, match=r"parameters for Group 2 has properties\.region of Group 1"):
        leaks.check_template(mixed)


def own(variables: Record) -> dict[str, Any]:
    return {"region": variables["region"]}


def test_a_renderer_of_ones_own(leaks: Leaks) -> None:
    """A function that splices, and one that remembers the parameters of the first."""

    def spliced(variables: Record) -> Any:
        return f"select * from orders where region = '{variables['region']}'", ()

    first: list[str] = []

    def remembered(variables: Record) -> Any:
        first.append(variables["region"])
        return "select * from orders where region = ?", (first[0],)

    with pytest.raises(LeakFound) as error:
        leaks.check_template(spliced)
    assert where(error) == {"SQL text"}
    with pytest.raises(LeakFound, match="template remembered, run 1: parameters for Group 2 has") as error:
        leaks.check_template(remembered)
    assert where(error) == {"parameters"}


async def test_rows_of_another_group(leaks: Leaks, tmp_path: Path) -> None:
    """A query that names a variable of the group, and filters by something else, on a real database."""
    with closing(sqlite3.connect(tmp_path / "warehouse.db")) as database, database:
        database.execute("create table orders (region text, at text)")
        database.executemany("insert into orders values (?, '')", [(g.variables["region"],) for g in leaks.groups])
    store = MemoryStore()
    environment = await store.environments.create("production", Tag.TESTING)
    url = f"sqlite:///{tmp_path / 'warehouse.db'}"
    await store.sources.create(environment, "ds_warehouse", SourceDraft("warehouse", url))
    async with DataSources(store) as sources:
        await leaks.check_rows(ORDERS, sources, "main")
        unfiltered = "select region from orders where {{ seats }} > 0"
        with pytest.raises(LeakFound) as error:
            await leaks.check_rows(unfiltered, sources, "main")
    assert where(error) == {"rows"}


def test_keys_of_ones_own(leaks: Leaks) -> None:
    """Each group has its own; by the version of the token alone all share one."""
    leaks.check_keys(lambda group: (group.handle, "orders"))
    with pytest.raises(LeakFound) as error:
        leaks.check_keys(lambda group: (group.token_version, "orders"))
    assert where(error) == {"cache key"}


# --- messages ---------------------------------------------------------------------------------------------------------


async def test_a_message_has_no_more_than_the_canary(leaks: Leaks) -> None:
    """It names the route, both groups by name and the place; what stood beside the canary is not in it."""
    first: list[str] = []

    async def view(request: Request) -> Response:
        first.append(f"secret beside {variables(request)['region']}")
        return PlainTextResponse(f"{first[0]} {first[-1]}")

    with pytest.raises(LeakFound) as error:
        await leaks.check_app(app_of(view))
    text = str(error.value)
    canary = leaks.groups[0].variables["region"]
    assert f"GET /sales, run 1: response body for Group 2 has properties.region of Group 1 ({canary})" in text
    assert "secret" not in text


async def test_a_long_list_is_cut(leaks: Leaks) -> None:
    async def view(request: Request) -> Response:
        return PlainTextResponse(json.dumps([group.as_dict() for group in leaks.groups]))

    with pytest.raises(LeakFound, match=r"and \d+ more") as error:
        await leaks.check_app(app_of(view))
    assert len(str(error.value).splitlines()) == 22
