"""What the editor offers while a query is written."""

from __future__ import annotations

import re
from typing import Any

from tenantry.sql.dialects import DIALECTS
from tenantry.sql.filters.registry import _ARGUMENTS
from tenantry.sql.header.query_header import KEYS
from tenantry.sql.parameters.declared import MATCHINGS, RANGES, ParameterType
from tenantry.sql.parameters.definitions import FIELDS
from tests.editor.code.conftest import KNOWLEDGE, Edit, offered, show, tell, text_of, until

CASES: dict[str, tuple[str, list[str]]] = {
    "columns of the table": ("select ‸ from flights", ["day = flights", "carrier = flights", "origin = flights"]),
    "after a where": ("select 1 from flights where c‸", ["carrier = flights", "case"]),
    "of an alias": (
        "select f.‸ from flights f",
        ["day = flights", "carrier = flights", "origin = flights", "Delay = flights"],
    ),
    "of an alias with as": ("select f.o‸ from flights as f", ["origin = flights"]),
    "of two tables": (
        "select a.‸ from flights f join airports a on a.code = f.origin",
        ["code = airports", "city = airports"],
    ),
    "of a join in its condition": (
        "select 1 from flights f join airports a on a.c‸",
        ["code = airports", "city = airports"],
    ),
    "after a comma": ("select a.‸ from flights f, airports a", ["code = airports", "city = airports"]),
    "of a schema": ("select o.‸ from sales.orders o", ["id = sales.orders", "amount = sales.orders"]),
    "tables of a schema": ("select 1 from sales.‸", ["orders = view"]),
    "of a common table expression": (
        "with d as (select day, count(*) as n, max(f.origin) as last from flights f) select d.‸ from d",
        ["day = d", "n = d", "last = d"],
    ),
    "of its list of columns": ("with d (a, b) as (select 1, 2) select d.‸ from d", ["a = d", "b = d"]),
    "of all columns of a table": (
        "with d as (select * from airports) select x.‸ from d x",
        ["code = airports", "city = airports"],
    ),
    "of a nested query": ("select q.‸ from (select day as d, origin from flights) q", ["d = q", "origin = q"]),
    "of the outer query": (
        "select 1 from flights f where exists (select 1 from airports a where a.code = f.‸)",
        ["day = flights", "carrier = flights", "origin = flights", "Delay = flights"],
    ),
    "of the select of a union": (
        "select day from flights union select ‸ from airports",
        ["code = airports", "city = airports"],
    ),
    "of another statement": ("select 1 from flights; select c‸ from airports", ["code = airports", "city = airports"]),
    "within an argument of a filter": (
        "select {{ params.x | one_of(a: f.‸) }} from flights f",
        ["day = flights", "carrier = flights", "origin = flights", "Delay = flights"],
    ),
    "within a clause": (
        "select 1 from airports a where true [[ and a.‸ = {{ params.x }} ]]",
        ["code = airports", "city = airports"],
    ),
    "of a quoted alias": ('select "F f".o‸ from flights "F f"', ["origin = flights"]),
    "a table is guarded or not": (
        "select 1 from ‸",
        ["flights = guarded table", "airports = shared table", "salaries = unlisted table", "sales.orders = view"],
    ),
    "a common table expression first": ("with days as (select 1) select 1 from d‸", ["days = of this query"]),
    "functions": ("select date_t‸", ["date_trunc = function"]),
    "variables": (
        "select {{ ‸ }}",
        [
            "params.since = parameter · date",
            "user_group.properties.carrier = UA · text",
            "user_group.properties.plan = pro · text · missing in 37",
            "viewer.id = text",
            "> sales/active = fragment",
        ],
    ),
    "by a part of the path": ("select '{{ carr‸ }}'", ["user_group.properties.carrier = UA · text"]),
    "fragments": ("select * from ({{> sales/a‸ }})", ["sales/active = fragment"]),
    "filters": ("where {{ params.since | with‸ }}", ["within"]),
    "before deep parentheses": (
        "select a.‸ from airports a," + "(select*from" * 2_700,
        ["code = airports"],
    ),
    "a name of two tables": (
        "select da‸ from flights f, (select day, 1 as n from flights) q",
        ["f.day = flights", "q.day = q"],
    ),
    "behind a comment": ("select /* a */ c‸ from flights", ["carrier = flights"]),
    "keys of the header": ("/* ---\npa‸\n--- */\nselect 1", ["params"]),
    "keys of a parameter": ("/* ---\nparams:\n  since: {type: date, re‸}\n--- */\nselect 1", ["required"]),
}


