"""An author runs what is typed as a group: which SQL is sent, with which values and limits; what is refused."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tenantry.datasources import Limits
from tenantry.editor import EditorAuthor, Right
from tenantry.groups import GroupChanges
from tests.editor.served import ENVIRONMENT, EditorSite, served_editor

GUARDED = {"tables": {"flights": {"carrier": "{{ user_group.properties.carrier }}"}}}
ALL_RIGHTS = EditorAuthor("ann", frozenset(Right))
PATH = "queries/by_day.sql"
CARRIERS = "select carrier, count(*) as n from flights group by carrier order by carrier"


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[EditorSite]:
    async with served_editor(tmp_path) as served:
        yield served


def query(text: str, **more: Any) -> dict[str, Any]:
    return {"environment": ENVIRONMENT, "group": "ha", "path": PATH, "text": text, **more}


def kinds(lines: list[dict[str, Any]]) -> list[str]:
    return [next(iter(line)) for line in lines]


def rows(lines: list[dict[str, Any]]) -> list[Any]:
    return [row for line in lines for row in line.get("rows", ())]


async def actions(site: EditorSite) -> list[tuple[str, str, dict[str, str]]]:
    entries = await site.store.audit.list(limit=1_000)
    return [(each.action, each.subject, each.details) for each in entries if each.author.name.startswith("editor ")]


async def test_the_typed_text_runs_with_the_values_of_the_group(site: EditorSite) -> None:
    """Red when the saved file runs, or the values are those of another group."""
    text = (
        "select carrier, count(*) as n from flights where carrier = {{ carrier }} "
        "and delay >= {{ params.late }} and {{ viewer.team }} = 'ops' group by carrier"
    )
    header = "/* ---\nparams:\n  late: {type: integer, default: 0}\n--- */\n"
    lines = await site.lines(
        "run", **query(header + text, group="ua", viewer={"id": "eve", "team": "ops"}, params={"late": 3})
    )
    assert kinds(lines) == ["started", "columns", "rows", "done"]
    started = lines[0]["started"]
    assert (started["engine"], started["source"]) == ("sqlite", {"id": "ds_flights", "name": "warehouse"})
    assert "carrier = ? and delay >= ? and ? = 'ops'" in started["sql"]
    assert [(each["path"], each["origin"], each["type"], each["value"]) for each in started["parameters"]] == [
        ("carrier", "property carrier", "text", "UA"),
        ("params.late", "viewer", "integer", 3),
        ("viewer.team", "pass team", "text", "ops"),
    ]
    assert lines[1]["columns"] == [{"name": "carrier", "type": "text"}, {"name": "n", "type": "integer"}]
    ((carrier, count),) = rows(lines)
    assert carrier == "UA"
    assert count > 0
    done = lines[-1]["done"]
    assert (done["rows"], done["cut"]) == (1, False)
    assert done["seconds"] >= 0
    assert done["queue_seconds"] >= 0


async def test_includes_are_those_that_are_typed(site: EditorSite) -> None:
    """Red when fragments are read from the files only, or not at all."""
    text = "select n from ({{> sales/fragment }}) order by n"
    (failed,) = await site.lines("run", **query(text))
    assert failed["error"]["code"] == "template_error"
    drafts = {"queries/sales/fragment.sql": "select 7 as n"}
    assert rows(await site.lines("run", **query(text, drafts=drafts))) == [[7]]
    (site.folder / "queries" / "sales").mkdir()
    (site.folder / "queries" / "sales" / "fragment.sql").write_text("select 8 as n")
    assert rows(await site.lines("run", **query(text))) == [[8]]
    assert rows(await site.lines("run", **query(text, drafts=drafts))) == [[7]]


async def test_numbers_keep_their_digits(site: EditorSite) -> None:
    """As the pages of dashboards get them. Red with numbers for what a double cannot hold."""
    lines = await site.lines("run", **query("select 9007199254740993 as a, 1.5 as b, x'00ff' as c, null as d"))
    assert rows(lines) == [["9007199254740993", 1.5, "AP8=", None]]


async def test_a_later_row_may_change_the_type_of_a_column(site: EditorSite) -> None:
    """SQLite has no types. Red when the first row decides."""
    text = "with n(i) as (values (null), (1), (1.5), ('a')) select i from n"
    lines = await site.lines("run", **query(text))
    assert [line["columns"][0]["type"] for line in lines if "columns" in line][-1] == "mixed"
    assert rows(lines) == [[None], [1], [1.5], ["a"]]


async def test_rows_beyond_the_limit_are_cut_and_it_says_so(tmp_path: Path) -> None:
    """Its connection is free then. Red when the limit raises an error, when all rows are sent, and without
    ``chunks.close``."""
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n"
    async with served_editor(tmp_path, limits=Limits(row_limit=70, pool_size=1, connect_timeout=60.0)) as site:
        lines = await site.lines("run", **query(endless))
        assert lines[0]["started"]["limits"]["rows"] == 70
        assert rows(lines) == [[number] for number in range(1, 71)], lines
        assert (lines[-1]["done"]["rows"], lines[-1]["done"]["cut"]) == (70, True)
        exact = await site.lines("run", **query(f"{endless} limit 70"))
        assert exact[-1]["done"] | {"seconds": 0, "queue_seconds": 0} == {
            "rows": 70, "cut": False, "seconds": 0, "queue_seconds": 0,
        }  # fmt: skip


async def test_bytes_beyond_the_limit_are_cut(tmp_path: Path) -> None:
    """Red without the sum of the bytes."""
    text = "with recursive n(i) as (select 1 union all select i + 1 from n) select hex(zeroblob(5000)) as a from n"
    async with served_editor(tmp_path, limits=Limits(max_bytes=100_000, connect_timeout=60.0)) as site:
        lines = await site.lines("run", **query(text))
        assert lines[-1]["done"]["cut"] is True
        assert 5 < lines[-1]["done"]["rows"] < 200


async def test_a_query_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    """Rows that trickle do not prolong it. Red with the limits of streams, ten minutes."""
    slow = "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n where i % 100000 = 0"
    async with served_editor(tmp_path, limits=Limits(timeout=1.0, connect_timeout=60.0)) as site:
        async with asyncio.timeout(120):
            lines = await site.lines("run", **query(slow))
        assert lines[-1]["error"]["code"] == "query_timeout"
        assert "1 s" in lines[-1]["error"]["message"]


@pytest.mark.parametrize(
    ("text", "code", "marked"),
    [
        ("select '\U0001f600' as a, {{ carier }} as b", "missing_variable", "carier"),
        ("select '\U0001f600' as a, {{ carrier | nosuchfilter }} as b", "template_error", "nosuchfilter"),
        ("select '\U0001f600' as a, sqlite_compileoption_get(0) as b", "private_name", "sqlite_compileoption_get"),
        ("/* ---\nparams:\n  n: {type: integer}\n--- */\nselect {{ params.n }} as b", "invalid_parameter", "params.n"),
        ("delete from flights", "not_one_statement", None),
        ("select * from nowhere", "query_failed", "nowhere"),
        ("select {{ carrier }} as b from flights where [[ a", "template_error", "[["),
    ],
)
async def test_an_error_says_where(text: str, code: str, marked: str | None, site: EditorSite) -> None:
    """In UTF-16 code units, as the editor counts. Red with characters, and without ``from``."""
    error = (await site.lines("run", **query(text, params={"n": "x"} if "params" in text else {})))[-1]["error"]
    assert error["code"] == code, error
    assert error["message"]
    if marked is None:
        assert "from" not in error
    else:
        units = text.encode("utf-16-le")
        found = units[2 * error["from"] : 2 * error["to"]].decode("utf-16-le")
        assert found
        assert marked.startswith(found) or found in marked


async def test_a_missing_value_says_where_the_editor_takes_it(site: EditorSite) -> None:
    """Red with the words for other programs, which know no fields."""
    text = "select {{ viewer.id }} as a, {{ params.day }} as b, {{ carier }} as c"
    error = (await site.lines("run", **query(text)))[-1]["error"]
    assert error["message"] == "no value for viewer.id, params.day, carier"
    parts = error["fix"].split("; ")
    assert [each[:12] for each in parts] == ["choose a vie", "fill in the ", "give the gro"]


async def test_an_error_of_another_file_marks_nothing_here(site: EditorSite) -> None:
    """Red when lines of a fragment are looked for in the typed text."""
    text = "select n from ({{> other }})"
    error = (await site.lines("run", **query(text, drafts={"queries/other.sql": "select {{ a | b }} as n"})))[-1][
        "error"
    ]
    assert error["code"] == "template_error"
    assert "from" not in error


async def test_guards_count_for_authors(tmp_path: Path) -> None:
    """Red when the right alone takes them away."""
    async with served_editor(tmp_path, tables=GUARDED) as site:
        site.author = ALL_RIGHTS
        lines = await site.lines("run", **query(CARRIERS))
        assert [row[0] for row in rows(lines)] == ["HA"]
        (guard,) = lines[0]["started"]["guards"]
        assert (guard["table"], guard["line"], lines[0]["started"]["unguarded"]) == ("flights", 1, False)
        assert "carrier" in guard["condition"]
        refused = await site.lines("run", **query("select name from sqlite_master"))
        assert refused[-1]["error"]["code"] == "template_error"


async def test_unguarded_needs_its_right_and_is_marked(tmp_path: Path) -> None:
    """Red without ``require``, with another action in the audit trail, and when guards stay."""
    async with served_editor(tmp_path, tables=GUARDED) as site:
        for path in ("run", "plan", "csv", "sample"):
            answer = await site.post(path, **query(CARRIERS, unguarded=True))
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "right_missing"), path
        assert await actions(site) == []
        site.author = ALL_RIGHTS
        lines = await site.lines("run", **query(CARRIERS, unguarded=True))
        assert [row[0] for row in rows(lines)] == ["HA", "UA"]
        assert (lines[0]["started"]["unguarded"], lines[0]["started"]["guards"]) == (True, [])
        ((action, subject, details),) = await actions(site)
        assert (action, subject, details["as"]) == ("query.unguarded", "ha", "rows")
        private = await site.lines("run", **query("select sqlite_compileoption_get(0) as a", unguarded=True))
        assert private[-1]["error"]["code"] == "private_name"


async def test_guard_required_holds_for_everybody(tmp_path: Path) -> None:
    """Red without ``is_guard_required``: then it runs guarded, and says that it did not."""
    async with served_editor(tmp_path, tables={**GUARDED, "guard": "required"}) as site:
        site.author = ALL_RIGHTS
        (line,) = await site.lines("run", **query(CARRIERS, unguarded=True))
        assert (line["error"]["code"], line["error"]["field"]) == ("right_missing", "/unguarded")


async def test_the_audit_trail_has_no_values(site: EditorSite) -> None:
    """Author, group, file and digest. Red when the text or a parameter is recorded."""
    secret = "k3y-c4n4ry"
    header = "/* ---\nparams:\n  a: {type: text}\n--- */\n"
    sent = query(f"{header}select {{{{ params.a }}}} as a, '{secret}' as b", params={"a": secret}, viewer={"id": "eve"})
    await site.lines("run", **sent)
    await site.ask("plan", **sent)
    assert (await site.post("csv", **sent)).status_code == 200
    await site.lines("sample", **sent)
    found = await actions(site)
    recorded = [(action, subject, details["as"]) for action, subject, details in found]
    assert recorded[:3] + sorted(recorded[3:]) == [  # groups of a sample run at the same time
        ("query.run", "ha", "rows"),
        ("query.run", "ha", "plan"),
        ("query.run", "ha", "csv"),
        ("query.sampled", "ha", "count"),
        ("query.sampled", "ua", "count"),
    ]
    assert {(details["query"], details["viewer"]) for *_, details in found} == {(PATH, "eve")}
    assert len({details["digest"] for *_, details in found}) == 1
    assert secret not in repr(await site.store.audit.list(limit=1_000))


async def test_the_audit_trail_tells_included_drafts_apart(site: EditorSite) -> None:
    """Under the digest of a reviewed query nothing else may run. Red when only the typed text has a digest, and when
    only the SQL has one: it does not say whether a value is the group's or the author's. Drafts that are not included
    do not count."""
    sent = query("select * from ({{> f }}) x")
    reviewed = {"queries/f.sql": "select 1 as n"}
    other = {"queries/f.sql": "select count(*) as n from flights"}
    for drafts in (reviewed, other, reviewed | {"queries/g.sql": "select 2 as n"}):
        for path in ("run", "sample"):
            await site.lines(path, **sent, drafts=drafts)
    digests = [details["digest"] for *_, details in await actions(site)]
    assert [digests.count(each) for each in sorted(set(digests), key=digests.index)] == [6, 3]
    assert digests[0] != digests[3]
    for text in ("select {{ carrier }} as n", "select {{ params.c }} as n"):
        await site.lines("run", **query(text, params={"c": "UA"}))
    one, other_origin = [details["digest"] for *_, details in (await actions(site))[-2:]]
    assert one != other_origin


async def test_a_query_that_cannot_be_recorded_does_not_run(site: EditorSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when the entry is made after the query."""
    from tenantry.errors import StoreUnavailable

    async def fails(note: Any) -> None:
        raise StoreUnavailable("the store is away")

    monkeypatch.setattr(type(site.store.audit), "record", lambda self, note: fails(note))
    (line,) = await site.lines("run", **query("select 1 as a"))
    assert line["error"]["code"] == "store_unavailable"
    assert (await site.post("csv", **query("select 1 as a"))).status_code == 503


