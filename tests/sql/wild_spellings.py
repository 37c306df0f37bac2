"""The 61 queries of the corpus ``wild_queries``, as they are written in our language; or why one is refused.

Each stands under its number in the corpus, with the feature that it is there for. ``values`` are what a viewer sends,
as text where an address holds text. What runs on a real engine runs on the tables of ``TABLES``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TABLES = """
create table t (
    id integer, a integer, b integer, c varchar(20), d timestamp, n varchar(20), at timestamp, v integer, t integer,
    region varchar(20), product varchar(20), category varchar(20), plan varchar(20), action varchar(20),
    host varchar(20), paid boolean, rev integer, cost integer, revenue integer, created_at timestamp
);
create table orders (id integer, d timestamp, region varchar(20), amount integer, created_at timestamp);
create table products (id integer, category varchar(20));
"""
"""For every engine; what one engine alone has is in MORE."""

MORE = {
    "postgresql": "alter table t add column tags text[]; alter table t add column j jsonb; "
    "alter table t alter column at type timestamptz;",
    "duckdb": "alter table t add column tags varchar[];",
    "mysql": "",
    "sqlite": "",
}


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """A query that can be written. ``engine``: the engine that runs it, where there is one."""

    feature: str
    sql: str
    values: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    fragments: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, Any] = field(default_factory=dict)
    dialect: str = "postgresql"
    runs: bool = True


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A query that cannot be written. ``sql`` is one that comes near; ``message`` what is said of it."""

    feature: str
    reason: str
    sql: str
    message: str
    dialect: str = "postgresql"
    by: str = "template"
    """``template``: it does not compile. ``source``: a data source does not run it."""


TEXT = {"type": "text"}
LIST = {"type": "list of text"}
INTEGER = {"type": "integer"}
DATE = {"type": "date"}
UNIT = {"type": "choice", "choices": ["day", "week", "month"]}
MONTH = {"start": "2026-01-01", "end": "2026-01-31"}

