"""Grafana's SQL becomes ours, and what does not is listed. The inputs are written from its documentation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenantry_convert import ConvertedQuery, convert
from tests.converted import check_whole, left, notes


def dashboard(*queries: str, source: str = "grafana-postgresql-datasource", **variables: dict[str, Any]) -> str:
    """A dashboard as its export has it, with one panel for each query."""
    panels = [
        {
            "title": f"Panel {number}",
            "datasource": {"type": source, "uid": "a"},
            "targets": [{"refId": "A", "rawSql": query, "format": "time_series"}],
        }
        for number, query in enumerate(queries, start=1)
    ]
    templating = {"list": [{"name": name, **each} for name, each in variables.items()]}
    return json.dumps({"title": "Hosts", "panels": panels, "templating": templating})


def one(text: str, dialect: str | None = None) -> ConvertedQuery:
    queries = convert(text, "grafana", dialect)
    assert len(queries) == 1
    return queries[0]


PERIOD = {"period": "last 30 days"}


@pytest.mark.parametrize(
    ("macro", "ours"),
    [
        ("$__timeFilter(at)", "{{ params.period | within(at) }}"),
        ("$__timeFilter( t.at )", "{{ params.period | within(t.at) }}"),
        ("at > $__timeFrom() and at < $__timeTo()", "at > {{ params.period.start }} and at < {{ params.period.end }}"),
        ("$__unixEpochFilter(ts)", "{{ params.period | within(to_timestamp(ts)) }}"),
        (
            "ts > $__unixEpochFrom()",
            "ts > extract(epoch from cast({{ params.period.start }} as timestamptz))",
        ),
        (
            "ts < $__unixEpochNanoTo()",
            "ts < extract(epoch from cast({{ params.period.end }} as timestamptz)) * 1000000000",
        ),
        (
            "ts > $__from",
            "ts > extract(epoch from cast({{ params.period.start }} as timestamptz)) * 1000",
        ),
        ("at > '${__from:date:iso}'::timestamp", "at > {{ params.period.start }}"),
        ("at < timestamp '${__to:date}'", "at < {{ params.period.end }}"),
    ],
)
def test_the_time_range(macro: str, ours: str) -> None:
    """All of them are ends of one parameter. Red when ``start`` and ``end`` are exchanged."""
    query = one(f"select * from t where {macro}")
    check_whole(query, **PERIOD)
    assert query.body == f"select * from t where {ours}"
    assert list(query.params) == ["period"]


@pytest.mark.parametrize(
    ("dialect", "macro", "ours"),
    [
        ("postgresql", "$__timeGroup(at, '5m')", "date_bin('300 seconds', at, timestamp '1970-01-01')"),
        (
            "postgresql",
            "$__timeGroupAlias(at,'1h')",
            "date_bin('3600 seconds', at, timestamp '1970-01-01') as \"time\"",
        ),
        ("mysql", "$__timeGroup(at, '5m')", "from_unixtime(floor(unix_timestamp(at) / 300) * 300)"),
        ("mysql", "$__time(at)", "at as `time`"),
        ("duckdb", "$__timeGroup(at, '1d')", "time_bucket(interval '86400 seconds', at, timestamp '1970-01-01')"),
        ("postgresql", "$__timeGroup(at, $__interval)", "{{ params.bucket | trunc(at) }}"),
        ("postgresql", "$__unixEpochGroup(ts, '1m')", "floor((ts) / 60) * 60"),
        ("postgresql", "$__time(at)", 'at as "time"'),
        ("postgresql", "$__timeEpoch(at)", 'extract(epoch from at) as "time"'),
    ],
)
def test_time_groups(dialect: str, macro: str, ours: str) -> None:
    query = one(f"select {macro} from t", dialect)
    check_whole(query)
    assert query.body == f"select {ours} from t"


def test_a_time_group_of_a_chosen_length() -> None:
    """The lengths that the dashboard lists are texts of the author. Red when the macro is left."""
    lengths = {"type": "interval", "query": "1m,5m", "current": {"value": "5m"}}
    query = one(dashboard("select $__timeGroup(at, '$agg') from t", agg=lengths))
    check_whole(query, agg="1m")
    minute, five = (f"date_bin('{length} seconds', at, timestamp '1970-01-01')" for length in (60, 300))
    assert query.body == f"select {{{{ params.agg | one_of(1m: {minute}, 5m: {five}) }}}} from t"
    assert query.params["agg"]["default"] == "5m"


def test_a_fill_is_left_for_the_author() -> None:
    """The gaps that Grafana filled would be there without a word. Red when the third argument is passed over."""
    query = one("select $__timeGroup(at, '5m', 0) from t")
    assert not query.whole
    assert "fill with 0" in left(query)[0]


@pytest.mark.parametrize("written", ["$host", "${host}", "[[host]]", "${host:raw}", "[[host:csv]]"])
def test_a_variable_in_each_spelling(written: str) -> None:
    query = one(f"select * from t where host = {written} and b = '{written}' and c like '%{written}%'")
    check_whole(query, host="a")
    assert query.body == (
        "select * from t where host = {{ params.host }} and b = '{{ params.host }}' and c like '%{{ params.host }}%'"
    )


@pytest.mark.parametrize("written", ["$host", "${host:sqlstring}", "${host:singlequote}", "[[host]]"])
def test_several_values(written: str) -> None:
    """Red when the type of a list is that of one value."""
    query = one(f"select * from t where host in ({written})")
    check_whole(query, host=["a", "b"])
    assert query.params["host"]["type"] == "list of text"


def test_all_values_is_an_absent_parameter() -> None:
    """Where the dashboard offers All. Red when the condition stays. Under ``not`` it is left to its author: red when
    All became no row."""
    host = {"type": "query", "multi": True, "includeAll": True, "query": "select host from hosts"}
    query = one(dashboard("select * from t where host in ($host) and b = 1", host=host))
    check_whole(query)
    assert "{{ params.host | matches(host) }}" in query.body
    query = one(dashboard("select * from t where host in ($host) and not (b in ($host))", host=host))
    assert left(query) == ["1:48: b in ($host)"]
    assert query.body == "select * from t where {{ params.host | matches(host) }} and not (b in ($host))"


def test_an_array() -> None:
    query = one("select * from t where host = any(array[$hosts])")
    check_whole(query, hosts=["a"])
    assert query.body.endswith("any({{ params.hosts | array }})")


CUSTOM = {"type": "custom", "query": "cpu, memory", "current": {"value": "cpu"}}


@pytest.mark.parametrize(
    ("sql", "ours"),
    [
        ("select * from $kind", "select * from {{ params.kind | one_of(cpu: cpu, memory: memory) }}"),
        (
            "select * from stat_${kind}_hour",
            "select * from {{ params.kind | one_of(cpu: stat_cpu_hour, memory: stat_memory_hour) }}",
        ),
        ('select 1 as "x ($kind)"', 'select 1 as {{ params.kind | one_of(cpu: "x (cpu)", memory: "x (memory)") }}'),
        (
            "select 1 from t order by $kind desc",
            "select 1 from t order by {{ params.kind | one_of(cpu: cpu, memory: memory) }} desc",
        ),
        ("select 1 from t where kind = '$kind'", "select 1 from t where kind = '{{ params.kind }}'"),
    ],
)
def test_names_of_which_the_author_wrote_the_choices(sql: str, ours: str) -> None:
    """A name is chosen between texts of the author. Red when a value is bound where a name has to be."""
    query = one(dashboard(sql, kind=CUSTOM))
    check_whole(query, kind="memory")
    assert query.body == ours
    assert query.params["kind"] == {"type": "choice", "choices": ["cpu", "memory"], "default": "cpu"}


def test_a_name_of_which_nobody_wrote_the_choices_is_left() -> None:
    query = one("select * from $kind where a = $a")
    assert left(query) == ["1:15: $kind"]
    assert "{{ params.a }}" in query.body


def test_a_constant_is_written_out() -> None:
    query = one(dashboard("select * from $schema.t", schema={"type": "constant", "query": "main"}))
    check_whole(query)
    assert query.body == "select * from main.t"
    assert notes(query)


def test_a_hostile_constant_does_not_become_a_tag() -> None:
    """A dashboard is somebody else's file. Red without the check of the text."""
    query = one(dashboard("select $c", c={"type": "constant", "query": "'{{ user_group.id }}'"}))
    assert left(query) == ["1:8: $c"]