async def test_a_suspended_or_expired_group_runs_and_is_marked(site: EditorSite) -> None:
    """An author looks for what is wrong with it. Red with ``require_access``."""
    environment = await site.store.environments.get(ENVIRONMENT)
    assert environment is not None
    await site.store.groups.update(environment, "ha", GroupChanges(suspended=True))
    await site.store.groups.update(environment, "ua", GroupChanges(expires_at=datetime.now(UTC) - timedelta(days=1)))
    for group, suspended, expired in (("ha", True, False), ("ua", False, True)):
        lines = await site.lines("run", **query(CARRIERS, group=group))
        assert len(rows(lines)) == 2
        started = lines[0]["started"]
        assert (started["suspended"], started["expired"]) == (suspended, expired)
        assert (await site.ask("group", environment=ENVIRONMENT, group=group))["suspended"] is suspended


async def test_no_secret_of_the_group_is_in_an_answer(site: EditorSite) -> None:
    """Neither its token nor the URL of the data source. Red when the group is sent as it is."""
    environment = await site.store.environments.get(ENVIRONMENT)
    assert environment is not None
    issued = await site.store.groups.get(environment, "ha")
    assert issued is not None
    texts = [(await site.post("run", **query("select 1 as a"))).text]
    texts += [(await site.post(path, environment=ENVIRONMENT, group="ha")).text for path in ("group",)]
    for text in texts:
        assert "sqlite:///" not in text
        for secret in (issued.token.nonce.hex(), issued.token.handle.hex()):
            assert secret not in text