SPELLINGS: dict[int, Spelling | Refused] = {
    0: Spelling(
        feature="variable",
        sql="select count(*) from products where category = {{ params.category }}",
        params={"category": TEXT},
        values={"category": "x"},
    ),
    1: Spelling(
        feature="two optionals, 1=1",
        sql="select count(*) from t where true [[ and id = {{ params.id }} ]] [[ and category = {{ params.c }} ]]",
        params={"id": INTEGER, "c": TEXT},
        values={"id": "1", "c": ""},
    ),
    2: Spelling(
        feature="optional comma list in IN",
        sql="select * from t where true [[ and category in {{ params.cs }} ]]",
        params={"cs": LIST},
        values={"cs": ["a", "b"]},
    ),
    3: Spelling(
        feature="default of variable",
        sql="select * from t where plan = {{ params.p }}",
        params={"p": {"type": "text", "default": "free"}},
    ),
    4: Spelling(
        feature="field filter {{date_range}}",
        sql="select count(*) from orders where {{ params.created_at | matches(created_at) }}",
        params={"created_at": {"type": "date range"}},
        values={"created_at": MONTH},
    ),
    5: Spelling(
        feature="time grouping parameter mb.time_grouping",
        sql="""select {{ params.unit | trunc(created_at) }} as u, count(*) from orders
               group by {{ params.unit | trunc(created_at) }}""",
        params={"unit": UNIT},
        values={"unit": "day"},
    ),
    6: Spelling(
        feature="snippet {{snippet: x}}",
        sql="select * from ({{> snippet }}) as s",
        fragments={"snippet": "select id from orders where amount > 5"},
    ),
    7: Spelling(
        feature="optional with boolean",
        sql="select * from t [[ where paid = {{ params.paid }} ]]",
        params={"paid": {"type": "boolean"}},
        values={"paid": "true"},
    ),
    8: Spelling(
        feature="contains",
        sql="select * from t where {{ params.n | matches(n) }}",
        params={"n": {"type": "text", "match": "contains"}},
        values={"n": "50%"},
        dialect="mysql",
    ),
    9: Spelling(
        feature="?| operator",
        sql="select * from t where tags @> array['a'] and j ?| array['a'] and id = {{ params.id }}",
        params={"id": INTEGER},
        values={"id": "1"},
    ),
    10: Spelling(
        feature="$$ quotes",
        sql="select $$it's$$ where 1 = {{ params.x }}",
        params={"x": INTEGER},
        values={"x": "1"},
    ),
    11: Spelling(
        feature="'--' in a string hides tags",
        sql="select '--' a from t where b = {{ params.x }}",
        params={"x": INTEGER},
        values={"x": "1"},
    ),
    12: Spelling(
        feature="comment documents its variables",
        sql="/* {{ var_article }} = name */ select * from t where n = {{ params.var_article }}",
        params={"var_article": TEXT},
        values={"var_article": "x"},
    ),
    13: Spelling(
        feature="[[ where f = {{element}} ]]",
        sql="select * from t [[ where c = {{ params.element1 }} ]]",
        params={"element1": TEXT},
    ),
    14: Spelling(
        feature="if start_date",
        sql="select * from orders where 1=1 [[ and d >= {{ params.start }} ]]",
        params={"start": DATE},
        values={"start": "2026-01-01"},
    ),
    15: Spelling(
        feature="where_in",
        sql="select * from t where action in {{ params.v }}",
        params={"v": LIST},
        values={"v": "a"},
    ),
    16: Spelling(
        feature="current_user / role if",
        sql="select case when {{ user_group.properties.role }} = 'fin' then revenue end as r from t",
        properties={"role": "fin"},
    ),
    17: Spelling(
        feature="my_table identifier",
        sql="select * from {{ params.my_table | one_of(orders: orders, all: t) }}",
        params={"my_table": {"type": "choice", "choices": ["orders", "all"]}},
        values={"my_table": "orders"},
    ),
    18: Spelling(
        feature="for f in get_filters: col op val",
        sql="select * from t where {{ params.region | matches(region) }} and {{ params.product | matches(product) }}",
        params={"region": LIST, "product": LIST},
        values={"region": ["eu", "us"]},
    ),
    19: Spelling(
        feature="columns|groupby injected",
        sql="""select {{ params.columns | one_of(a: a, b: b) }} as chosen, count(*) from t
               group by {{ params.columns | one_of(a: a, b: b) }}""",
        params={"columns": {"type": "choice", "choices": ["a", "b"]}},
        values={"columns": "a"},
    ),
    20: Spelling(
        feature="metric() / dataset(1)",
        sql="with dataset as ({{> dataset }}) select sum(amount) from dataset",
        fragments={"dataset": "select amount from orders where region = 'eu'"},
    ),
    21: Spelling(
        feature="{{ DATABASE }}.table",
        sql="select * from {{ params.db | one_of(main: main.t, now: t) }}",
        params={"db": {"type": "choice", "choices": ["main", "now"], "default": "main"}},
        dialect="duckdb",
    ),
    22: Spelling(
        feature="$__timeFilter(col)",
        sql="select * from t where {{ params.period | within(at) }}",
        params={"period": {"type": "date range"}},
        values={"period": MONTH},
    ),
    23: Spelling(
        feature="$__interval",
        sql="select date_bin({{ params.iv }}, at, timestamptz '2000-01-01') b, avg(v) from t group by 1",
        params={"iv": {"type": "interval"}},
        values={"iv": "5 minutes"},
    ),
    24: Spelling(
        feature="$__interval as seconds",
        sql="""select date_bin({{ params.s }} * interval '1 second', at, timestamptz '2000-01-01') b, avg(v)
               from t group by 1""",
        params={"s": {"type": "integer", "min": 1}},
        values={"s": "300"},
    ),
    25: Spelling(
        feature="in ($hostname) multi value",
        sql="select * from t where host in ({{ params.hosts }})",
        params={"hosts": LIST},
        values={"hosts": ["a"]},
        dialect="mysql",
    ),
    26: Spelling(
        feature="All option",
        sql="select * from t where {{ params.hosts | matches(host) }}",
        params={"hosts": LIST},
        dialect="mysql",
    ),
    27: Spelling(
        feature="regex",
        sql="select * from t where host ~ {{ params.h }}",
        params={"h": TEXT},
        values={"h": "a"},
    ),
    28: Spelling(
        feature="$__rate_interval / limit $top",
        sql="select * from t limit {{ params.top }}",
        params={"top": {"type": "integer", "min": 0, "max": 100, "default": 10}},
        values={"top": "5"},
    ),
    29: Spelling(
        feature="order by rewritten with case",
        sql="select * from t order by {{ params.col | one_of(a: a desc, b: b) }}",
        params={"col": {"type": "choice", "choices": ["a", "b"]}},
        values={"col": "a"},
    ),
    30: Spelling(
        feature='as "x ($agg_interval rate)"',
        sql='select 1 as {{ params.agg | one_of(1: "x (1 rate)", 5: "x (5 rate)") }}',
        params={"agg": {"type": "choice", "choices": ["1", "5"]}},
        values={"agg": "1"},
    ),
    31: Spelling(
        feature="INTERVAL -$interval(date(d))+1 DAY",
        sql="""select date_add(d, interval
               {{ params.fn | one_of(day: - dayofmonth(date(d)) + 1, week: - weekday(date(d))) }} day) from t""",
        params={"fn": {"type": "choice", "choices": ["day", "week"]}},
        values={"fn": "day"},
        dialect="mysql",
    ),
    32: Spelling(
        feature="as '${title} In Hours'",
        sql="select 1 as {{ params.title | one_of(lead: 'Lead Time In Hours', review: 'Review Time In Hours') }}",
        params={"title": {"type": "choice", "choices": ["lead", "review"]}},
        values={"title": "lead"},
        dialect="mysql",
    ),
    33: Spelling(feature="commented-out macro", sql="-- and x >= {{ params.f }}\nselect 1", dialect="mysql"),
    34: Spelling(
        feature="'{{ d.start }}' date range",
        sql="select * from t where at >= {{ params.d.start }} and at < {{ params.d.end }}",
        params={"d": {"type": "date range"}},
        values={"d": MONTH},
    ),
    35: Spelling(
        feature="query_123 join",
        sql="select orders.id, q.region from orders join ({{> query_123 }}) as q on q.id = orders.id",
        fragments={"query_123": "select id, region from t where paid"},
    ),
    36: Spelling(
        feature="dynamic date d_this_month",
        sql="select * from t where {{ params.period | within(at) }}",
        params={"period": {"type": "relative range", "default": "this month"}},
        values={"period": "last 7 days"},
    ),
    37: Spelling(
        feature="${ld.attr.region} in",
        sql="select * from t where region in {{ region_list }}",
        properties={"region_list": ["eu"]},
    ),
    38: Spelling(
        feature="parameter picks metric (Liquid if)",
        sql="select {{ params.m | one_of(rev: sum(rev), cost: sum(cost)) }} v from t",
        params={"m": {"type": "choice", "choices": ["rev", "cost"]}},
        values={"m": "rev"},
    ),
    39: Spelling(
        feature="like '${inputs.x}'  default %",
        sql="select * from t where c like {{ params.c }}",
        params={"c": {"type": "text", "default": "%"}},
        dialect="duckdb",
    ),
    40: Spelling(
        feature="${query} chaining",
        sql="with q as ({{> q }}) select avg(amount) from q",
        fragments={"q": "select amount from orders"},
        dialect="duckdb",
    ),
    41: Refused(
        feature="ref/source",
        reason="dbt builds the model before anything is asked: write the name of the table that it made",
        sql="select * from {{ ref('a') }}",
        message="a tag holds one path",
    ),
    42: Spelling(
        feature="var with default",
        sql="select * from t where d > {{ var }}",
        properties={"var": "2026-01-01"},
        runs=False,  # a date that a property holds is text: the condition is that of the author's cast
    ),
    43: Spelling(
        feature="{created_at:aggregation}",
        sql="""select {{ params.agg | trunc(created_at) }} p, sum(rev) from t
               where {{ params.period | within(created_at) }}
               group by {{ params.agg | trunc(created_at) }} order by 1""",
        params={"agg": UNIT, "period": {"type": "date range"}},
        values={"agg": "day", "period": MONTH},
    ),
    44: Spelling(
        feature="expression bucket in partition by",
        sql="select sum(rev) over (partition by {{ params.agg | trunc(created_at) }}) from t",
        params={"agg": UNIT},
        values={"agg": "day"},
    ),
    45: Spelling(
        feature="keyset",
        sql="""select * from t where true [[ and (at, id) < ({{ params.at }}, {{ params.id }}) ]]
               order by at desc, id desc limit 50""",
        params={"at": {"type": "datetime"}, "id": INTEGER},
        values={"at": "2026-01-01T00:00", "id": "5"},
    ),
    46: Spelling(
        feature="click sets params",
        sql="select * from t where {{ params.region | matches(region) }} and {{ params.product | matches(product) }}",
        params={"region": LIST, "product": TEXT},
        values={"region": "eu"},
    ),
    47: Spelling(
        feature="= any(list)",
        sql="select * from t where id = any({{ ids | array }})",
        properties={"ids": [1]},
    ),
    48: Spelling(
        feature="@> array param",
        sql="select * from t where tags @> {{ tags | array }}",
        properties={"tags": ["a"]},
    ),
    49: Spelling(
        feature="@> object param",
        sql="select * from t where j @> {{ obj | json }}",
        properties={"obj": {"a": 1}},
    ),
    50: Spelling(
        feature="->> key param",
        sql="select j->>{{ params.k }} from t",
        params={"k": TEXT},
        values={"k": "a"},
    ),
    51: Spelling(
        feature="rows between n preceding",
        sql="select sum(a) over (order by d rows between {{ params.n }} preceding and current row) from t",
        params={"n": {"type": "integer", "min": 0}},
        values={"n": "6"},
    ),
    52: Spelling(
        feature="lateral join",
        sql="select * from t, lateral (select * from orders o where o.id = t.id limit {{ params.n }}) x",
        params={"n": {"type": "integer", "min": 0}},
        values={"n": "3"},
    ),
    53: Refused(
        feature="set; select",
        reason="a data source runs one statement, and its settings are those of the source",
        sql="set local work_mem='64MB'; select 1",
        message="changes the session",
        by="source",
    ),
    54: Refused(
        feature=":= running total",
        reason="a variable of the session would outlive the query: write sum(…) over (order by …)",
        sql="select @r := @r + 1 from t where a = 1",
        message=":=",
        dialect="mysql",
        by="source",
    ),
    55: Spelling(
        feature="backtick names, @p, r-strings, triple quotes",
        sql="select * from `p.d.t` where a = {{ params.a }} and b = r'\\d' and c = '''it's'''",
        params={"a": INTEGER},
        values={"a": "1"},
        dialect="bigquery",
    ),
    56: Spelling(
        feature="unnest(@list), struct",
        sql="select * from t where a in unnest({{ params.l | array }})",
        params={"l": LIST},
        values={"l": ["a"]},
        dialect="bigquery",
    ),
    57: Spelling(
        feature="{p:Type}, prewhere, limit by",
        sql="select * from t prewhere d > {{ params.d }} order by a limit 5 by a",
        params={"d": DATE},
        values={"d": "2026-01-01"},
        dialect="clickhouse",
    ),
    58: Spelling(
        feature="top (n), [name], N string",
        sql="select top ({{ params.n }}) [a b] from t where c = N'x'",
        params={"n": {"type": "integer", "min": 0}},
        values={"n": "5"},
        dialect="tsql",
    ),
    59: Spelling(
        feature="listagg … within group",
        sql="select listagg(a, ',') within group (order by a) from t where b={{ params.b }}",
        params={"b": INTEGER},
        values={"b": "1"},
        dialect="redshift",
    ),
    60: Spelling(
        feature="unnest, date literals",
        sql="select date '2026-01-01' from unnest({{ params.a | array }}) as u (x) where x = {{ params.b }}",
        params={"a": {"type": "list of integer"}, "b": INTEGER},
        values={"a": ["1"], "b": "1"},
        dialect="trino",
    ),
}
"""By the number of the query in the corpus, from 0."""