def test_several_values_where_one_belongs_are_left() -> None:
    """The text alone does not say so, the dashboard does. Red when a list is declared as one value."""
    text = {"type": "custom", "query": "a,b", "multi": True}
    assert left(one(dashboard("select * from t where a = $a", a=text))) == ["1:27: $a"]


@pytest.mark.parametrize(
    "construct",
    [
        "${__user.login}",
        "${__org.id}",
        "$__adhocFilters",
        "${host:regex}",
        "${host:pipe}",
        "${host:json}",
        "${__from:date:YYYY-MM}",
        "$__unknown(a)",
        "$__timeFilter(a, b)",
        "$__timeFilter(a",
        "$__timeGroup(at, '5 parsecs')",
        "$__rate_interval",
    ],
)
def test_what_is_not_understood_is_listed(construct: str) -> None:
    """Never in silence, and the text is as it was. Red when a construct is passed over."""
    query = one(f"select '{construct}'" if "regex" in construct else f"select {construct}")
    assert not query.whole
    assert construct in query.body
    assert "not converted" in query.text


@pytest.mark.parametrize("kind", ["adhoc", "datasource", "groupby", "system"])
def test_variables_that_are_no_value(kind: str) -> None:
    assert left(one(dashboard("select $a from t", a={"type": kind}))) == ["1:8: $a"]


def test_a_variable_that_the_dashboard_does_not_have_is_left() -> None:
    assert left(one(dashboard("select $b from t", a=CUSTOM))) == ["1:8: $b"]