async def test_a_viewer_that_cannot_be_is_refused(site: EditorSite) -> None:
    """With the field. Red when ``as_viewer`` builds the viewer without the rules of passes, and without their maximum
    length."""
    answer = await site.post("run", **query("select 1 as a", viewer={"id": 7}))
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, "/viewer")
    answer = await site.post("run", **query("select 1 as a", viewer={"id": "eve", "team": "x" * 3_000}))
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, "/viewer")
    assert "at most 3072 are allowed" in answer.json()["error"]["message"]
    answer = await site.post("run", **query("select 1 as a", group="nobody"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_group")
    (line,) = await site.lines("run", **query("select 1 as a", schema="nowhere"))
    assert line["error"]["code"] == "unmapped_schema"
    assert "no data source for the schema 'nowhere'" in line["error"]["message"]


@pytest.mark.parametrize(
    "path",
    ["../../etc/passwd", "dashboards/flights.yaml", "queries/.a.sql", "by_day.sql", "queries/password=x y.sql", ""],
)
async def test_only_queries_run(path: str, site: EditorSite) -> None:
    """The audit trail has the path. Red without ``require_query``, and when it takes any name of a query."""
    for endpoint in ("run", "plan", "csv", "sample"):
        answer = await site.post(endpoint, **{**query("select 1 as a"), "path": path})
        assert (answer.status_code, answer.json()["error"]["field"]) == (422, "/path"), endpoint
    assert await actions(site) == []


async def test_csv_has_all_rows_and_no_formulas(tmp_path: Path) -> None:
    """Red with the limit of the table, and without ``formula_safe``."""
    text = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 120) select i, '=1+1' as b from n"
    async with served_editor(tmp_path, limits=Limits(row_limit=70, connect_timeout=60.0)) as site:
        answer = await site.post("csv", **query(text))
        assert answer.headers["content-disposition"].endswith("by_day.csv")
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        first, *found = csv.reader(io.StringIO(answer.text))
        assert (first, len(found)) == (["i", "b"], 120)
        assert found[0] == ["1", "'=1+1"]
        failed = await site.post("csv", **query("select 1 as a from nowhere"))
        assert (failed.status_code, failed.json()["error"]["code"]) == (502, "query_failed")


async def test_plan_is_a_text_of_the_engine(site: EditorSite) -> None:
    """The query itself is not run. Red without the prefix."""
    text = "select f.day, (select count(*) from flights g where g.day = f.day) as n from flights f"
    plan = (await site.ask("plan", **query(text)))["text"]
    assert "SCAN f" in plan
    assert any(line.startswith("  ") for line in plan.splitlines())
    assert await site.ask("plan", **query("explain select 1 as a")) == {"text": None}
    failed = await site.post("plan", **query("select {{ carier }} as a"))
    assert (failed.status_code, failed.json()["error"]["code"]) == (422, "missing_variable")
    assert failed.json()["error"]["from"] == 10


async def test_a_broken_text_is_no_error_of_the_server(site: EditorSite) -> None:
    """It has 500 in a deployed program. Red when an endpoint answers with the status of TemplateError."""
    text = "select day from flights where {{ params.period | within(day) }}"
    for path in ("run", "plan", "csv", "sample", "variables", "meaning", "check"):
        viewer = {} if path == "check" else {"viewer": None}
        answer = await site.post(path, **query(text), **viewer)
        assert answer.status_code in {200, 422}, (path, answer.text)