async def test_what_is_offered_where(edit: Edit) -> None:
    """Red for "before deep parentheses" without a limit, for "of all columns of a table" without the stars of outputs,
    and for many with ``partAt`` or ``withNames`` left out."""
    page = (await edit()).page
    wrong = {}
    for name, (text, expected) in CASES.items():
        await show(page, text, path=f"queries/{name}.sql")
        found = (await offered(page))[: len(expected)]
        if found != expected:
            wrong[name] = found
        await page.keyboard.press("Escape")
    assert wrong == {}


WRITTEN = [
    ("where a = ‸", "{{ carr", "where a = {{ user_group.properties.carrier }}"),
    ("where a = {{ carr‸ }} and", "", "where a = {{ user_group.properties.carrier }} and"),
    ("where a = {{carr‸}}", "", "where a = {{ user_group.properties.carrier }}"),
    ("where a = {{ carr‸ | json }}", "", "where a = {{ user_group.properties.carrier | json }}"),
    ("from {{>‸", " sal", "from {{> sales/active }}"),
    ("{{ params.since | ‸ }}", "withi", "{{ params.since | within() }}"),
    ("select D‸ from flights f", "ela", 'select "Delay" from flights f'),
]


async def test_what_is_written(edit: Edit) -> None:
    """A tag is closed once, and a name that needs quotes gets them. Red with ``hasFilters = false``."""
    page = (await edit()).page
    for number, (text, label, written) in enumerate(WRITTEN):
        await show(page, text, path=f"queries/{number}.sql")
        await page.keyboard.type(label)
        await offered(page)
        await page.wait_for_timeout(100)  # the list ignores keys that come at once after it opens
        await page.keyboard.press("Enter")
        assert await text_of(page) == written


async def test_coverage_in_words(edit: Edit) -> None:
    """Beside the list, where it can be read. Tab takes the entry, as Enter does. Red when the list clips what is beside
    it."""
    page = (await edit("select {{ plan‸ }}")).page
    await offered(page)
    info = page.locator(".cm-completionInfo")
    assert await info.inner_text() == "In 375 of 412 groups; missing in 37."
    is_seen = """(each) => {
        const { x, y, width, height } = each.getBoundingClientRect();
        return each.getRootNode().elementFromPoint(x + width / 2, y + height / 2) === each;
    }"""
    await until(lambda: info.evaluate(is_seen))  # it has its place a frame later
    await page.wait_for_timeout(100)  # as above
    await page.keyboard.press("Tab")
    assert await text_of(page) == "select {{ user_group.properties.plan }}"


async def test_nothing_is_offered_in_comments_and_texts(edit: Edit) -> None:
    """Typing there opens no list. Red if the kind of place is not asked for, and without the comments of lines."""
    page = (await edit()).page
    for text in ("-- da‸", "select 1 -- ‸", "select 'da‸'", "/* da‸ */", "/*\nda‸\n*/", "select 12‸"):
        await show(page, text, path=text)
        await page.keyboard.press("Control+Space")
        await page.wait_for_timeout(300)  # nothing tells that no list comes
        assert await page.locator(".cm-tooltip-autocomplete").count() == 0, text


async def test_filters_are_those_of_the_server(edit: Edit) -> None:
    page = (await edit("select {{ params.x | ‸ }}")).page
    assert {re.split(" = ", each)[0] for each in await offered(page)} == set(_ARGUMENTS)


async def test_the_header_is_that_of_the_server(edit: Edit) -> None:
    """All keys, types, dialects and ways to match that the server reads, and no other."""
    page = (await edit()).page
    cases: dict[str, set[str]] = {
        "‸": {*KEYS},
        "params:\n  since: {‸}": {*FIELDS},
        "params:\n  since: {type: ‸}": {*ParameterType} | {f"list of {each}" for each in {*ParameterType} - RANGES},
        "params:\n  since: {match: ‸}": {*MATCHINGS},
        "dialect: ‸": {*DIALECTS},
    }
    for text, expected in cases.items():
        await show(page, f"/* ---\n{text}\n--- */\nselect 1", path=text)
        assert {each.partition(" = ")[0] for each in await offered(page)} == expected


async def test_another_catalogue_counts_at_once(edit: Edit) -> None:
    page = (await edit("select ‸ from things")).page
    catalogue: dict[str, Any] = {"dialect": "postgresql", "tables": [{"name": "things", "columns": ["thing_id"]}]}
    await tell(page, "setKnowledge", KNOWLEDGE | {"catalogue": catalogue})
    assert (await offered(page))[0] == "thing_id = things"