def test_comments_and_strings_between_dollars() -> None:
    """``$body$`` opens a string in PostgreSQL and is no variable."""
    query = one("select $body$ a $body$ -- $__timeFilter(at)\nfrom t where a = $a")
    check_whole(query, a="1")
    assert query.body.startswith("select $body$ a $body$ -- $__timeFilter(at)\n")
    assert any("comment" in note for note in notes(query))
    assert not one("select $$ $a $$").whole


def test_our_own_signs_in_their_text_are_escaped() -> None:
    """Red when a legend's ``{{host}}`` becomes a variable of ours."""
    query = one("select '{{host}}', array[[1, 2], [3, 4]] from t where a = $a")
    check_whole(query, a="1")
    assert r"'\{{host}}'" in query.body


@pytest.mark.parametrize(
    ("source", "dialect"),
    [
        ("grafana-postgresql-datasource", "postgresql"),
        ("postgres", "postgresql"),
        ("mysql", "mysql"),
        ("frser-sqlite-datasource", "sqlite"),
        ("something", "postgresql"),
    ],
)
def test_the_dialect_is_that_of_the_data_source(source: str, dialect: str) -> None:
    text = dashboard("select 1 where a = $a", source=source, a={"type": "textbox"})
    assert one(text).dialect == dialect
    assert one(text, "duckdb").dialect == "duckdb"


def test_a_dashboard_has_a_query_for_each_panel() -> None:
    """Those of rows too."""
    document = json.loads(dashboard("select 1", "select 2"))
    document["panels"].append({"type": "row", "panels": [document["panels"][0] | {"title": "Inner"}]})
    queries = convert(json.dumps({"dashboard": document, "meta": {}}), "grafana")
    assert [query.name for query in queries] == ["Panel 1", "Panel 2", "Inner"]
    assert [query.body for query in queries] == ["select 1", "select 2", "select 1"]


def test_the_newer_form_of_a_dashboard() -> None:
    """Elements and variables with a kind and a spec."""
    query = {"kind": "DataQuery", "group": "mysql", "spec": {"rawSql": "select * from t where a in ($a)"}}
    panel = {"kind": "Panel", "spec": {"title": "New", "data": {"spec": {"queries": [{"spec": {"query": query}}]}}}}
    variable = {"kind": "CustomVariable", "spec": {"name": "a", "query": "x,y", "multi": True, "includeAll": False}}
    converted = one(json.dumps({"spec": {"elements": {"panel-1": panel}, "variables": [variable]}}))
    check_whole(converted, a=["x"])
    assert (converted.name, converted.dialect) == ("New", "mysql")
    assert converted.params["a"] == {"type": "list of choice", "choices": ["x", "y"]}


@pytest.mark.parametrize(
    ("since", "default"),
    [("now-5h", "last 5 hours"), ("now-30d", "last 30 days"), ("now/d", None), ("2026-01-01", None)],
)
def test_the_range_of_a_dashboard_is_the_default(since: str, default: str | None) -> None:
    document = json.loads(dashboard("select 1 where $__timeFilter(at)")) | {"time": {"from": since, "to": "now"}}
    query = one(json.dumps(document))
    check_whole(query, **PERIOD)
    assert query.params["period"]["default"] == (default or "last 6 hours")
    assert ("the range of time" in "".join(notes(query))) == (default is None)


@pytest.mark.parametrize(
    "macros",
    ["$__timeFilter(at) and $__timeFilter(b)", "at > $__timeFrom()", "at > ${__from:date:iso}", "a < $__range_s"],
)
def test_a_text_without_a_dashboard_has_a_range_by_default(macros: str) -> None:
    """Which one is a note, once. Red without the default: where no viewer chooses, the query reads all of time."""
    query = one(f"select 1 from t where {macros}")
    check_whole(query)
    assert query.params["period"] == {"type": "datetime range", "default": "last 6 hours"}
    (note,) = notes(query)
    assert note.startswith("the range of time: the range of the dashboard is not in the text: last 6 hours is assumed")


def test_what_is_left_has_no_type_in_the_header() -> None:
    """Red when the note is made before it is known that the variable is converted: the header does not have it."""
    query = one("select $col, $b + a from t where a = $b")
    assert left(query) == ["1:8: $col"]
    assert [each.partition(":")[0] for each in notes(query)] == ["b", "b"]
    assert set(query.params) == {"b"}


def test_an_interval() -> None:
    """In each spelling it is a length of time, and no text. Red when the quotes stay."""
    query = one("select date_bin('$__interval'::interval, at, timestamp '2000-01-01'), at - interval '$__interval'")
    check_whole(query, interval="5 minutes")
    assert query.params["interval"]["type"] == "interval"
    assert "'" not in query.body.replace("'2000-01-01'", "")


def test_a_definition_that_cannot_be_is_listed() -> None:
    """The default is not one of the choices. Red when only compiling the declaration reveals this, with a crash."""
    query = one(dashboard("select * from t where a = $a", a=CUSTOM | {"current": {"value": "disk"}}))
    assert not query.whole
    assert query.params["a"] == {"type": "choice", "choices": ["cpu", "memory"]}
